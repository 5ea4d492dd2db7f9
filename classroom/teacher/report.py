"""What comes out of grading: grades.csv, grades.json, a page for each student, and one
for the teacher.

A student's page shows the code, what was wrong, on which input, and which hint to read;
nothing in it comes from a hidden check but that there was one.
"""

import csv
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2

from classroom import ROOT
from classroom.cell.asked import hint_about
from classroom.notebook.pristine import Chapter, Exercise
from classroom.run.verdict import WORDS
from classroom.teacher.in_common import Summary
from classroom.teacher.students import Student, neat

TEMPLATES = ROOT / "classroom" / "templates"
FORMULA = re.compile(r"((?:^|[;,|\t\r\n]) *)(?=[=+\-@＝＋－＠])")
Exercises = dict[str, Exercise]
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
    templates.globals |= {"words": WORDS, "hint_about": hint_about}
    (out / "students").mkdir(parents=True, exist_ok=True)
    for old in (out / "students").glob("*.html"):
        old.unlink()
    page = templates.get_template("student.html")
    for student in students:
        text = page.render(student=student)
        (out / "students" / student.page).write_text(text, "utf-8", "backslashreplace")
    summary = Summary(students, chapters)
    text = templates.get_template("class.html").render(all=summary, students=students)
    (out / "index.html").write_text(text, "utf-8", "backslashreplace")
    write_csv(out / "grades.csv", students, exercises, most)
    write_json(out / "grades.json", students, exercises, most)
    return most


def write_csv(path: Path, students: list[Student], exercises: Exercises, of: float):
    """Write a row per student: points, or how an exercise without points went."""
    safe = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}
    with path.open("w", **safe) as file:
        sheet = csv.writer(file)
        about = "student", "id", "email", "group"
        sheet.writerow([*about, *exercises, "points", "of", "remarks"])
        for student in students:
            row = [*student.who, student.group]
            row += [cell(student, exercise) for exercise in exercises.values()]
            row += [student.total, of, "; ".join(student.remarks())]
            sheet.writerow(map(harmless, row))


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


def write_json(path: Path, students: list[Student], exercises: Exercises, of: float):
    """Write all results, for other programs."""
    found = []
    for student in students:
        about = {"student": student.name, "id": student.id, "email": student.email}
        about |= {"group": student.group, "of": of, "points": student.total}
        about |= {"remarks": student.remarks(), "comments": student.comments}
        results = {name: asdict(each) for name, each in student.results.items()}
        for name, each in results.items():
            each |= {"points": student.points[name], "of": exercises[name].points}
        found.append(about | {"exercises": results})
    text = json.dumps(found, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
