"""Read what one student handed in: notebooks, folders, zips and the zips in these.

`python -m classroom.teacher.reading` takes a job as JSON and prints one line of JSON
for each thing that it found. It is a process with limits, so a submission that is too
slow or too large ends only this process. Nothing is unpacked to disk. A zip's members
are read into memory, each up to a limit and all together up to a limit. So no name can
point outside, and no zip bomb works.
"""

import io
import json
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import ZipFile, ZipInfo

from classroom import ROOT
from classroom.learner.mistaken import WORD, lines_of, variables
from classroom.notebook.answers import NotOurs, learner_in
from classroom.notebook.files import FILE_LIMIT, Unreadable, parse_notebook
from classroom.notebook.pristine import Chapter
from classroom.teacher.students import HandIn, shown

SECONDS = 10  # of a processor, for all that one student has handed in
MEMORY = 512 << 20  # bytes that reading it may take (not on Windows)
TOTAL_LIMIT = 100 << 20  # bytes of all that is read of one student
ENTRIES = 20_000  # names in one zip
DEPTH, FOLDERS = 2, 100  # a zip and the zips in it; folders in folders
TOLD, TEXT = 20, 500  # things that are told of one student; characters of each
UTF_8 = 0x800  # the flag of an entry whose name is in Unicode
IGNORED = {"__MACOSX", ".ipynb_checkpoints", ".git", ".venv", "kept"}
LINK = "it is a symbolic link, which is not followed"
NO_NOTEBOOK = "it is not a notebook"
TOO_DEEP = f"zips are nested more than {DEPTH} deep"
FAR_IN = f"folders are nested more than {FOLDERS} deep"
Parts = tuple[str, ...]  # of the name of a file or folder


class Found(NamedTuple):
    """A file: its place, its bytes or why there are none, and when it was changed."""

    parts: Parts
    data: bytes | str
    changed: float = 0.0


# --- files and zips ----------------------------------------------------------------


class Reader:
    """Yields the files in a student's folders and zips, and counts their bytes."""

    def __init__(self) -> None:
        self.left = TOTAL_LIMIT

    def at(self, path: Path, parts: Parts, inside: Parts = ()) -> Iterator[Found]:
        """Yield the files at a path, or in that part of the zip there."""
        try:
            about = path.lstat()
            mine = stat.S_ISREG(about.st_mode) and is_handed_in(path.name)
            if inside or mine:
                with path.open("rb") as file:
                    if inside or is_zip(path.name):
                        yield from self.zip(file, parts, inside)
                    else:
                        yield self.read(file, parts, about.st_mtime)
            elif len(parts) > FOLDERS:
                yield Found(parts, FAR_IN)
            elif stat.S_ISDIR(about.st_mode):
                for name in sorted(each.name for each in path.iterdir()):
                    if not ignored(name):
                        yield from self.at(path / name, (*parts, name))
            else:
                yield Found(parts, LINK if path.is_symlink() else NO_NOTEBOOK)
        except Exception as error:
            yield Found(parts, why_not("read", error))

    def zip(
        self, file: BinaryIO, parts: Parts, inside: Parts = (), depth: int = 1
    ) -> Iterator[Found]:
        """Yield the files in a zip whose names begin with `inside`."""
        try:
            archive = ZipFile(file)
            found = entries(archive)
        except Exception as error:
            yield Found(parts, f"it is not a readable zip: {error}")
            return
        for member, names, is_folder in found:
            place = (*parts, *names[len(inside) :])
            if is_folder or names[: len(inside)] != inside or any(map(ignored, names)):
                continue
            if not is_handed_in(place[-1]):
                yield Found(place, NO_NOTEBOOK)
            elif is_zip(place[-1]) and depth == DEPTH:
                yield Found(place, TOO_DEEP)
            else:
                each = self.unpacked(archive, member, place)
                if is_zip(place[-1]) and isinstance(each.data, bytes):
                    inner = io.BytesIO(each.data)
                    yield from self.zip(inner, place, depth=depth + 1)
                else:
                    yield each

    def unpacked(self, archive: ZipFile, member: ZipInfo, parts: Parts) -> Found:
        """Return one file in a zip."""
        try:
            changed = seconds(member)
            with archive.open(member) as file:
                return self.read(file, parts, changed)
        except Exception as error:  # zlib, lzma, bz2 and zipfile have one each
            return Found(parts, why_not("unpacked", error))

    def read(self, file: BinaryIO, parts: Parts, changed: float) -> Found:
        """Return a file's bytes, reading no more of them than may be."""
        most = max(0, min(FILE_LIMIT, self.left))
        data = file.read(most + 1)
        self.left -= len(data)
        if len(data) <= most:
            return Found(parts, data, changed)
        over = f"it has more than {FILE_LIMIT >> 20} MB"
        if most < FILE_LIMIT:
            over = f"not read: all files together have more than {TOTAL_LIMIT >> 20} MB"
        return Found(parts, over)


