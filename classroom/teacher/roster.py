"""The roster: who is in the class, in a sheet of one's own, of Moodle or of Canvas.

The same sheet goes back to the platform, with the grades. A hand-in is a student's if
its owner's id, e-mail or whole name is that student's, and nobody else's. Nobody is
matched by likeness: it is only told which names are near.
"""

import csv
import html
import io
import re
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from classroom.notebook.files import Unreadable
from classroom.teacher.students import Student, nearest, neat, plain, shown

COLUMNS = {  # what each may be called, in small letters; the first that is there counts
    "name": ("full name", "name", "student", "student name"),
    "first": ("first name", "given name", "firstname"),
    "last": ("last name", "surname", "family name", "lastname"),
    "id": ("sis user id", "id number", "student id", "id"),
    "login": ("sis login id", "username", "login"),
    "email": ("email address", "e-mail address", "e-mail", "email", "mail"),
    "group": ("group", "groups", "section"),
}
SUBMITTED = "last modified (submission)"  # of Moodle, which writes times in these forms
TIMES = "%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M"
COMMENTS = "feedback comments"
ASSIGNMENT = re.compile(r".+ \(\d+\)")  # as Canvas names one: "Chapter 4 (1234)"
NOT_STUDENTS = {"Points Possible", "Test Student", ""}  # rows of Canvas


@dataclass
class Sheet:
    """A roster as it was given, so that it can be written back, and its students."""

    path: Path
    kind: str  # "moodle", "canvas", or "" for another one
    comma: str
    header: list[str]  # as `plain` has it
    lines: list[list[str]]
    grades: int  # the column for them
    students: list[Student]


def read_lines(path: Path) -> tuple[str, list[list[str]]]:
    """Return the separator and the lines of a CSV file; raise Unreadable."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        comma = max(",;\t", key=text.partition("\n")[0].count)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=comma))
        return comma, [line for line in lines if any(map(str.strip, line))] or [[]]
    except (OSError, UnicodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise Unreadable(
            f"{path} cannot be read: {why}. Expected is a CSV file in UTF-8. A "
            'spreadsheet saves one as "CSV UTF-8".'
        ) from None


def read_roster(path: Path) -> Sheet:
    """Return the roster in a file; raise Unreadable if it is none."""
    comma, lines = read_lines(path)
    header = [plain(cell) for cell in lines[0]]
    forms = {"moodle": {"identifier", "grade"}, "canvas": {"id", "sis login id"}}
    kind = next((name for name, has in forms.items() if has <= {*header}), "")
    if not {"identifier", *COLUMNS["name"], *COLUMNS["last"]} & {*header}:
        raise Unreadable(
            f"{path.name} has the columns {', '.join(lines[0])}. A roster needs a "
            "column `name`, or `first name` and `last name`, and may have `id`, "
            "`email`, `group` and `extension`. What Moodle and Canvas export has these."
        )
    place = grade_column(path.name, kind, lines[0]) if kind else -1
    sheet = Sheet(path, kind, comma, header, lines, place, [])
    for n, line in enumerate(lines[1:], 1):
        line += [""] * (len(header) - len(line))
        row = dict(zip(header, map(str.strip, line)))
        student = student_in(row)
        student.line = n
        if kind == "canvas" and student.name in NOT_STUDENTS:
            continue
        if any(student.who == other.who for other in sheet.students):
            raise Unreadable(
                f"{path.name}, line {n + 1}: {student.name} stands there twice. Delete "
                "one of the lines, or give each an id."
            )
        sheet.students.append(student)
    return sheet


def student_in(row: dict[str, str]) -> Student:
    """Return the student that a line of a roster is about."""
    about = {
        key: next((shown(row[name]) for name in names if row.get(name)), "")
        for key, names in COLUMNS.items()
    }
    number = re.sub(r"^.*?(\d*)$", r"\1", row.get("identifier", ""))
    last, _, first = about["name"].partition(", ")  # "King, Ada"
    if not first:
        first, _, last = about["name"].rpartition(" ")
    first, last = about["first"] or first, about["last"] or last
    korean = re.fullmatch("[가-힣]+", last + first)
    name = last + first if korean else f"{first} {last}".strip() or number
    student = Student(name, about["id"] or number)
    student.email, student.group = about["email"], about["group"]
    student.number, student.moodle = number or row.get("id", ""), number
    forms = f"{first} {last}", f"{last} {first}", f"{last}, {first}"
    forms += (re.sub(r"[\W_]", "", last + first),)
    student.names = {plain(form) for form in (about["login"], *forms)}
    for head, cell in row.items():
        if cell and (match := re.fullmatch(r"extension ?(\d*)", head)):
            student.extensions[match[1]] = cell
    for form in TIMES:
        with suppress(ValueError):
            student.submitted = datetime.strptime(row.get(SUBMITTED, ""), form)
    return student


def enrolled(found: list[Student], sheet: Sheet) -> list[Student]:
    """Return the roster's students with what they handed in, and then all others.

    The number that a platform gave decides alone, if the roster is the platform's.
    """
    known: dict[str, list[Student]] = defaultdict(list)
    claims: dict[int, list[Student]] = defaultdict(list)
    for student in sheet.students:
        for key in (f"number {student.number}", *student.called()):
            known[key].append(student)
    for one in found:
        theirs = known[plain(one.id)] if one.id else []
        theirs = theirs or known[plain(one.name)]
        theirs = known[f"number {one.id}"] if sheet.kind and one.id else theirs
        if len(theirs) == 1:
            claims[theirs[0].line].append(one)
    sure = {line: ones[0] for line, ones in claims.items() if len(ones) == 1}
    for student in sheet.students:
        if student.line in sure:
            student.take(sure[student.line])
        else:
            student.notes.append("nothing was handed in")
    others = [one for one in found if not any(one is each for each in sure.values())]
    for one in others:
        near = nearest(one.name, sheet.students)
        one.notes.insert(0, f"matches no single student of {sheet.path.name}{near}")
    return sheet.students + others


# --- back to the platform -------------------------------------------------------------


def write_back(out: Path, sheet: Sheet, students: list[Student], most: float) -> str:
    """Write the platform's sheet with the grades, and return words about it.

    The cells of a student who handed in nothing, or is not graded, stay as they were.
    """
    place, rows, of, highest = sheet.grades, 0, most, ""
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
        given = [not name.startswith("extension") for name in sheet.header]
        lines = (compress(line, given) for line in sheet.lines)
        csv.writer(file, delimiter=sheet.comma).writerows(lines)
    scale = f" ({most} points are a grade of {of})" if of != most else ""
    return f"Students with a grade in {path}: {rows}{scale}"


def grade_column(sheet: str, kind: str, heads: list[str]) -> int:
    """Return the column for the grades; raise Unreadable if it is not only one."""
    form = ASSIGNMENT if kind == "canvas" else re.compile("grade", re.IGNORECASE)
    found = [n for n, head in enumerate(heads) if form.fullmatch(head.strip())]
    if len(found) != 1:
        names = ", ".join(heads[n] for n in found) or "none"
        raise Unreadable(
            f"{sheet} has the assignments {names}. Expected is the one for these "
            "grades. Delete the columns of others; Canvas then leaves them alone."
        )
    return found[0]


def as_number(text: str) -> float:
    """Return a number that has a point or a comma, or 0 if it is none."""
    found = re.match(r"\d+(?:[.,]\d+)?", text)
    return neat(float(found[0].replace(",", "."))) if found else 0


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
