"""Take a newer course under filled-in exercises: `python3 course.py update`.

git is never asked to merge a notebook of exercises: the answers are saved, the newer
course is taken, and the answers are put back by exercise. Before anything else, a copy
of the whole folder exercises/ is put aside.
"""

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from classroom.check import NotOurs, open_learner
from classroom.notebooks import (
    ROOT,
    Chapter,
    Learner,
    Unreadable,
    all_chapters,
    carry_over,
    chapter_of,
    make_label,
    write_notebook,
)

LEFT_ALONE = {".git", ".venv", ".minigrad", "__pycache__", ".ipynb_checkpoints", "kept"}
NOBODY = ["-c", "user.name=minigrad", "-c", "user.email=minigrad@localhost"]
PLAIN_MERGE = ["-c", "commit.gpgsign=false", "-c", f"core.hooksPath={os.devnull}"]


class Problem(Exception):
    """The newer course cannot be taken; the text says why and what to do."""


@dataclass(frozen=True)
class Saved:
    """One file of exercises/ before the update; `learner` if its cells could be read."""

    name: str
    content: bytes
    learner: Learner | None
    problem: str = ""


def update_command(source: str | None = None, root: Path = ROOT) -> int:
    """Take the newer course from git, or from `source`, a folder or a zip file.

    Returns 0, or 2 if there is no newer course to be had; then nothing has changed.
    """
    console = Console(highlight=False)
    kept = root / "exercises" / "kept" / time.strftime("%Y-%m-%d-%H%M%S-before-update")
    try:
        with tempfile.TemporaryDirectory() as temporary:
            newer = find_newer(source, root, Path(temporary))
            if newer is None:
                console.print("You have the newest course already.")
                return 0
            for text in update(root, newer, kept):
                console.print(Text(text))
    except Problem as problem:
        console.print(Text(str(problem)))
        return 2
    console.print(Text(f"Before the update: {kept.relative_to(root).as_posix()}/"))
    console.print("The course is up to date. In JupyterLab, reload what is open.")
    return 0


def find_newer(source: str | None, root: Path, temporary: Path) -> Path | str | None:
    """The newer course: a folder, or the commit that git fetched; None if there is none.

    Raises Problem.
    """
    if source:
        return unpack(Path(source), root, temporary)
    if not (root / ".git").exists() or not shutil.which("git"):
        raise Problem(
            "This course was not cloned with git, or git is not installed here, so "
            "update needs to be told where the newer course is. Download its zip file, "
            "then: python3 course.py update PATH-OF-THE-ZIP"
        )
    return fetch(root)


def unpack(source: Path, root: Path, temporary: Path) -> Path:
    """The folder of the course in `source`, a folder or a zip file."""
    if not source.exists():
        raise Problem(f"There is no {source}. Give the zip file or folder of a course.")
    if source.is_file():
        try:
            with zipfile.ZipFile(source) as archive:
                archive.extractall(temporary)
        except (zipfile.BadZipFile, OSError) as error:
            raise Problem(f"{source} cannot be unpacked: {error}") from None
        source = temporary
    for folder in (source, *sorted(p for p in source.iterdir() if p.is_dir())):
        if any((folder / "classroom" / "pristine").glob("*.ipynb")):
            if folder.resolve() == root.resolve():
                raise Problem(f"{source} is this very course.")
            return folder
    raise Problem(f"{source} is not a course: it has no classroom/pristine/.")


