"""Find the submissions, wherever they are, and their owners.

Only the outermost name says who owns something. It is the name of the folder, zip or
file among the submissions, which the learning platform or the teacher gave. reading.py
reads the contents, student by student, in processes with limits.
"""

import json
import os
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from classroom import ROOT
from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Chapter
from classroom.teacher.reading import (
    MEMORY,
    SECONDS,
    Parts,
    entries,
    ignored,
    is_handed_in,
    is_zip,
    why_not,
)
from classroom.teacher.students import HandIn, Student, printable, shown

TOGETHER = 120  # seconds within which files were packed, or unpacked, all at once
WAIT = 6 * SECONDS  # of the clock: the machine may have more to do
OF_COURSE = {"exercises", "notebooks", "classroom"}
OF_CANVAS = r"_(?:\d{4,}_|text\.|link\.).*"
PLATFORMS = [  # how each names a student's folder, or begins the name of a file
    # Moodle: "Ada Lovelace_1234_assignsubmission_file_"
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z].*",
    # Canvas: "lovelaceada_LATE_1234_5678_04_blame-1.ipynb"; where it hides the names,
    # "LATE_anon_x7Kq2_5678_04_blame-1.ipynb"
    r"(?P<name>\w+?)_(?:LATE_)?(?P<id>\d+)" + OF_CANVAS,
    r"(?:LATE_)?(?P<name>(?P<id>anon_[^\W_]+))" + OF_CANVAS,
    # Blackboard: "Blame_ada_attempt_2027-03-01-17-59-00_04_blame.ipynb"
    r"(?P<id>(?:.+?_)?(?P<name>[^_]+))_attempt_(?P<when>\d{4}(?:-\d\d){5}).*",
]


def submissions(path: Path, chapters: list[Chapter], zone: str = "") -> list[Student]:
    """Return the submission of each student, in the order of their names.

    The times in zips are of a time zone, or else of this machine's. Raises Unreadable
    if nothing at `path` can be a class.
    """
    by_student: dict[tuple[str, str], list] = defaultdict(list)
    for place, inside in places(path):
        name = (inside or Path(place).parts)[-1]
        by_student[tuple(map(shown, owner(name)))].append((place, inside))
    slugs = [chapter.slug for chapter in chapters]

    def one(who: tuple[str, str]) -> Student:
        return read(who, {"chapters": slugs, "places": by_student[who], "zone": zone})

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # they wait for processes
        return list(pool.map(one, sorted(by_student)))


def owner(name: str) -> tuple[str, str]:
    """Return the owner of a folder, zip or file: a name, and an id or ""."""
    name = unicodedata.normalize("NFC", name)
    if match := by_platform(name):
        return printable(match["name"]), printable(match["id"])
    return printable(name.removesuffix(".zip").removesuffix(".ipynb")), ""


def by_platform(name: str) -> re.Match | None:
    """Return the parts of a name that a learning platform has given, or None."""
    matches = (re.fullmatch(form, name, re.DOTALL) for form in PLATFORMS)
    return next(filter(None, matches), None)


def attempt(file: str) -> datetime | None:
    """Return the time that Blackboard puts into an outermost name, or None."""
    match = by_platform(file.partition("/")[0])
    with suppress(LookupError, TypeError, ValueError):
        return datetime.strptime(match["when"], "%Y-%m-%d-%H-%M-%S")
    return None


# --- where it lies -----------------------------------------------------------------


def places(path: Path) -> list[tuple[str, Parts]]:
    """Return each student's folder, zip or file at `path`; raise Unreadable.

    It is a path, or the path of a zip of many students and the part of it that counts.
    """
    if not path.exists():
        raise Unreadable(f"There is nothing at {path}.")
    path = path.absolute()
    if by_platform(path.name):  # one student's
        return [(str(path), ())]
    if path.is_dir():
        found = {(each.name,): each.is_dir() for each in path.iterdir()}
    elif zipfile.is_zipfile(path):
        found = in_zip(path)
    else:
        raise Unreadable(
            f"{path.name} is neither a folder nor a zip. Give a folder with a folder "
            "or zip for each student, or the zip that the learning platform made."
        )
    # Whatever a platform has named has a row in the grades, too
    names = sorted(
        parts
        for parts, is_folder in found.items()
        if (is_folder or is_handed_in(parts[-1]) or by_platform(parts[-1]))
        and not ignored(parts[-1])
    )
    if path.is_dir():
        return [(str(path / name), ()) for (name,) in names]
    return [(str(path), parts) for parts in names]


