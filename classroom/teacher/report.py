"""What comes out of grading: grades.csv, grades.json, a page for each student, and one
for the teacher.

A student's page says what was wrong, on which input, and which hint to read; nothing
in it comes from a hidden check but that there was one.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2

from classroom import ROOT
from classroom.notebook.pristine import Chapter
from classroom.run.verdict import WORDS
from classroom.teacher.points import Course, Student

TEMPLATES = ROOT / "classroom" / "templates"
FORMULA = re.compile(r"((?:^|[;,|\t\r\n]) *)(?=[=+\-@＝＋－＠])")
CELL = 32_000  # characters of a cell; a spreadsheet's most is 32,767


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
    about |= {"tallies": tallies(students, course)}
    about |= {"spread": Counter(map(course.total, students))}
    about |= {"wrong": frequent(students, course)}
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


def tallies(students: list[Student], course: Course) -> dict[str, Counter]:
    """Return how often each status was found, by exercise."""
    found = {name: Counter() for name in course.exercises}
    for student in students:
        for name, result in student.results.items():
            found[name][result.status] += 1
    return found


def frequent(
    students: list[Student], course: Course, most: int = 3
) -> dict[str, list[tuple]]:
    """Return the most frequent messages of wrong answers and their counts."""
    found: dict[str, Counter] = defaultdict(Counter)
    for student in students:
        for name, result in student.results.items():
            if result.message:
                found[name][result.message] += 1
    return {n: found[n].most_common(most) for n in course.exercises if n in found}
