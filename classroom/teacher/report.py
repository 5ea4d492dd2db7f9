"""What comes out of grading: grades.csv, grades.json, a page for each student, and one
for the teacher.

A student's page says what was wrong, on which input, and which hint to read; nothing
in it comes from a hidden check but that there was one.
"""

import csv
import hashlib
import json
import re
import unicodedata
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jinja2

from classroom import ROOT
from classroom.notebook.pristine import Chapter, Exercise
from classroom.run.verdict import WORDS, Result
from classroom.teacher.reading import HandIn

TEMPLATES = ROOT / "classroom" / "templates"
FORMULA = re.compile(r"((?:^|[;,|\t\r\n]) *)(?=[=+\-@＝＋－＠])")
CELL = 32_000  # characters of a cell; a spreadsheet's most is 32,767


@dataclass
class Student:
    """One row of the grades: all that a student has handed in, and how it went."""

    name: str
    id: str
    hand_ins: dict[str, HandIn] = field(default_factory=dict)  # by chapter
    results: dict[str, Result] = field(default_factory=dict)  # by exercise
    notes: list[str] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The file name of the student's page, the same on every machine."""
        name = unicodedata.normalize("NFC", self.name).lower()
        words = re.sub(r"[\W_]+", "-", name)[:40].strip("-")
        whole = f"{self.name}\n{self.id}".encode("utf-8", "surrogatepass")
        return f"{words or 'student'}-{hashlib.sha256(whole).hexdigest()[:16]}.html"

    def remarks(self) -> list[str]:
        """All that is to be said of what was handed in."""
        of_files = [f"{h.file}: {n}" for h in self.hand_ins.values() for n in h.notes]
        return self.notes + of_files


@dataclass(frozen=True)
class Course:
    """What was graded: the exercises, and the points that they carry."""

    chapters: list[Chapter]

    @property
    def exercises(self) -> dict[str, Exercise]:
        return {n: e for chapter in self.chapters for n, e in chapter.exercises.items()}

    def earned(self, student: Student, name: str) -> int | None:
        """The points that a student has for an exercise; None if it is not graded."""
        found = student.results.get(name)
        if found and found.status == "ungraded":
            return None
        return self.exercises[name].points if found and found.status == "passed" else 0

    def total(self, student: Student) -> int | None:
        """The points that a student has for all of them; None if one is not graded."""
        points = [self.earned(student, name) for name in self.exercises]
        return None if None in points else sum(points)

    @property
    def most(self) -> int:
        return sum(exercise.points for exercise in self.exercises.values())


def write_report(out: Path, students: list[Student], chapters: list[Chapter]) -> None:
    """Write all files of the report into the folder `out`."""
    course = Course(chapters)
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    (out / "students").mkdir(parents=True, exist_ok=True)
    for old in (out / "students").glob("*.html"):
        old.unlink()
    page = templates.get_template("student.html")
    for student in students:
        text = page.render(student=student, course=course, words=WORDS)
        (out / "students" / student.page).write_text(text, "utf-8", "backslashreplace")
    about = {"students": students, "course": course, "words": WORDS}
    about |= {"tallies": tally(students, course, "status")}
    about |= {"spread": Counter(map(course.total, students))}
    messages = tally(students, course, "message").items()
    about |= {"wrong": {name: each.most_common(3) for name, each in messages if each}}
    text = templates.get_template("class.html").render(**about)
    (out / "index.html").write_text(text, "utf-8", "backslashreplace")
    write_csv(out / "grades.csv", students, course)
    write_json(out / "grades.json", students, course)


def write_csv(path: Path, students: list[Student], course: Course) -> None:
    """Write a row per student: points, or how an exercise without points went."""
    safe = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}
    with path.open("w", **safe) as file:
        sheet = csv.writer(file)
        names = list(course.exercises)
        sheet.writerow(["student", "id", *names, "points", "of", "remarks"])
        for student in students:
            row = [student.name, student.id]
            row += [cell(student, name, course) for name in names]
            row += [course.total(student), course.most, "; ".join(student.remarks())]
            sheet.writerow(map(harmless, row))


def cell(student: Student, name: str, course: Course) -> int | str | None:
    """Return what stands in the sheet for one exercise; nothing if it is not graded."""
    found = student.results.get(name)
    if course.exercises[name].points:
        return course.earned(student, name)
    return WORDS[found.status][0] if found else ""


def harmless(value: Any) -> Any:
    """Return what a spreadsheet shows as it is, and does not take for a formula.

    Nor does one that splits a row at semicolons or tabs, or takes full-width signs.
    """
    if not isinstance(value, str):
        return value
    value = FORMULA.sub(r"\1'", value)
    return value if len(value) <= CELL else f"{value[: CELL - 2]} …"


def write_json(path: Path, students: list[Student], course: Course) -> None:
    """Write all that was found, for other programs."""

    def result(student: Student, name: str) -> dict[str, Any]:
        of = course.exercises[name].points
        points = {"points": course.earned(student, name), "of": of}
        return asdict(student.results[name]) | points

    found = [
        {
            "student": student.name,
            "id": student.id,
            "points": course.total(student),
            "of": course.most,
            "remarks": student.remarks(),
            "exercises": {name: result(student, name) for name in student.results},
        }
        for student in students
    ]
    text = json.dumps(found, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


# --- what the teacher's page shows ---------------------------------------------------


def tally(students: list[Student], course: Course, what: str) -> dict[str, Counter]:
    """Count the statuses, or the messages, of each exercise; "" does not count."""
    counts: dict[str, Counter] = {name: Counter() for name in course.exercises}
    for student in students:
        for name, result in student.results.items():
            counts[name].update(filter(None, [getattr(result, what)]))
    return counts
