"""The parts of an exercise. Each is judged, and carries an equal share of the points.

A part is a function, a class or a value that the blank asks for. It is right if the
exercise passes with our solution in the place of all other parts. In an exam, the parts
are the test cases.
"""

import ast
import re

from classroom.author.blanks import Exercise as Source
from classroom.author.chapters import chapters
from classroom.cell import parts
from classroom.cell.asked import id_of
from classroom.notebook.pristine import Chapter
from classroom.notebook.source_code import names_set, statements

EXAM = re.compile(r'\bexamine\("(.+?)"')


def source_of(name: str) -> Source:
    """Return an exercise from chapters/, with its recorded mistakes."""
    return next(c.exercises[name] for c in chapters() if name in c.exercises)


def cases_of(chapter: Chapter, name: str) -> list[str]:
    """Return the titles of the test cases of an exercise of an exam, or []."""
    exam = EXAM.search(chapter.cells[id_of("check", name)]["source"])
    if not exam:
        return []
    from classroom.cell.exam.examine import GROUPS  # here: few chapters are exams

    return [row.title for row in GROUPS[exam[1]]]


def parts_of(chapter: Chapter, name: str) -> list[str]:
    """Return the parts of an exercise that carry points, or [] if it is only one."""
    exercise = chapter.exercises[name]
    asked = parts.parts_of(exercise.stub)
    if any(isinstance(s, ast.Raise) for s in statements(exercise.stub)):
        asked = [n for s in statements(source_of(name).solved) for n in names_set(s)]
    blanks = [*dict.fromkeys(part.partition(".")[0] for part in asked)]
    found = cases_of(chapter, name) or blanks
    return found if exercise.points and len(found) > 1 else []


def by_case(cases: list[str], table: str, right: float) -> dict[str, float]:
    """Return which share of its points each test case of an exam earns.

    The table comes from the answer's own kernel, and is not trusted. So all cases
    together earn at most the share of the hidden results that are right.
    """
    from classroom.cell.exam.rows import DONE

    lines = table.splitlines()
    done = [case for case in cases if f"{DONE:<8} {case}" in lines]
    each = min(1.0, round(right * len(cases) / len(done), 4)) if done else 0.0
    return {case: each * (case in done) for case in cases}


def without(part: str, name: str, parts: list[str]) -> str:
    """Return our solution of all parts of an exercise but one."""
    body, left = statements(source_of(name).solved), {*parts} - {part}
    others = [s for s in body if names_set(s) & left]
    return "\n\n\n".join(map(ast.unparse, others))