def entries(archive: ZipFile) -> list[tuple[ZipInfo, Parts, bool]]:
    """Return a zip's entries: the parts of each name, and whether it is a folder.

    Raises ValueError if the zip is damaged or too large.
    """
    members = archive.infolist()
    if members and min(member.header_offset for member in members):
        raise ValueError("it does not begin with its first entry: is it complete?")
    if len(members) > ENTRIES:
        raise ValueError(f"it has {len(members):,} entries, more than {ENTRIES:,}")
    older = [m.orig_filename for m in members if not m.flag_bits & UTF_8]
    letters, found = letters_of("\n".join(older).encode("cp437")), []
    for member in members:
        name = member.orig_filename
        if not member.flag_bits & UTF_8:
            name = name.encode("cp437").decode(letters)
        names = name.replace("\\", "/").split("/")
        parts = tuple(name for name in names if name not in ("", ".", ".."))
        found.append((member, parts, not names[-1]))
    return found


def seconds(member: ZipInfo) -> float:
    """Return when a file was changed before it was zipped; 0 if no clock says that."""
    with suppress(ValueError, OverflowError, OSError):
        return datetime(*member.date_time).timestamp()
    return 0.0


def letters_of(names: bytes) -> str:
    """Guess the encoding of names that are not marked as Unicode.

    Windows writes Korean as cp949, in which a European name is also valid. But then
    Hangul occurs within words of other letters.
    """
    for letters in ("utf-8", "cp949"):
        with suppress(UnicodeError):
            text = names.decode(letters)
            own = "".join(re.findall(r"(?<![^\W\d_])[가-힣]+(?![^\W\d_])", text))
            if letters == "utf-8" or 2 * len(own) > len(re.findall("[가-힣]", text)):
                return letters
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


# --- notebooks ---------------------------------------------------------------------


def read_all(places: list, chapters: list[Chapter]) -> Iterator[HandIn | str]:
    """Yield a student's notebooks, and then remarks about the rest.

    Each place is a path, and the part of the zip there that belongs to the student.
    """
    reader, graded, problems, others = Reader(), False, [], []
    for path, inside in places:
        parts = ((inside or Path(path).parts)[-1],)
        for found in reader.at(Path(path), parts, tuple(inside)):
            name = shown("/".join(found.parts))
            try:
                hand_in = read_found(found, name, chapters)
            except Unreadable as error:
                kind = others if isinstance(error, NotOurs) else problems
                kind.append(f"{name}: {shown(str(error), TEXT)}")
                continue
            graded = True
            yield hand_in
    if not (graded or problems):
        problems = others[:3] or [f"{shown(parts[0])}: it contains no notebook"]
    yield from problems[:TOLD]
    if len(problems) > TOLD:
        yield f"{len(problems) - TOLD:,} more files or folders cannot be read"


def read_found(found: Found, name: str, chapters: list[Chapter]) -> HandIn:
    """Return the answers in one file that was found; raise Unreadable."""
    if isinstance(found.data, str):
        raise (NotOurs if found.data == NO_NOTEBOOK else Unreadable)(found.data)
    try:
        file = name.split("/")[-1]
        learner = learner_in(parse_notebook(found.data, file), file, chapters)
        answers, astray = learner.answers(), learner.astray()
    except Unreadable:
        raise
    except Exception as error:  # one odd file must not hide the others
        why = f"it cannot be read ({type(error).__name__}: {error})"
        raise Unreadable(why) from None
    there = {n: place for n, place in astray.items() if place != "no cell"}
    notes = [f"{n}: an answer seems to be in {place}" for n, place in there.items()]
    forms = {n: form_of("\n\n".join(cells)) for n, cells in answers.items()}
    slug = learner.chapter.slug
    return HandIn(slug, name, answers, notes, found.changed, forms)


def form_of(source: str) -> list[str]:
    """Return the lines of an answer in which its own variables are numbered.

    So two answers have the same form if they differ only in names, comments and spaces.
    """
    try:
        own, numbers = variables(source), {}
        lines = [line.text for line in lines_of(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source.split("\n")

    def numbered(word: re.Match) -> str:
        name = word[0].rstrip("=")
        mine = numbers.setdefault(name, f"v{len(numbers)}") if name in own else name
        return mine + word[0][len(name) :]

    return [WORD.sub(numbered, line) for line in lines]


# --- the process -------------------------------------------------------------------


def bound() -> None:
    """Limit the time and the memory of this process."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Do a job that comes as JSON; the last line says that it is the last."""
    bound()
    job, pristine = json.load(sys.stdin), ROOT / "classroom" / "pristine"
    chapters = [Chapter(pristine / f"{slug}.ipynb") for slug in job["chapters"]]
    for found in read_all(job["places"], chapters):
        note = isinstance(found, str)
        line = {"note": found} if note else {"hand_in": asdict(found)}
        print(json.dumps(line), flush=True)
    print(json.dumps({"end": True}), flush=True)


if __name__ == "__main__":
    main()
