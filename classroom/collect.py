"""Read what was handed in, wherever it lies: folders, zips, one zip of an LMS.

Nothing is unpacked to disk: a zip's members are read into memory, each and all
together up to a limit, so that no name in it can point outside and no zip bomb blows.
"""

import io
import re
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from classroom.notebooks import Unreadable

FILE_LIMIT = 20 << 20  # bytes of one notebook, or of a zip within a zip
ZIP_LIMIT = 2 << 30  # bytes of a zip that lies in the folder, or that was named
TOTAL_LIMIT = 100 << 20  # bytes of all that is read of one student
ENTRIES = 20_000  # names in one zip
DEPTH = 4  # zips within zips
UTF_8 = 0x800  # the flag of an entry whose name is in Unicode
IGNORED = {"__MACOSX", ".ipynb_checkpoints", ".git", ".venv", "kept"}
OF_COURSE = {"exercises", "notebooks", "classroom"}
# "Ada Lovelace_1234_assignsubmission_file_": Moodle's folder of a student, or what a
# file's name begins with
MOODLE = re.compile(r"(.+?)_(\d+)_assignsubmission_[a-z]+.*")
# "lovelaceada_LATE_1234_5678_04_blame-1.ipynb": Canvas's name of a file
CANVAS = re.compile(r"([^\W_]+)(_LATE)?_(\d+)_\d{4,}_.+\.(?:ipynb|zip)", re.IGNORECASE)


@dataclass
class Found:
    """One notebook file: where it lies among the submissions, and what is in it."""

    parts: tuple[str, ...]
    data: bytes = b""
    when: datetime | None = None
    problem: str = ""  # why it could not be read, if it could not

    @property
    def name(self) -> str:
        """Its path among the submissions, with what cannot be printed escaped."""
        return printable("/".join(self.parts))


@dataclass
class Submission:
    """What one student has handed in; `problems` say what could not be read."""

    student: str
    id: str = ""
    files: list[Found] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    marked_late: bool = False


def submissions(path: Path) -> list[Submission]:
    """Return what each student has handed in, in the order of their names.

    The student is who Moodle's or Canvas's names say, else the first folder or zip on
    the way to the file. Raises Unreadable if there is nothing at `path`.
    """
    if not path.exists():
        raise Unreadable(f"There is nothing at {path}.")
    reader = _Reader()
    if path.is_dir():
        found = [each for inner in _sorted(path) for each in reader.top(inner)]
    elif zipfile.is_zipfile(path):
        found = _below_one_folder(list(reader.file(path, ())))
    else:
        raise Unreadable(
            f"{path.name} is neither a folder nor a zip. Give a folder with a folder "
            "or zip of each student in it, or the zip that Moodle or Canvas made."
        )
    by_student: dict[tuple[str, str], Submission] = {}
    for each in _where_it_tells(found):
        student, id_, late = owner(each.parts)
        key = student, id_
        one = by_student.setdefault(key, Submission(student, id_))
        one.marked_late |= late
        if each.problem:
            one.problems.append(f"{each.name}: {each.problem}".removeprefix(": "))
        else:
            one.files.append(each)
    return [by_student[key] for key in sorted(by_student)]


def owner(parts: tuple[str, ...]) -> tuple[str, str, bool]:
    """Return whose file this is: name, id in the LMS or "", and marked as late."""
    parts = tuple(unicodedata.normalize("NFC", part) for part in parts)
    for part in parts:
        if match := MOODLE.fullmatch(part):
            return printable(match[1]), match[2], False
    for part in parts[:1]:  # in a folder of its own, a file may be called anything
        if match := CANVAS.fullmatch(part):
            return printable(match[1]), match[3], bool(match[2])
    first = parts[0] if parts else "unnamed"
    for ending in (".zip", ".ipynb"):
        first = first.removesuffix(ending)
    return printable(first), "", False


