"""Open submissions, which are folders, zips and zips within zips, within limits.

Nothing is unpacked to disk. A zip's members are read into memory, each up to a limit
and all together up to a limit. So no name can point outside, and no zip bomb works.
"""

import io
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from classroom.notebook.files import FILE_LIMIT

TOTAL_LIMIT = 100 << 20  # bytes of all that is read of one student
ENTRIES = 20_000  # names in one zip
DEPTH = 4  # zips within zips
NAME, TEXT = 200, 500  # characters of a name, and of one thing that is told
UTF_8 = 0x800  # the flag of an entry whose name is in Unicode
IGNORED = {"__MACOSX", ".ipynb_checkpoints", ".git", ".venv", "kept"}

LINK = "it is a symbolic link, which is not followed"
NO_NOTEBOOK = "it is not a notebook"
EMPTY = "it contains no notebook"
Parts = tuple[str, ...]


@dataclass
class Place:
    """One student's part: a path, or the `inside` of a zip of many students."""

    path: str
    inside: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the folder, the zip or the file of the student."""
        return self.inside[-1] if self.inside else Path(self.path).name


@dataclass(frozen=True)
class Entry:
    """One entry of a zip, with the parts of its name that lead into the zip."""

    member: ZipInfo
    parts: Parts
    is_folder: bool


@dataclass
class Found:
    """One notebook file: its place among the submissions, and its content."""

    parts: Parts
    data: bytes = b""
    problem: str = ""  # why it could not be read, if it could not
    changed: float = 0.0  # when the file was last changed, in seconds

    @property
    def name(self) -> str:
        """Its path among the submissions, with unprintable characters escaped."""
        return shown("/".join(self.parts))


def printable(text: str) -> str:
    """Return a name that can be shown and written, one line without odd characters."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


def shown(text: str, most: int = NAME) -> str:
    """Return a name or text from a submission, printable and cut to a length."""
    text, half = printable(text), most // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


# --- files and zips ----------------------------------------------------------------


class Reader:
    """Yields the notebooks in a student's folders, zips and files, and counts bytes."""

    def __init__(self) -> None:
        self.left = TOTAL_LIMIT

    def place(self, place: Place) -> Iterator[Found]:
        """Yield the contents of one place, or why it cannot be read."""
        parts = (place.name,)
        at = self.part(place) if place.inside else self.at(Path(place.path), parts)
        yield from or_why_not(at, parts)

    def part(self, place: Place) -> Iterator[Found]:
        """Yield the part of a zip of many students that belongs to one of them."""
        depth = len(place.inside)
        with Path(place.path).open("rb") as file:
            archive = ZipFile(file)
            for entry in entries(archive):
                if list(entry.parts[:depth]) == place.inside:
                    yield from self.entry(archive, entry, entry.parts[depth - 1 :], 1)

    def at(self, path: Path, parts: Parts) -> Iterator[Found]:
        """Yield the notebooks at `path`; links are not followed."""
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            yield Found(parts, problem=LINK)
        elif stat.S_ISDIR(about.st_mode):
            for each in sorted(path.iterdir(), key=lambda each: each.name):
                if not ignored(each.name):
                    inner = (*parts, each.name)
                    yield from or_why_not(self.at(each, inner), inner)
        elif not (stat.S_ISREG(about.st_mode) and is_handed_in(path.name)):
            yield Found(parts, problem=NO_NOTEBOOK)
        else:
            with path.open("rb") as file:
                if is_zip(path.name):
                    yield from self.zip(file, parts, 1)
                else:
                    yield self.read(file, parts, about.st_mtime)

    def zip(self, file: BinaryIO, parts: Parts, depth: int) -> Iterator[Found]:
        """Yield the notebooks in a zip, and in the zips in it."""
        try:
            archive = ZipFile(file)
            inside = entries(archive)
        except Exception as error:
            problem = f"it is not a readable zip: {error}"
            yield Found(parts, problem=problem)
            return
        for entry in inside:
            yield from self.entry(archive, entry, (*parts, *entry.parts), depth)

    def entry(
        self, archive: ZipFile, entry: Entry, parts: Parts, depth: int
    ) -> Iterator[Found]:
        """Yield the notebook in one entry of a zip, or those of an inner zip."""
        if entry.is_folder or any(map(ignored, entry.parts)):
            return
        if not is_handed_in(parts[-1]):
            yield Found(parts, problem=NO_NOTEBOOK)
        elif is_zip(parts[-1]) and depth >= DEPTH:
            yield Found(parts, problem=f"zips are nested more than {DEPTH} deep")
        else:
            try:
                with archive.open(entry.member) as file:
                    found = self.read(file, parts, seconds(entry.member))
            except Exception as error:  # zlib, lzma, bz2 and zipfile have one each
                found = Found(parts, problem=why_not("unpacked", error))
            if found.problem or not is_zip(parts[-1]):
                yield found
            else:
                yield from self.zip(io.BytesIO(found.data), parts, depth + 1)

    def read(self, file: BinaryIO, parts: Parts, changed: float) -> Found:
        """Return a file's bytes, reading no more of them than may be."""
        most = max(0, min(FILE_LIMIT, self.left))
        data = file.read(most + 1)
        self.left -= len(data)
        if len(data) <= most:
            return Found(parts, data, changed=changed)
        over = f"it has more than {FILE_LIMIT >> 20} MB"
        if most < FILE_LIMIT:
            over = f"not read: all files together have more than {TOTAL_LIMIT >> 20} MB"
        return Found(parts, problem=over)


