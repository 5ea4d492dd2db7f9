"""What goes back to a platform: its own sheet with grades, and pages of feedback."""

import csv
import html
import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from classroom.notebook.files import Unreadable
from classroom.teacher.roster import Sheet
from classroom.teacher.students import Student, neat, plain

COMMENTS = "feedback comments"
ASSIGNMENT = re.compile(r".+ \(\d+\)")  # as Canvas names one: "Chapter 4 (1234)"


def write_back(out: Path, sheet: Sheet, students: list[Student], most: float) -> str:
    """Write the platform's sheet with the grades, and return words about it.

    The cells of a student who handed in nothing, or is not graded, stay as they were.
    """
    place, rows, of, highest = grade_column(sheet), 0, most, ""
    for line in sheet.lines:
        if line[0].strip() == "Points Possible":  # of Canvas
            highest = line[place]
    for student in students:
        if student.line is None or not student.attempts or student.total is None:
            continue
        line = sheet.lines[student.line]
        row = dict(zip(sheet.header, line))
        if plain(row.get("grade can be changed", "")) == "no":
            continue
        highest = row.get("maximum grade") or highest
        of = as_number(highest) or most
        given = str(neat(student.total * of / most) if most else 0)
        line[place] = given.replace(".", ",") if "," in highest else given
        if COMMENTS in row:
            said = html.escape(student.said()).replace("\n", "<br>")
            line[sheet.header.index(COMMENTS)] = said
        rows += 1
    path = out / f"{sheet.kind}-{sheet.path.name}"
    with path.open("w", encoding="utf-8", newline="") as file:
        names = enumerate(sheet.header)
        kept = [n for n, name in names if not name.startswith("extension")]
        lines = ([line[n] for n in kept] for line in sheet.lines)
        csv.writer(file, delimiter=sheet.comma).writerows(lines)
    scale = f" ({most} points are a grade of {of})" if of != most else ""
    return f"Students with a grade in {path}: {rows}{scale}"


def grade_column(sheet: Sheet) -> int:
    """Return the column for the grades; raise Unreadable if it is not only one."""
    found = [n for n, cell in enumerate(sheet.lines[0]) if ASSIGNMENT.fullmatch(cell)]
    if sheet.kind == "moodle":
        found = [sheet.header.index("grade")]
    if len(found) != 1:
        names = ", ".join(sheet.lines[0][n] for n in found) or "none"
        raise Unreadable(
            f"{sheet.path.name} has the assignments {names}. Expected is the one for "
            "these grades. Delete the columns of others; Canvas then leaves them alone."
        )
    return found[0]


def as_number(text: str) -> float:
    """Return a number that has a point or a comma, or 0 if it is none."""
    try:
        return neat(float(text.replace(",", ".")))
    except (ValueError, OverflowError):
        return 0


def write_feedback(out: Path, students: list[Student]) -> bool:
    """Write feedback.zip, which Moodle takes for many students; return if there is one.

    Moodle finds a student by the number alone, after the first of four underscores.
    """
    handed_in = [student for student in students if student.moodle and student.attempts]
    if handed_in:
        with ZipFile(out / "feedback.zip", "w", ZIP_DEFLATED) as archive:
            for student in handed_in:
                name = re.sub(r"[_/\\]", " ", student.name)
                name = f"{name}_{student.moodle}_assignfeedback_file_feedback.html"
                archive.write(out / "students" / student.page, name)
    return bool(handed_in)
