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
ASSIGNMENT = re.compile(r".+ \(\d+\)|minigrad")  # of Canvas: "Chapter 4 (1234)"


def write_back(out: Path, sheet: Sheet, students: list[Student], most: float) -> str:
    """Write the platform's sheet with the grades, and return words about it.

    The cells of a student who handed in nothing, or is not graded, stay as they were.
    """
    place, rows, of, highest = grade_column(sheet), 0, most, ""
    for line in sheet.lines:
        if line[0].strip() == "Points Possible":  # of Canvas
            highest = line[place] = line[place] or str(most)
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
        heads = [plain(cell) for cell in sheet.lines[0]]
        kept = [n for n, head in enumerate(heads) if not head.startswith("extension")]
        lines = ([line[n] for n in kept if n < len(line)] for line in sheet.lines)
        csv.writer(file, delimiter=sheet.comma).writerows(lines)
    scale = f" ({most} points are a grade of {of})" if of != most else ""
    return f"Students with a grade in {path}: {rows}{scale}"


def grade_column(sheet: Sheet) -> int:
    """Return the column for the grades; a gradebook without assignments gets one.

    Raises Unreadable if nothing says which of several it is.
    """
    header = sheet.lines[0]
    if sheet.kind == "moodle":
        return sheet.header.index("grade")
    found = [n for n, cell in enumerate(header) if ASSIGNMENT.fullmatch(cell)]
    if len(found) > 1:
        raise Unreadable(
            f"{sheet.path.name} has {len(found)} assignments: "
            f"{', '.join(header[n] for n in found)}. Expected is one, for these "
            "grades. Delete the other columns; Canvas leaves their grades alone."
        )
    if not found:
        found = [len(header)]
        for line in sheet.lines:
            line += [""] * (found[0] + 1 - len(line))
        header[found[0]] = "minigrad"
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
