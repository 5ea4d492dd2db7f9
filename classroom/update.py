"""Take a newer course under filled-in exercises: `python3 course.py update`.

git is never asked to merge a notebook of exercises: the answers are saved, the newer
course is taken, and the answers are put back by exercise. Before anything else, a copy
of the whole folder exercises/ is put aside.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
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
    place_to_keep,
    write_notebook,
)

LEFT_ALONE = {
    ".git",
    ".venv",
    ".venv.lock",
    ".minigrad",
    "__pycache__",
    ".ipynb_checkpoints",
    "kept",
}
NOBODY = ["-c", "user.name=minigrad", "-c", "user.email=minigrad@localhost"]
OF_ITS_OWN = (  # how to start a program that Ctrl-C in this terminal does not reach
    {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    if os.name == "nt"
    else {"start_new_session": True}
)
PLAIN_MERGE = ["-c", "commit.gpgsign=false", "-c", f"core.hooksPath={os.devnull}"]


class Problem(Exception):
    """The newer course cannot be taken; the text says why and what to do."""


@dataclass(frozen=True)
class Saved:
    """A file of exercises/ before the update; `learner` if it could be read."""

    name: str
    content: bytes
    learner: Learner | None
    problem: str = ""


def update_command(source: str | None = None, root: Path = ROOT) -> int:
    """Take the newer course from git, or from `source`, a folder or a zip file.

    Returns 0, 2 if there is no newer course to be had (then nothing has changed), or
    130 if interrupted.
    """
    console = Console(highlight=False)
    kept = place_to_keep(root, "", "-before-update")
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            newer = find_newer(source, root, Path(temporary))
            if newer is None:
                console.print("You have the newest course already.")
                return 0
            for text in update(root, newer, kept):
                console.print(Text(text))
    except Problem as problem:
        console.print(Text(str(problem)))
        return 2
    except KeyboardInterrupt:
        console.print("Stopped. Your notebooks are as they were; update again.")
        return 130
    console.print(Text(f"Before the update: {kept.relative_to(root).as_posix()}/"))
    console.print("The course is up to date. In JupyterLab, reload what is open.")
    return 0


def find_newer(source: str | None, root: Path, temporary: Path) -> Path | str | None:
    """The newer course: a folder, or a commit; None if this is it. Raises Problem."""
    if source:
        return unpack(Path(source), root, temporary)
    if not (root / ".git").exists() or not shutil.which("git"):
        raise Problem(
            "This course was not cloned with git, or git is not installed here, so "
            "update needs to be told where the newer course is. Download its zip file, "
            "then:\n    python3 course.py update PATH-OF-THE-ZIP"
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
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as error:
            raise Problem(f"{source} cannot be unpacked: {error}") from None
        source = temporary
    for folder in (source, *sorted(p for p in source.iterdir() if p.is_dir())):
        if any((folder / "classroom" / "pristine").glob("*.ipynb")):
            if folder.resolve() == root.resolve():
                raise Problem(f"{source} is this very course.")
            return folder
    raise Problem(f"{source} is not a course: it has no classroom/pristine/.")


def update(root: Path, newer: Path | str, kept: Path) -> list[str]:
    """Take `newer`, put the answers back, and return what to tell of each notebook.

    Raises Problem if `newer` cannot be taken; every file is then as it was.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    leave_out = shutil.ignore_patterns("kept", ".ipynb_checkpoints")
    shutil.copytree(root / "exercises", kept, ignore=leave_out)
    by_git = isinstance(newer, str)
    if by_git:
        leave_conflict(root)
    old = all_chapters(root)
    saved = save(root, old)
    replaced = (replaced_by_merge if by_git else replaced_by_copy)(root, newer)
    contents = {name: (root / name).read_bytes() for name in replaced}
    others = {n: c for n, c in contents.items() if not is_exercise(n)}
    write_files(kept / "course", others)
    exercises = {f"exercises/{one.name}": one.content for one in saved}
    try:
        with uninterrupted():
            merge(root, newer, replaced) if by_git else copy_course(root, newer)
            told = put_back(root, saved, old, kept)
    except BaseException as error:
        write_files(root, contents | exercises)
        if not isinstance(error, Problem | OSError):
            raise
        told = "Your notebooks, and what you had changed, are as they were."
        raise Problem(f"{error}\n{told}") from None
    if others:
        told.append(f"{len(others)} more files were different; yours are kept too.")
    return told


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait, which would leave half of one course and half of another."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals do not come here
        return

    def wait(*_):
        print("One moment: the update is nearly done.", flush=True)

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def write_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Write each of `contents` to its place in `folder`."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def is_exercise(name: str) -> bool:
    """Whether the file is a notebook that learners fill in."""
    return name.startswith("exercises/") and name.endswith(".ipynb")


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
    """Write each notebook of exercises/: the newer one, with the learner's cells."""
    folder, new, told = root / "exercises", all_chapters(root), []
    for chapter in old:
        (folder / f"{chapter.slug}.ipynb").unlink(missing_ok=True)
    fresh = {c.slug: c.path for c in new if c.slug not in renamed(saved)}
    for slug, source in fresh.items():
        shutil.copyfile(source, folder / f"{slug}.ipynb")
    for one in saved:
        path = folder / one.name
        if one.learner:
            told += _put_back_one(path, one, new, kept)
        elif one.problem and path.stem in fresh:
            told.append(
                f"{one.problem}\n  It is kept, and a fresh one is in its place."
            )
        else:
            path.write_bytes(one.content)
    return told


