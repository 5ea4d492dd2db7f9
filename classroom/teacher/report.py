"""What comes out of grading: grades.csv, grades.json, a page for each student, and one
for the teacher.

A student's page shows the code, what was wrong, on which input, and which hint to read;
nothing in it comes from a hidden check but that there was one.
"""

import csv
import json
import random
import re
import statistics
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from classroom import ROOT
from classroom.author.blanks import Exercise as Source
from classroom.cell.asked import hint_about
from classroom.notebook.files import write_whole
from classroom.notebook.pristine import Chapter, Exercise
from classroom.run.verdict import WORDS
from classroom.teacher.points import source_of
from classroom.teacher.reading import form_of
from classroom.teacher.students import Student, neat

TEMPLATES = ROOT / "classroom" / "templates"
FORMULA = re.compile(r"((?:^|[;,|\t\r\n]) *)(?=[=+\-@＝＋－＠])")
Exercises = dict[str, Exercise]
LINES = 4  # of an answer that two students seldom write alike, by chance
DISCUSSED = 2  # wrong answers
TELLING = 12  # characters of a line that one can ask about
DOCSTRING = re.compile(r'("""|\'\'\').*?\1', re.S)
# A line that only names something decides nothing, such as `return table`
DECIDES = re.compile(r"(?!def |class |@)[^#]*([^\w\s.,:=\[\]{}#]|==|[\[{][^\]}])")
CELL = 32_000  # characters of a cell; a spreadsheet's most is 32,767


def write_report(out: Path, students: list[Student], chapters: list[Chapter]) -> float:
    """Write all files of the report into the folder `out`; return the most points."""
    exercises = {n: e for chapter in chapters for n, e in chapter.exercises.items()}
    for student in students:
        student.points = {n: student.earned(e) for n, e in exercises.items()}
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    most = neat(sum(exercise.points for exercise in exercises.values()))
    templates.globals |= {"chapters": chapters, "exercises": exercises, "most": most}
    templates.globals |= {"words": WORDS, "hint_about": hint_about, "neat": neat}
    (out / "students").mkdir(parents=True, exist_ok=True)
    for old in (out / "students").glob("*.html"):
        old.unlink()
    page = templates.get_template("student.html")
    for student in students:
        text = page.render(student=student)
        (out / "students" / student.page).write_text(text, "utf-8", "backslashreplace")
    summary = Summary(students, exercises)
    templates.globals["to_explain"] = partial(line_to_explain, exercises)
    text = templates.get_template("class.html").render(all=summary, students=students)
    (out / "index.html").write_text(text, "utf-8", "backslashreplace")
    found = [record(student, exercises, most) for student in students]
    write_csv(out / "grades.csv", found, students, exercises)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    write_whole(out / "grades.json", text.encode("utf-8", "backslashreplace"))
    return most


def write_csv(
    path: Path, found: list[dict], students: list[Student], exercises: Exercises
) -> None:
    """Write a row per student: points, or how an exercise without points went."""
    safe = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}
    heads = "student", "id", "email", "group", *exercises, "points", "of", "remarks"
    with path.open("w", **safe) as file:
        sheet = csv.DictWriter(file, heads)
        sheet.writeheader()
        for row, student in zip(found, students):
            row = row | {n: cell(student, each) for n, each in exercises.items()}
            row["remarks"] = "; ".join(row["remarks"])
            sheet.writerow({head: harmless(row[head]) for head in heads})


def cell(student: Student, exercise: Exercise) -> float | str | None:
    """Return the text of the sheet for one exercise, or nothing if it is not graded."""
    found = student.results.get(exercise.name)
    if exercise.points:
        return student.points[exercise.name]
    return WORDS[found.status][0] if found else ""


