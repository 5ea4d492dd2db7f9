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
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from classroom import ROOT
from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Chapter
from classroom.teacher.archives import (
    Parts,
    Place,
    entries,
    ignored,
    is_handed_in,
    printable,
    shown,
    why_not,
)
from classroom.teacher.reading import MEMORY, SECONDS, HandIn
from classroom.teacher.report import Student

TOGETHER = 120  # seconds within which files were packed, or unpacked, all at once
ATTEMPT = re.compile(r"_attempt_\d{4}(?:-\d\d){5}")  # Blackboard's
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
    r"(?P<id>(?:.+?_)?(?P<name>[^_]+))_attempt_\d{4}(?:-\d\d){5}.*",
]


class Owner(NamedTuple):
    """The owner of something, and whether a learning platform has named it."""

    name: str
    id: str = ""
    by_platform: bool = False


def submissions(path: Path, chapters: list[Chapter]) -> list[Student]:
    """Return the submission of each student, in the order of their names.

    Raises Unreadable if nothing at `path` can be a class.
    """
    by_student: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in places(path):
        who = owner(place.name)
        by_student[shown(who.name), shown(who.id)].append(place)
    slugs, students = [chapter.slug for chapter in chapters], sorted(by_student)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # they wait for processes
        return list(pool.map(lambda who: read(who, by_student[who], slugs), students))


def owner(name: str) -> Owner:
    """Return the owner of a folder, zip or file, by its name among the submissions."""
    name = unicodedata.normalize("NFC", name)
    for form in PLATFORMS:
        if match := re.fullmatch(form, name, re.DOTALL):
            return Owner(printable(match["name"]), printable(match["id"]), True)
    return Owner(printable(name.removesuffix(".zip").removesuffix(".ipynb")))


# --- where it lies -----------------------------------------------------------------


def places(path: Path) -> list[Place]:
    """Return the folders, zips and files of students at `path`; raise Unreadable."""
    if not path.exists():
        raise Unreadable(f"There is nothing at {path}.")
    path = path.absolute()
    if owner(path.name).by_platform:  # one student's
        return [Place(str(path))]
    if path.is_dir():
        inside = sorted(path.iterdir(), key=lambda each: each.name)
        inside = [each for each in inside if is_a_students(each.name, each.is_dir())]
        return [Place(str(each)) for each in inside]
    if zipfile.is_zipfile(path):
        return in_zip(path)
    raise Unreadable(
        f"{path.name} is neither a folder nor a zip. Give a folder with a folder "
        "or zip for each student, or the zip that the learning platform made."
    )


def is_a_students(name: str, is_folder: bool) -> bool:
    """Return whether something among the submissions has a row in the grades."""
    known = is_folder or is_handed_in(name) or owner(name).by_platform
    return known and not ignored(name)


def in_zip(path: Path) -> list[Place]:
    """Return the places in a zip of many students; raise Unreadable."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = entries(archive)
    except Exception as error:
        raise Unreadable(f"{path.name}: {shown(why_not('read', error))}") from None
    listed = [(entry.parts, entry.is_folder) for entry in found]
    listed = [(p, folder) for p, folder in listed if p and not any(map(ignored, p))]
    around = folder_around([parts for parts, folder in listed if not folder])
    depth, found = len(around) + 1, {}
    for parts, folder in listed:
        if parts[: len(around)] == around and len(parts) >= depth:
            inside = found.get(parts[:depth], False)
            found[parts[:depth]] = inside or folder or len(parts) > depth
    students = [p for p, is_folder in found.items() if is_a_students(p[-1], is_folder)]
    return [Place(str(path), list(parts)) for parts in students]


def folder_around(files: list[Parts]) -> Parts:
    """Return the folder that all students' folders lie in, if there is one, or ().

    A folder of the course is not a student's. If it is there, the zip is one student's.
    """
    handed_in = [parts for parts in files if is_handed_in(parts[-1])]
    firsts = {parts[:1] for parts in handed_in}
    seconds = {part for parts in handed_in for part in parts[1:2]}
    if len(firsts) != 1 or seconds & OF_COURSE:
        return ()
    deep = all(len(p) > 2 or p[1:] and p[1].lower().endswith(".zip") for p in handed_in)
    (around,) = firsts
    return around if deep and not owner(around[0]).by_platform else ()


# --- reading -----------------------------------------------------------------------


def read(who: tuple[str, str], places: list[Place], slugs: list[str]) -> Student:
    """Return a student with one notebook of each chapter.

    A separate process reads them. Of several of one chapter the newest counts.
    """
    lines, why = in_a_process({"chapters": slugs, "places": list(map(asdict, places))})
    student = Student(*who, notes=[line["note"] for line in lines if "note" in line])
    student.notes += [f"not all of it could be read: {why}"] if why else []
    hand_ins = [HandIn(**line["hand_in"]) for line in lines if "hand_in" in line]
    times = defaultdict(list)
    for hand_in in hand_ins:
        times[hand_in.chapter].append(hand_in.changed)
    apart = {c for c, all_of in times.items() if max(all_of) - min(all_of) > TOGETHER}
    for hand_in in sorted(hand_ins, key=lambda each: rank(each, each.chapter in apart)):
        other = student.hand_ins.get(hand_in.chapter, hand_in)
        student.hand_ins[hand_in.chapter] = hand_in
        ours = among_solutions(other) and not among_solutions(hand_in)
        if other.answers and other.answers != hand_in.answers and not ours:
            student.notes.append(
                f"{other.file}: not graded, since {hand_in.file} has the same chapter. "
                "Are these two students in one folder?"
            )
    return student


def rank(hand_in: HandIn, by_time: bool) -> tuple:
    """The sort key of submissions of one chapter: the last counts.

    A notebook of solutions/, which may be ours, comes first, then one without answers.
    The others go by the time that the learning platform put into their names, then by
    their files' times, and then by their names: "blame", "blame (1)", "blame (10)".
    """
    attempt = ATTEMPT.search(hand_in.file)
    changed = hand_in.changed if by_time else 0.0
    pieces = re.split(r"(\d+)", hand_in.file.removesuffix(".ipynb").casefold())
    name = [(piece.zfill(20) if piece.isdigit() else piece) for piece in pieces]
    told = attempt[0] if attempt else ""
    return not among_solutions(hand_in), bool(hand_in.answers), told, changed, name


def among_solutions(hand_in: HandIn) -> bool:
    """Return whether a notebook lies where the course has its own solutions."""
    return "solutions" in hand_in.file.split("/")


def in_a_process(job: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the output of reading.py for a job, and why it stopped early, or ""."""
    command = [sys.executable, "-P", "-m", "classroom.teacher.reading"]
    given = {"input": json.dumps(job).encode(), "cwd": ROOT, "timeout": WAIT}
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        said = subprocess.run(command, **given, **quiet).stdout
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
    lines = [json.loads(line) for line in said.splitlines(True) if line.endswith(b"\n")]
    if lines and lines[-1] == {"end": True}:
        return lines[:-1], ""
    return lines, f"it takes more than {SECONDS} seconds, or {MEMORY >> 20:,} MB"