def renamed(saved: list[Saved]) -> set[str]:
    """The chapters that the learner keeps under another name, and only there."""
    usual = {one.name for one in saved}
    slugs = {one.learner.chapter.slug for one in saved if one.learner}
    return {slug for slug in slugs if f"{slug}.ipynb" not in usual}


def _put_back_one(path: Path, one: Saved, new: list[Chapter], kept: Path) -> list[str]:
    learner, before = one.learner, one.learner.chapter
    if learner.notebook == before.notebook and path.stem == before.slug:
        return []
    chapter = chapter_of(learner.notebook, new)
    if chapter is None:
        path.unlink(missing_ok=True)
        return [f"{path.name}: the course has this chapter no longer; yours is kept."]
    about = learner.notebook["metadata"].get("minigrad")
    if chapter.notebook == before.notebook and about == chapter.about:
        path.write_bytes(one.content)
        return []
    name = f"{chapter.slug}.ipynb" if path.stem == before.slug else path.name
    carried = carry_over(learner, chapter)
    write_notebook(path.with_name(name), carried.notebook)
    told = [f"{name}: {_what_is_back(learner, chapter)}"]
    if carried.homeless:
        cells = {**before.notebook, "cells": carried.homeless}
        write_notebook(kept / f"removed-{name}", cells)
        told.append(f"  Your cells of exercises that are gone: kept in removed-{name}.")
    if carried.edited:
        told.append(
            f"  Cells of the course that you had changed: {carried.edited}. As you had "
            f"them they are in {kept.name}/, the newer ones in their place."
        )
    return told


def _what_is_back(learner: Learner, chapter: Chapter) -> str:
    back = [name for name in learner.answers() if name in chapter.exercises]
    changed = [n for n in back if _texts(learner.chapter, n) != _texts(chapter, n)]
    text = f"answers back in place: {', '.join(back) or 'none'}."
    return text + (f" Changed, check again: {', '.join(changed)}." if changed else "")


def _texts(chapter: Chapter, name: str) -> list[str]:
    kinds = ("exercise", "answer", "check")
    return [chapter.cells[make_label(kind, name)]["source"] for kind in kinds]


# A newer course in a folder


def course_files(folder: Path) -> list[str]:
    """The files of a course, but for the notebooks of exercises."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    names = [path.as_posix() for path in paths if not LEFT_ALONE & set(path.parts)]
    return [name for name in names if not is_exercise(name)]


def gone_files(root: Path, newer: Path) -> list[str]:
    """The notebooks of chapters that the newer course does not have.

    None are if it is a release: that may have other chapters than the one before.
    """
    if not (newer / "chapters").is_dir():
        return []
    folders = ("classroom/pristine", "notebooks", "solutions")
    slugs = {path.name for path in (root / folders[0]).glob("*.ipynb")}
    slugs -= {path.name for path in (newer / folders[0]).glob("*.ipynb")}
    names = [f"{folder}/{name}" for folder in folders for name in slugs]
    return [name for name in names if (root / name).exists()]


def replaced_by_copy(root: Path, newer: Path) -> list[str]:
    """The files here that `copy_course` will change or remove."""
    both = [name for name in course_files(newer) if (root / name).is_file()]
    changed = [n for n in both if (root / n).read_bytes() != (newer / n).read_bytes()]
    return changed + gone_files(root, newer)


def copy_course(root: Path, newer: Path) -> None:
    """Copy the newer course over this one."""
    for name in gone_files(root, newer):
        (root / name).unlink()
    for name in course_files(newer):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(newer / name, root / name)


# A newer course in git


def git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git in the course, never asking for a password; Ctrl-C does not reach it."""
    return subprocess.run(
        ["git", *NOBODY, *PLAIN_MERGE, *words],
        cwd=root,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        **OF_ITS_OWN,
    )