def in_zip(path: Path) -> dict[Parts, bool]:
    """Return what is in a zip of many students, and whether each is a folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            listed = [(names, folder) for _, names, folder in entries(archive)]
    except Exception as error:
        raise Unreadable(f"{path.name}: {shown(why_not('read', error))}") from None
    listed = [(p, folder) for p, folder in listed if p and not any(map(ignored, p))]
    around = folder_around([parts for parts, is_folder in listed if not is_folder])
    depth, found = len(around) + 1, {}
    for parts, is_folder in listed:
        if parts[: len(around)] == around and len(parts) >= depth:
            one = parts[:depth]
            found[one] = found.get(one, False) or is_folder or len(parts) > depth
    return found


def folder_around(files: list[Parts]) -> Parts:
    """Return the folder that all students' folders lie in, if there is one, or ().

    A folder of the course is not a student's. If it is there, the zip is one student's.
    """
    handed_in = [parts for parts in files if is_handed_in(parts[-1])]
    firsts = {parts[:1] for parts in handed_in}
    seconds = {part for parts in handed_in for part in parts[1:2]}
    if len(firsts) != 1 or seconds & OF_COURSE:
        return ()
    deep = all(len(p) > 2 or p[1:] and is_zip(p[1]) for p in handed_in)
    (around,) = firsts
    return around if deep and not by_platform(around[0]) else ()


# --- reading -----------------------------------------------------------------------


def read(who: tuple[str, str], job: dict) -> Student:
    """Return a student with all notebooks of each chapter.

    A separate process reads them. Of several of one chapter the newest counts.
    """
    lines, why = in_a_process(job)
    student = Student(*who, notes=[line["note"] for line in lines if "note" in line])
    student.notes += [f"not all of it could be read: {why}"] if why else []
    for line in lines:
        if "hand_in" in line:
            hand_in = HandIn(**line["hand_in"])
            student.attempts.setdefault(hand_in.chapter, []).append(hand_in)
    attempts = sorted(student.attempts.items())  # by chapter
    student.attempts = {chapter: in_order(found) for chapter, found in attempts}
    place, inside = job["places"][0]
    if re.fullmatch(PLATFORMS[0], (inside or Path(place).parts)[-1], re.DOTALL):
        student.moodle = student.id
    return student


def in_order(hand_ins: list[HandIn]) -> list[HandIn]:
    """Return a student's notebooks of one chapter, the one that counts last.

    A notebook of solutions/, which may be ours, comes first, then one without answers.
    The others go by the time that the learning platform put into their names, then by
    their files' times, and then by their names: "blame", "blame (1)", "blame (10)".
    """
    times = [hand_in.changed for hand_in in hand_ins]
    by_time = max(times) - min(times) > TOGETHER

    def rank(hand_in: HandIn) -> tuple:
        pieces = re.split(r"(\d+)", hand_in.file.removesuffix(".ipynb").casefold())
        name = [(piece.zfill(20) if piece.isdigit() else piece) for piece in pieces]
        told = attempt(hand_in.file) or datetime.min
        changed = hand_in.changed if by_time else 0.0
        theirs = not hand_in.among_solutions
        return theirs, bool(hand_in.answers), told, changed, name

    return sorted(hand_ins, key=rank)


def in_a_process(job: dict) -> tuple[list[dict], str]:
    """Return the output of reading.py for a job, and why it stopped early, or ""."""
    command = [sys.executable, "-P", "-m", "classroom.teacher.reading"]
    given = {"input": json.dumps(job).encode(), "cwd": ROOT, "timeout": WAIT}
    given["env"] = os.environ | ({"TZ": job["zone"]} if job["zone"] else {})
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        said = subprocess.run(command, **given, **quiet).stdout
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
    lines = [json.loads(line) for line in said.splitlines(True) if line.endswith(b"\n")]
    if lines and lines[-1] == {"end": True}:
        return lines[:-1], ""
    return lines, f"it takes more than {SECONDS} seconds, or {MEMORY >> 20:,} MB"