def harmless(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula.

    This includes spreadsheets that split a row at semicolons or tabs, or that accept
    full-width signs.
    """
    if not isinstance(value, str):
        return value
    value = FORMULA.sub(r"\1'", value)
    return value if len(value) <= CELL else f"{value[: CELL - 2]} …"


def record(student: Student, exercises: Exercises, of: float) -> dict[str, Any]:
    """Return all about a student, for other programs."""
    about = {"student": student.name, "id": student.id, "email": student.email}
    about |= {"group": student.group, "of": of, "points": student.total}
    about |= {"remarks": student.remarks(), "comments": student.comments}
    results = {name: asdict(each) for name, each in student.results.items()}
    for name, each in results.items():
        each |= {"points": student.points[name], "of": exercises[name].points}
    return about | {"exercises": results}


def line_to_explain(exercises: Exercises, student: Student) -> str:
    """Return a line of a student's own answers for points, always the same, or ""."""
    found = []
    for exercise in filter(lambda each: each.points, exercises.values()):
        given = {line.strip() for line in exercise.stub.splitlines()}
        own = DOCSTRING.sub("", student.answer(exercise.name)[0]).splitlines()
        own = [line for line in map(str.strip, own) if line not in given]
        own = [x for x in own if len(x) >= TELLING and DECIDES.match(x)]
        found += [f"{exercise.name}: {line}" for line in own]
    return random.Random("\n".join(student.who)).choice(found or [""])


# --- what the class has in common -----------------------------------------------------


class Wrong(NamedTuple):
    """A wrong answer to an exercise, and who gave it, with names of their own."""

    exercise: str
    form: tuple[str, ...]
    students: list[Student]

    @property
    def code(self) -> str:
        """The answer of the first of them."""
        return self.students[0].answer(self.exercise)[0]

    @property
    def message(self) -> str:
        """What the first of them was told."""
        return self.students[0].results[self.exercise].message

    @property
    def source(self) -> Source:
        """The exercise in chapters/, with its recorded mistakes."""
        return source_of(self.exercise)

    @property
    def mistake(self) -> str:
        """The name of the recorded mistake with this code, or ""."""
        recorded = self.source.wrong.items()
        return {tuple(form_of(t)): name for name, t in recorded}.get(self.form, "")

    def called(self) -> str:
        """Return the mistake's name, or what has the same message, or the message."""
        told = self.source.refusal.items()
        like = [name for name, words in told if words in self.message]
        perhaps = f"perhaps: {like[0]}" if len(like) == 1 else self.message
        return self.mistake or (perhaps or "no message").splitlines()[0]


class Summary:
    """What the teacher's page tells about a class and its results."""

    def __init__(self, students: list[Student], exercises: Exercises) -> None:
        totals = [s.total for s in students if s.attempts and s.total is not None]
        self.graded = len(totals)
        self.mean = statistics.fmean(totals) if totals else 0
        self.spread = statistics.pstdev(totals) if totals else 0
        self.points = sorted(Counter(totals).items(), reverse=True)
        self.tallies = {name: Counter() for name in exercises}
        self.parts: dict[str, Counter] = {name: Counter() for name in exercises}
        for student in students:
            for name, result in student.results.items():
                self.tallies[name][result.status] += 1
                self.parts[name].update({p: x > 0 for p, x in result.parts.items()})
        found = wrong_answers(students)
        self.mistakes: dict[str, Counter] = {name: Counter() for name in exercises}
        for wrong in found:
            self.mistakes[wrong.exercise][wrong.called()] += len(wrong.students)
        several = [wrong for wrong in found if len(wrong.students) > 1]
        several.sort(key=lambda wrong: -len(wrong.students))
        self.discuss = several[:DISCUSSED]
        long = [wrong for wrong in several if len(wrong.form) >= LINES]
        self.alike = [wrong for wrong in long if not wrong.mistake]


def wrong_answers(students: list[Student]) -> list[Wrong]:
    """Return the wrong answers of a class, each once, whatever its names."""
    found: dict[tuple, list[Student]] = {}
    for student in students:
        for name, result in student.results.items():
            if result.status in ("wrong", "error", "slow", "died"):
                key = name, student.answer(name)[1]
                found.setdefault(key, []).append(student)
    return [Wrong(*key, theirs) for key, theirs in found.items()]