def printable(text: str) -> str:
    """Return a name as it can be shown and written: one line, no odd characters."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


# --- reading -----------------------------------------------------------------------


class _Reader:
    """Reads notebooks, and counts each student's bytes."""

    def __init__(self) -> None:
        self.total: Counter[tuple] = Counter()

    def top(self, path: Path) -> Iterator[Found]:
        """Yield what is in one folder, zip or file of a student, or that nothing is."""
        found = list(self.at(path, (path.name,)))
        handed_in = path.suffix.lower() == ".zip" or path.is_dir()
        if not found and handed_in and not _ignored(path.name):
            found = [Found((path.name,), problem=EMPTY)]
        yield from found

    def at(self, path: Path, parts: tuple[str, ...]) -> Iterator[Found]:
        """Yield the notebooks at `path`; links are not followed."""
        kind = path.lstat().st_mode
        if _ignored(path.name):
            return
        if stat.S_ISLNK(kind):
            yield Found(parts, problem=LINK)
        elif stat.S_ISDIR(kind):
            try:
                inside = _sorted(path)
            except OSError as error:
                yield Found(parts, problem=f"it cannot be read: {error.strerror}")
                return
            for each in inside:
                yield from self.at(each, (*parts, each.name))
        elif stat.S_ISREG(kind) and path.suffix.lower() in (".ipynb", ".zip"):
            yield from self.file(path, parts)

    def file(self, path: Path, parts: tuple[str, ...]) -> Iterator[Found]:
        """Yield a notebook that lies in a folder, or those of a zip."""
        zipped = path.suffix.lower() == ".zip"
        about, limit = path.lstat(), ZIP_LIMIT if zipped else FILE_LIMIT
        try:
            if about.st_size > limit:
                yield Found(parts, problem=_too_large(about.st_size, limit))
            elif zipped:
                with path.open("rb") as file:
                    yield from self.zip(file, parts, 1)
            else:
                when = datetime.fromtimestamp(about.st_mtime)
                yield self.counted(Found(parts, path.read_bytes(), when))
        except OSError as error:
            yield Found(parts, problem=f"it cannot be read: {error.strerror}")

    def zip(
        self, file: BinaryIO, parts: tuple[str, ...], depth: int
    ) -> Iterator[Found]:
        """Yield the notebooks in a zip, and in the zips in it."""
        try:
            archive = zipfile.ZipFile(file)
        except _UNREADABLE as error:
            yield Found(parts, problem=f"it is not a zip that can be read: {error}")
            return
        members = archive.infolist()
        if members and min(member.header_offset for member in members):
            problem = "it does not begin with its first entry: is it complete?"
            yield Found(parts, problem=problem)
            return
        if len(members) > ENTRIES:
            problem = f"it has {len(members):,} entries, over {ENTRIES:,}"
            yield Found(parts, problem=problem)
            return
        for member in members:
            yield from self.member(archive, member, parts, depth)

    def member(
        self,
        archive: zipfile.ZipFile,
        member: zipfile.ZipInfo,
        parts: tuple[str, ...],
        depth: int,
    ) -> Iterator[Found]:
        """Yield what one entry of a zip has."""
        path = PurePosixPath(_name(member).replace("\\", "/"))
        inner = (*parts, *(part for part in path.parts if part not in ("/", "..")))
        suffix = path.suffix.lower()
        if any(map(_ignored, path.parts)):
            return
        if member.is_dir():
            yield Found((*inner, ""), problem=EMPTY)
        elif suffix not in (".ipynb", ".zip"):
            yield Found(inner, problem=NO_NOTEBOOK)
        elif ".." in path.parts or path.is_absolute():
            problem = f"the name of an entry leads outside: {member.filename}"
            yield Found(parts or inner, problem=printable(problem))
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield Found(inner, problem=LINK)
        elif suffix == ".zip" and depth >= DEPTH:
            yield Found(inner, problem=f"zips lie within zips, more than {DEPTH} deep")
        else:
            yield from self.unpacked(archive, member, inner, depth)

    def unpacked(
        self,
        archive: zipfile.ZipFile,
        member: zipfile.ZipInfo,
        parts: tuple[str, ...],
        depth: int,
    ) -> Iterator[Found]:
        """Yield a notebook, or those of an inner zip, reading no more than may be."""
        try:
            with archive.open(member) as file:
                data = file.read(FILE_LIMIT + 1)
        except _UNREADABLE as error:
            yield Found(parts, problem=f"it cannot be unpacked: {error}")
            return
        if len(data) > FILE_LIMIT:
            size = max(member.file_size, len(data))
            yield Found(parts, problem=_too_large(size, FILE_LIMIT))
            return
        found = self.counted(Found(parts, data, _when(member)))
        if parts[-1].lower().endswith(".zip") and not found.problem:
            yield from self.zip(io.BytesIO(data), parts, depth + 1)
        else:
            yield found

    def counted(self, found: Found) -> Found:
        """Return what was found, or that its student has handed in too much."""
        student = owner(found.parts)[:2]
        self.total[student] += len(found.data)
        if self.total[student] <= TOTAL_LIMIT:
            return found
        what = f"not read: all together is more than {TOTAL_LIMIT >> 20} MB"
        return Found(found.parts, problem=what)


LINK = "it is a symbolic link, which is not followed"
NO_NOTEBOOK = "it is no notebook"
EMPTY = "there is no notebook in it"
NOTHING = {NO_NOTEBOOK, EMPTY}
_UNREADABLE = (
    *(zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError),
    *(OSError, EOFError, zlib.error),
)


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda path: path.name)


def _below_one_folder(found: list[Found]) -> list[Found]:
    """Take off a folder that all of a zip lies in, if there are folders within it.

    But not if these are the course's: then it is one student's course.
    """
    notebooks = [each.parts for each in found if each.problem not in NOTHING]
    firsts = {parts[:1] for parts in notebooks}
    seconds = {part for parts in notebooks for part in parts[1:2]}
    one = len(firsts) == 1 and not seconds & OF_COURSE
    if one and all(len(parts) > 2 for parts in notebooks):
        return [
            replace(each, parts=each.parts[1:])
            for each in found
            if each.parts[:1] in firsts and each.parts[1:] != ("",)
        ]
    return found


def _where_it_tells(found: list[Found]) -> list[Found]:
    """Leave out what is no notebook, unless a student has handed in nothing else."""
    others = [each for each in found if each.problem not in NOTHING]
    known, left = {owner(each.parts)[:2] for each in others}, Counter()
    for each in found:
        student = owner(each.parts)[:2]
        in_a_folder = len(each.parts) > 1 or student[1] or each.problem == EMPTY
        if each.problem in NOTHING and in_a_folder and student not in known:
            left[student] += 1
            if left[student] <= 3:
                others.append(each)
    return others


def _name(member: zipfile.ZipInfo) -> str:
    """The name of an entry, which older programs write in letters of their country."""
    if not member.flag_bits & UTF_8:
        for letters in ("utf-8", "euc-kr"):  # one of Europe's is hardly ever valid here
            with suppress(UnicodeError):
                return member.filename.encode("cp437").decode(letters)
    return member.filename


def _too_large(size: int, limit: int) -> str:
    return f"it has {size / (1 << 20):,.0f} MB, over {limit >> 20:,} MB"


def _ignored(name: str) -> bool:
    return name in IGNORED or name.startswith("._")


def _when(member: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*member.date_time)
    except ValueError:
        return None