def or_why_not(found: Iterator[Found], parts: Parts) -> Iterator[Found]:
    """Yield what is found, and at any error its reason as the last item."""
    try:
        yield from found
    except Exception as error:
        yield Found(parts, problem=why_not("read", error))


def entries(archive: ZipFile) -> list[Entry]:
    """Return the entries of a zip; raise ValueError if it is damaged or too large."""
    members = archive.infolist()
    if members and min(member.header_offset for member in members):
        raise ValueError("it does not begin with its first entry: is it complete?")
    if len(members) > ENTRIES:
        raise ValueError(f"it has {len(members):,} entries, more than {ENTRIES:,}")
    older = [m.orig_filename for m in members if not m.flag_bits & UTF_8]
    letters = letters_of("\n".join(older).encode("cp437"))
    return [_entry(member, letters) for member in members]


def seconds(member: ZipInfo) -> float:
    """Return when a file was changed before it was zipped; 0 if no clock says that."""
    try:
        return datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _entry(member: ZipInfo, letters: str) -> Entry:
    name = member.orig_filename
    if not member.flag_bits & UTF_8:
        name = name.encode("cp437").decode(letters)
    names = name.replace("\\", "/").split("/")
    parts = tuple(name for name in names if name not in ("", ".", ".."))
    return Entry(member, parts, not names[-1])


def letters_of(names: bytes) -> str:
    """Guess the encoding of names that are not marked as Unicode.

    Windows writes Korean as cp949, in which a European name is also valid. But then
    Hangul occurs within words of other letters.
    """
    with suppress(UnicodeError):
        names.decode("utf-8")
        return "utf-8"
    with suppress(UnicodeError):
        text = names.decode("cp949")
        own = re.findall(r"(?<![^\W\d_])[가-힣]+(?![^\W\d_])", text)
        if 2 * len("".join(own)) > len(re.findall("[가-힣]", text)):
            return "cp949"
    return "cp437"


def is_handed_in(name: str) -> bool:
    """Whether a file name belongs to a notebook or a zip."""
    return name.lower().endswith((".ipynb", ".zip"))


def is_zip(name: str) -> bool:
    """Whether a file name belongs to a zip."""
    return name.lower().endswith(".zip")


def ignored(name: str) -> bool:
    """Whether a name belongs to something that is nobody's work."""
    return name in IGNORED or name.startswith("._")


def why_not(what: str, error: Exception) -> str:
    why = getattr(error, "strerror", None) or error  # without this machine's paths
    return f"it cannot be {what}: {why or type(error).__name__}"
