"""One student or one exercise again, and what a new report changes."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Exercise
from classroom.run.verdict import Result
from classroom.teacher.students import Student, the_one

Asks = Callable[[Student, str], bool]  # whether to grade an exercise of a student
Report = dict[tuple, dict[str, dict]]  # by student, and then by exercise
SHOWN = 20  # changes


def last_report(path: Path) -> Report:
    """Return what an earlier run has written to grades.json, if there was one."""
    with suppress(OSError, ValueError, LookupError):
        found = json.loads(path.read_text("utf-8"))
        return {(e["student"], e["id"], e["email"]): e["exercises"] for e in found}
    return {}


def asked(words: str | None, students: list[Student], last: Report) -> Asks:
    """Return what says what to grade: all, or one student, or one exercise of all."""
    if not words:
        return lambda student, exercise: True
    known = {name for exercises in last.values() for name in exercises}
    if not last or re.fullmatch(r"\d+\.\d+", words) and words not in known:
        raise Unreadable(
            f"--again {words} changes a report, and this folder has none, or none with "
            f"an exercise {words}. First grade without --again."
        )
    one = None if words in known else the_one(words, students)
    return lambda student, exercise: student is one or exercise == words


def kept(student: Student, last: Report, asks: Asks) -> dict[str, Result]:
    """Return the results of a student that stay as they are."""
    past = last.get(student.who, {}).items()
    left = {name: each for name, each in past if not asks(student, name)}
    return {name: Result(e["status"], e["message"]) for name, e in left.items()}


def tell(students: list[Student], exercises: dict[str, Exercise], last: Report) -> int:
    """Print each change of points since the last report; return how many they are."""
    found = []
    for student in students:
        past = last.get(student.who, {})
        for name in past.keys() & student.results.keys():
            points = past[name]["points"], student.earned(exercises[name])
            told = ("not graded" if each is None else f"{each:g}" for each in points)
            if points[0] != points[1]:
                found.append(f"  {student.name}, {name}: {' → '.join(told)}\n")
    if last:
        print(f"Changes of points since the last report: {len(found)}")
        print("".join(sorted(found)[:SHOWN]), end="")
    return len(found)


def confirmed() -> bool:
    """Ask whether to write the report; without an answer, it is not written."""
    with suppress(EOFError):
        return input("Write the report with these changes? [y/N] ").lower() == "y"
    return False