def names(root: Path, *words: str) -> list[str]:
    """The file names that a git command lists; none if it fails."""
    done = git(root, *words, "-z")
    return done.stdout.split("\0")[:-1] if done.returncode == 0 else []


def fetch(root: Path) -> str | None:
    """The newest commit of the course, or None if it is here already."""
    inside = git(root, "rev-parse", "--git-path", "rebase-merge").stdout.strip()
    if (root / inside).exists():
        raise Problem(
            "A git rebase is under way here. Finish it or `git rebase --abort`, then "
            "update again."
        )
    remotes = git(root, "remote").stdout.split()
    if not remotes:
        raise Problem(
            "This clone does not know where the course comes from. Give update a "
            "folder or a zip file, or tell git once:\n"
            "    git remote add upstream ADDRESS"
        )
    remote = next((r for r in ("upstream", "origin") if r in remotes), remotes[0])
    done = git(root, "fetch", "--quiet", remote)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        why = next((line for line in said if line.startswith("fatal:")), said[-1])
        raise Problem(f"git could not fetch the newer course: {why}")
    for branch in ("HEAD", "main", "master"):
        commit = git(
            root, "rev-parse", "--verify", "-q", f"{remote}/{branch}^{{commit}}"
        )
        if commit.returncode == 0:
            break
    else:
        raise Problem(
            f"{remote} has no branch main. Give update a folder or a zip file."
        )
    newest = commit.stdout.strip()
    have = git(root, "merge-base", "--is-ancestor", newest, "HEAD").returncode == 0
    return None if have and not conflicts(root) else newest


def conflicts(root: Path) -> list[str]:
    """The files that git could not merge, and left with its marks in them."""
    return names(root, "diff", "--name-only", "--diff-filter=U")


def leave_conflict(root: Path) -> None:
    """End a merge that stopped at a conflict, with the learner's side of each file."""
    if git(root, "rev-parse", "-q", "--verify", "MERGE_HEAD").returncode == 0:
        git(root, "merge", "--abort")
    for name in conflicts(root):
        git(root, "checkout", "--theirs", "--", name)  # of a stash: the learner's
    git(root, "reset", "-q")


def replaced_by_merge(root: Path, commit: str) -> list[str]:
    """The files with changes that are in no commit, and that a merge would change."""
    listed = ("diff", "--name-only", "--no-renames")
    incoming = set(names(root, *listed, f"HEAD...{commit}"))
    incoming = incoming or set(names(root, *listed, "HEAD", commit))
    here = names(root, *listed, "HEAD")
    here += names(root, "ls-files", "--others", "--exclude-standard")
    return [name for name in here if name in incoming and (root / name).is_file()]


def merge(root: Path, commit: str, replaced: list[str]) -> None:
    """Merge `commit`; where both sides changed a line, the newer course's counts."""
    for name in replaced:
        if git(root, "checkout", "HEAD", "--", name).returncode:
            (root / name).unlink()  # git does not know it
    words = ("--no-edit", "--ff", "-X", "theirs", "--allow-unrelated-histories")
    done = git(root, "merge", "--quiet", *words, commit)
    if done.returncode == 0:
        return
    for name in conflicts(root):
        if git(root, "checkout", commit, "--", name).returncode:
            git(root, "rm", "-q", "-f", "--", name)  # the newer course removed it
    if git(root, "commit", "-q", "--no-edit").returncode:
        git(root, "reset", "-q", "--merge")
        why = (done.stderr + done.stdout).strip() or "no reason given"
        raise Problem(f"git could not take the newer course:\n{why}")