def update(root: Path, newer: Path | str, kept: Path) -> list[str]:
    """Take `newer`, put the answers back; return what to tell. Raises Problem."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    leave_kept = shutil.ignore_patterns("kept", ".ipynb_checkpoints")
    shutil.copytree(root / "exercises", kept, ignore=leave_kept)
    if isinstance(newer, str):
        leave_conflict(root)
    old = all_chapters(root)
    saved = save(root, old)
    before = {path: (root / path).read_bytes() for path in in_the_way(root, newer)}
    for path, content in before.items():
        copy = kept / "course" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
    try:
        merge(root, newer, list(before)) if isinstance(newer, str) else copy_course(
            newer, root
        )
    except (Problem, OSError) as problem:
        for path, content in before.items():
            (root / path).write_bytes(content)
        for one in saved:
            (root / "exercises" / one.name).write_bytes(one.content)
        raise Problem(f"{problem}\nYour files are as they were.") from None
    told = put_back(root, saved, old, kept)
    if before:
        told.append(f"{len(before)} other changed files are replaced; yours are kept.")
    return told


def save(root: Path, chapters: list[Chapter]) -> list[Saved]:
    """Every notebook in exercises/, with what can be read of it."""
    saved = []
    for path in sorted((root / "exercises").glob("*.ipynb")):
        learner, problem = None, ""
        try:
            learner = open_learner(path, chapters)
        except NotOurs:
            pass
        except Unreadable as error:
            problem = str(error)
        saved.append(Saved(path.name, path.read_bytes(), learner, problem))
    return saved


def put_back(
    root: Path, saved: list[Saved], old: list[Chapter], kept: Path
) -> list[str]:
    """Write each notebook of exercises/: the newer course's, with the learner's cells."""
    folder, told = root / "exercises", []
    new = all_chapters(root)
    slugs = {chapter.slug for chapter in new}
    for chapter in old:
        (folder / f"{chapter.slug}.ipynb").unlink(missing_ok=True)
    for chapter in new:
        shutil.copyfile(chapter.path, folder / f"{chapter.slug}.ipynb")
    for one in saved:
        if one.problem:
            told.append(f"{one.problem}\n  It is kept as it was; a fresh one is here.")
            if Path(one.name).stem not in slugs:
                (folder / one.name).write_bytes(one.content)
        elif one.learner is None:
            (folder / one.name).write_bytes(one.content)
        elif one.content != one.learner.chapter.path_content:
            told += _put_back_one(folder, one, new, kept)
    return told


def _put_back_one(
    folder: Path, one: Saved, new: list[Chapter], kept: Path
) -> list[str]:
    learner = one.learner
    name = one.name
    chapter = chapter_of(learner.notebook, new)
    if chapter is None or not set(chapter.exercises) & set(learner.chapter.exercises):
        (folder / name).unlink(missing_ok=True)
        return [f"{name}: the chapter is no longer there. Yours is kept."]
    if chapter.notebook == learner.chapter.notebook:
        (folder / name).write_bytes(one.content)
        return []
    if name == f"{learner.chapter.slug}.ipynb":
        name = f"{chapter.slug}.ipynb"
    carried = carry_over(learner, chapter)
    write_notebook(folder / name, carried.notebook)
    told = [f"{name}: {_answers_back(learner, chapter)}"]
    if carried.homeless:
        path = kept / f"removed-{name}"
        write_notebook(path, {**chapter.notebook, "cells": carried.homeless})
        told.append(f"  Answers to exercises that were removed: {path.name}.")
    if carried.edited:
        told.append(f"  {carried.edited} cells of the course that you changed are new.")
    return told


def _answers_back(learner: Learner, chapter: Chapter) -> str:
    names = [name for name in learner.answers() if name in chapter.exercises]
    changed = [n for n in names if _texts(learner.chapter, n) != _texts(chapter, n)]
    text = f"your answers are back in place ({', '.join(names) or 'none so far'})."
    return text + (f" Changed: {', '.join(changed)}; check them." if changed else "")


def _texts(chapter: Chapter, name: str) -> list[str]:
    kinds = ("exercise", "answer", "check")
    return [chapter.cells[make_label(kind, name)]["source"] for kind in kinds]


def in_the_way(root: Path, newer: Path | str) -> list[str]:
    """Files outside exercises/ that differ from ours and that `newer` would replace."""
    if isinstance(newer, Path):
        found = [p for p in course_files(newer) if (root / p).is_file()]
        return [
            p for p in found if (root / p).read_bytes() != (newer / p).read_bytes()
        ]
    ours = names(root, "diff", "--name-only", "-z", "HEAD")
    ours += names(root, "ls-files", "--others", "--exclude-standard", "-z")
    incoming = set(names(root, "ls-tree", "-r", "--name-only", "-z", newer))
    incoming &= set(names(root, "diff", "--name-only", "-z", "HEAD", newer))
    incoming |= set(names(root, "diff", "--name-only", "-z", "HEAD", newer))
    return [
        p
        for p in ours
        if p in incoming and not p.startswith("exercises/") and (root / p).is_file()
    ]
