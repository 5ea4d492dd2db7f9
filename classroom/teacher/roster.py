"""The roster: who is in the class, in a sheet of one's own, of Moodle or of Canvas.

The same sheet goes back to the platform, with the grades. A hand-in is a student's if
its owner's id, e-mail or whole name is that student's, and nobody else's. Nobody is
matched by likeness: it is only told which names are near.
"""

import csv
import html
import re
import tomllib
from collections import defaultdict
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from classroom.notebook.files import Unreadable
from classroom.teacher.students import Student, nearest, neat, plain, shown

PLATFORMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
COLUMNS = PLATFORMS.pop("columns")
HIGHEST = "Points Possible"  # of Canvas, in the place of a name
MAY_CHANGE = "grade can be changed"  # of Moodle
NOT_STUDENTS = {HIGHEST, "Test Student", ""}
COMPARED = 1_000_000  # pairs of names; more would take minutes


class Sheet:
    """A CSV file as it was given; `rows` are by heads, as `plain` has them.

    Raises Unreadable.
    """

    def __init__(self, path: Path) -> None:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                self.comma = max(",;\t", key=file.readline().count)
                file.seek(0)
                lines = list(csv.reader(file, delimiter=self.comma))
        except (OSError, UnicodeError, csv.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise Unreadable(
                f"{path} cannot be read: {why}. Expected is a CSV file in UTF-8. A "
                'spreadsheet saves one as "CSV UTF-8".'
            ) from None
        self.path = path
        self.heads, *lines = [x for x in lines if "".join(x).strip()] or [[]]
        names = [*map(plain, self.heads)]
        self.rows = [dict(zip(names, line + [""] * len(names))) for line in lines]


class Roster(Sheet):
    """The students of a class, in a sheet of Moodle, of Canvas, or another one."""

    kind = grades = ""  # the platform, and the column for the grades

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        names = {*map(plain, self.heads)}
        if not names & {*COLUMNS["moodle"], *COLUMNS["name"], *COLUMNS["last"]}:
            raise Unreadable(
                f"{path.name} has the columns {', '.join(self.heads)}. A roster needs "
                "a column `name`, or `first name` and `last name`, and may have `id`, "
                "`email`, `group` and `extension`. Moodle and Canvas export these."
            )
        for kind, form in PLATFORMS.items():
            if names.issuperset(form["has"]):
                self.kind, self.grades = kind, self.only_column(form["grades"])
        found = [student_in(row) for row in self.rows]
        self.students = [each for each in found if each.name not in NOT_STUDENTS]
        seen = set()
        for n, each in enumerate(found, 2):
            if each.who in seen and each.name not in NOT_STUDENTS:
                raise Unreadable(
                    f"{path.name}, line {n}: {each.name} stands there twice. Delete "
                    "one of the lines, or give each an id."
                )
            seen.add(each.who)

    def only_column(self, form: str) -> str:
        """Return the column for the grades; raise Unreadable if it is not only one."""
        found = [head for head in self.heads if re.fullmatch(form, plain(head))]
        if len(found) != 1:
            raise Unreadable(
                f"{self.path.name} has the assignments {', '.join(found) or 'none'}. "
                "Expected is the one for these grades. Delete the columns of others; "
                "Canvas then leaves them alone."
            )
        return plain(found[0])


def student_in(row: dict[str, str]) -> Student:
    """Return the student that a row of a roster is about."""
    cells = {head: shown(cell.strip()) for head, cell in row.items() if cell.strip()}
    about = {
        key: next((cells[name] for name in names if name in cells), "")
        for key, names in COLUMNS.items()
    }
    number = re.sub(r"^.*?(\d*)$", r"\1", about["moodle"])
    name = about["name"] or f"{about['first']} {about['last']}".strip()
    name = re.sub("(.+), (.+)", r"\2 \1", name)  # "King, Ada"
    words = plain(name).split()
    name = re.sub("([가-힣]+) ([가-힣])", r"\2\1", name) or about["id"] or number
    student = Student(name, about["id"] or number, about["email"], about["group"])
    student.number, student.moodle = number or cells.get("id", ""), number
    student.row, student.highest = row, about["highest"]
    student.names = {plain(about["login"])}
    for n in range(len(words)):
        last, first = " ".join(words[n:]), " ".join(words[:n])
        joined = re.sub(r"[\W_]", "", last + first)
        student.names |= {f"{last} {first}".strip(), f"{last}, {first}", joined}
    for form in PLATFORMS["moodle"]["times"]:
        with suppress(ValueError):
            student.submitted = datetime.strptime(about["submitted"], form)
    return student


def enrolled(found: list[Student], sheet: Roster) -> list[Student]:
    """Return the roster's students with what they handed in, and then all others.

    The number that a platform gave decides alone, if the roster is the platform's.
    """
    known: dict[str, list[Student]] = defaultdict(list)
    claims: dict[Student, list[Student]] = defaultdict(list)
    for student in sheet.students:
        for key in (f"number {student.number}", *student.called()):
            known[key].append(student)
    for one in found:
        names = [plain(one.id), plain(one.name)]
        names = [f"number {one.id}"] if sheet.kind and one.id else names
        theirs = next(filter(None, map(known.get, names)), [])
        if len(theirs) == 1:
            claims[theirs[0]].append(one)
    others = dict.fromkeys(found)
    for student in sheet.students:
        if len(claims[student]) == 1:
            student.take(*claims[student])
            del others[claims[student][0]]
        else:
            student.notes.append("nothing was handed in")
    for one in others:
        few = len(others) * len(sheet.students) <= COMPARED
        near = nearest(one.name, sheet.students) if few else ""
        one.notes.insert(0, f"matches no single student of {sheet.path.name}{near}")
    return [*sheet.students, *others]


# --- back to the platform -------------------------------------------------------------


def write_back(out: Path, sheet: Roster, students: list[Student], most: float) -> str:
    """Write the platform's sheet with the grades, and return words about it.

    The cells of a student who handed in nothing, is not graded, or whose grade cannot
    be changed stay as they were.
    """
    total = [row for row in sheet.rows if HIGHEST in map(str.strip, row.values())]
    possible, of = "".join(row[sheet.grades] for row in total), most
    graded = [s for s in students if s.row and s.attempts and s.total is not None]
    graded = [s for s in graded if plain(s.row.get(MAY_CHANGE, "")) != "no"]
    for student in graded:
        highest = student.highest or possible
        of = as_number(highest) or most
        given = str(neat(student.total * of / most) if most else 0)
        student.row[sheet.grades] = given.replace(".", ",") if "," in highest else given
        for head in student.row.keys() & COLUMNS["comments"]:
            student.row[head] = html.escape(student.said()).replace("\n", "<br>")
    heads = [head for head in sheet.heads if not plain(head).startswith("extension")]
    lines = [[row[plain(head)] for head in heads] for row in sheet.rows]
    path = out / f"{sheet.kind}-{sheet.path.name}"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=sheet.comma).writerows([heads, *lines])
    scale = f" ({most} points are a grade of {of})" if of != most else ""
    return f"Students with a grade in {path}: {len(graded)}{scale}"


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
