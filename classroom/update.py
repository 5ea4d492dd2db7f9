"""Take a newer course under filled-in exercises: `python3 course.py update`.

git is never asked to merge a notebook of exercises: the answers are saved, the newer
course is laid out beside this one, the answers are put into it by exercise, and only
then does all of it take its place, as journal.py tells. Before anything else, a copy of
the whole folder exercises/ is put aside.
"""

import os
import shutil
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from classroom.check import NotOurs, open_learner
from classroom.journal import (
    CHANGE,
    JOURNAL,
    NOT_ENDED,
    UNCHANGED,
    Trouble,
    alone,
    clear,
    digest,
    digest_at,
    finish,
    git,
    must,
    uninterrupted,
    write_journal,
)
from classroom.notebooks import (
    COURSE,
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
FOLDERS = ("exercises", "notebooks", "solutions", "classroom", "chapters", "minigrad")
ROOM = 4  # times the size of the course: kept, unpacked, laid out, and git's own


@dataclass(frozen=True)
class Saved:
    """A file of exercises/ before the update; `learner` if it could be read."""

    name: str
    content: bytes
    learner: Learner | None
    problem: str = ""


@dataclass(frozen=True)
class Newer:
    """A newer course in a folder, and which files of it differ from those here.

    `gone` are those it does not have, `mine` those of both with changes that are to be
    kept; HEAD goes from `was` to `commit`. Exercises are not among them.
    """

    folder: Path
    changed: list[str]
    gone: list[str]
    mine: list[str]
    commit: str = ""
    was: str = ""


def update_command(source: str | None = None, root: Path = ROOT) -> int:
    """Take the newer course from git, or from `source`, a folder or a zip file.

    Returns 0, 2 if there is no newer course to be had (then nothing has changed), or
    130 if interrupted.
    """
    console = Console(highlight=False)
    try:
        with alone(root):
            return _update_alone(source, root, console)
    except Trouble as trouble:
        console.print(Text(str(trouble)))
        return 2


def _update_alone(source: str | None, root: Path, console: Console) -> int:
    kept = place_to_keep(root, "", "-before-update")
    clear(root)
    try:
        ask_for_room(root)
        (root / CHANGE).mkdir(parents=True)
        newer = find_newer(source, root, root / CHANGE)
        if newer is None:
            console.print("You have the newest course already.")
            return 0
        dates = [told_date(version(*c)) for c in (_place(newer, root), (root,))]
        for text in update(root, newer, kept):
            console.print(Text(text))
    except KeyboardInterrupt:
        console.print("Stopped. Your notebooks are as they were; update again.")
        return 130
    except OSError as error:
        begun = (root / JOURNAL).exists()
        raise Trouble(
            NOT_ENDED.format(why=error) if begun else f"{error}\n{UNCHANGED}"
        ) from None
    finally:
        if not (root / JOURNAL).exists():
            clear(root)
    console.print(Text(f"Before the update: {kept.relative_to(root).as_posix()}/"))
    console.print(f"The course is up to date: that {dates[0]}, after that {dates[1]}.")
    console.print("In JupyterLab, reload what is open.")
    return 0


def ask_for_room(root: Path) -> None:
    """Raise Trouble if the disk has too little room for an update."""
    folders = [root / name for name in FOLDERS]
    files = [folder / name for folder in folders for name in course_files(folder)]
    needed = ROOM * sum(path.stat().st_size for path in files)
    free = shutil.disk_usage(root).free
    if free < needed:
        raise Trouble(
            f"The disk is nearly full: an update needs {needed / 1e6:.1f} MB of room "
            f"for a while, and there are {free / 1e6:.1f} MB. Make room, then update "
            f"again. {UNCHANGED}"
        )


# Where the newer course is


def find_newer(source: str | None, root: Path, temporary: Path) -> Path | str | None:
    """The newer course: a folder, or a commit; None if this is it. Raises Trouble."""
    if source:
        return unpack(Path(source), root, temporary)
    if not (root / ".git").exists() or not shutil.which("git"):
        raise Trouble(
            "This course was not cloned with git, or git is not installed here, so "
            "update needs to be told where the newer course is. Download its zip file, "
            f"then:\n    {COURSE} update PATH-OF-THE-ZIP"
        )
    return fetch(root)


def unpack(source: Path, root: Path, temporary: Path) -> Path:
    """The folder of the course in `source`, a folder or a zip file; asks if unsure."""
    if not source.exists():
        raise Trouble(f"There is no {source}. Give the zip file or folder of a course.")
    place = source
    if source.is_file():
        place = temporary / "unpacked"
        try:
            with zipfile.ZipFile(source) as archive:
                archive.extractall(place)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as error:
            raise Trouble(f"{source} cannot be unpacked: {error}") from None
    folder = course_in(place, source)
    if folder.resolve() == root.resolve():
        raise Trouble(f"{source} is this very course.")
    there, here = version(folder), version(root)
    if here and not (there and there.timestamp() >= here.timestamp()):
        ask(
            f"The course in {source} is {told_date(there)}, yours {told_date(here)}. "
            "Take it, though it may be older?"
        )
    return folder


def course_in(place: Path, source: Path) -> Path:
    """The course that `place` is, or has as its only folder; else, ask for one."""
    inside = sorted(path for path in place.iterdir() if path.is_dir())
    found = [p for p in (place, *inside) if any(p.glob("classroom/pristine/*.ipynb"))]
    if not found:
        raise Trouble(f"{source} is not a course: it has no classroom/pristine/.")
    if found[0] != place and len(list(place.iterdir())) > 1:
        others = ", ".join(path.name for path in found[1:])
        others = f" Other courses in it: {others}." if others else ""
        ask(
            f"{source} is not a course itself; {found[0].name} in it is one, "
            f"{told_date(version(found[0]))}.{others} Take {found[0].name}?"
        )
    return found[0]


def ask(question: str) -> None:
    """Raise Trouble if the answer is not yes, or there is nobody to answer."""
    answer = ""
    with suppress(EOFError):
        answer = input(f"{question} [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise Trouble(f"\nNothing was taken. {UNCHANGED}")


def version(folder: Path, commit: str = "HEAD") -> datetime | None:
    """When the course in a folder was published: its archive says so, or else git."""
    told = folder / "classroom" / "version.txt"
    date = told.read_text(encoding="utf-8").strip() if told.is_file() else ""
    if "$" in date or commit != "HEAD":  # no archive
        date = ""
    with suppress(ValueError, OSError):
        paths = ("--", "classroom", "chapters")  # what a learner does not commit
        date = date or git(folder, "log", "-1", "--format=%cI", commit, *paths).stdout
        return datetime.fromisoformat(date.strip())
    return None


def _place(newer: Path | str, root: Path) -> tuple:
    return (newer,) if isinstance(newer, Path) else (root, newer)


def told_date(date: datetime | None) -> str:
    """A version, as a person reads it."""
    return f"of {date:%Y-%m-%d %H:%M}" if date else "of an unknown date"


# The update


def update(root: Path, source: Path | str, kept: Path) -> list[str]:
    """Take the course at `source`, put the answers back, and return what to tell.

    Raises Trouble or OSError; without a journal every file is then as it was.
    """
    (root / "exercises").mkdir(exist_ok=True)
    leave_out = shutil.ignore_patterns("kept", ".ipynb_checkpoints")
    shutil.copytree(root / "exercises", root / CHANGE / "kept", ignore=leave_out)
    kept.parent.mkdir(exist_ok=True)
    shutil.move(root / CHANGE / "kept", kept)
    newer = (by_copy if isinstance(source, Path) else by_merge)(root, source)
    files = root / CHANGE / "files"
    aside = files / kept.relative_to(root)
    copy(root, newer.mine, aside / "course")
    copy(newer.folder, newer.changed, files)
    new, saved = newer_chapters(root, newer), save(root, all_chapters(root))
    told = put_back(saved, new, files / "exercises", aside)
    if newer.mine:
        told.append(f"{len(newer.mine)} more files were different; yours are kept too.")
    gone = newer.gone + drop_unchanged(saved, files / "exercises")
    before = {f"exercises/{path.name}": "" for path in files.glob("exercises/*.ipynb")}
    before |= {f"exercises/{one.name}": digest(one.content) for one in saved}
    journal = {"told": told, "gone": gone, "before": before}
    journal |= {"commit": newer.commit, "was": newer.was}
    with uninterrupted():
        write_journal(root, journal)
        return finish(root)


def copy(source: Path, names: list[str], target: Path) -> None:
    """Copy these files of one folder to the same places in another."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)


def is_exercise(name: str) -> bool:
    """Whether the file is a notebook that learners fill in."""
    return name.startswith("exercises/") and name.endswith(".ipynb")


def newer_chapters(root: Path, newer: Newer) -> list[Chapter]:
    """The chapters that there will be."""
    slugs = {chapter.slug: chapter for chapter in all_chapters(root)}
    slugs |= {chapter.slug: chapter for chapter in all_chapters(newer.folder)}
    gone = {Path(n).stem for n in newer.gone if n.startswith("classroom/pristine/")}
    return [slugs[slug] for slug in sorted(slugs.keys() - gone)]


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
    saved: list[Saved], new: list[Chapter], folder: Path, kept: Path
) -> list[str]:
    """Write all of exercises/ into `folder`: newer notebooks, the learner's cells."""
    kept.mkdir(parents=True, exist_ok=True)  # and so `folder`, which it is in
    told = []
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


def drop_unchanged(saved: list[Saved], folder: Path) -> list[str]:
    """Leave out of `folder` what stays as it is; return what it has no longer."""
    gone = []
    for one in saved:
        path = folder / one.name
        if not path.exists():
            gone.append(f"exercises/{one.name}")
        elif path.read_bytes() == one.content:
            path.unlink()
    return gone


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
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = set(folders) - LEFT_ALONE
        paths = [Path(place, name) for name in files if name not in LEFT_ALONE]
        names += [path.relative_to(folder).as_posix() for path in paths]
    return sorted(name for name in names if not is_exercise(name))


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


def by_copy(root: Path, newer: Path) -> Newer:
    """The newer course in a folder; a file that differs may hold a learner's change."""
    files = course_files(newer)
    changed = [n for n in files if digest_at(root / n) != digest_at(newer / n)]
    gone = gone_files(root, newer)
    mine = [n for n in changed + gone if (root / n).is_file()]
    return Newer(newer, changed, gone, mine)


# A newer course in git


def names(root: Path, *words: str) -> list[str]:
    """The file names that a git command lists; none if it fails."""
    done = git(root, *words, "-z")
    return done.stdout.split("\0")[:-1] if done.returncode == 0 else []


def fetch(root: Path) -> str | None:
    """The newest commit of the course, or None if it is here already."""
    inside = git(root, "rev-parse", "--git-path", "rebase-merge").stdout.strip()
    if (root / inside).exists():
        raise Trouble(
            "A git rebase is under way here. Finish it or `git rebase --abort`, then "
            "update again."
        )
    remotes = git(root, "remote").stdout.split()
    if not remotes:
        raise Trouble(
            "This clone does not know where the course comes from. Give update a "
            "folder or a zip file, or tell git once:\n"
            "    git remote add upstream ADDRESS"
        )
    remote = next((r for r in ("upstream", "origin") if r in remotes), remotes[0])
    done = git(root, "fetch", "--quiet", remote)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        why = next((line for line in said if line.startswith("fatal:")), said[-1])
        raise Trouble(f"git could not fetch the newer course: {why}")
    for branch in ("HEAD", "main", "master"):
        commit = git(
            root, "rev-parse", "--verify", "-q", f"{remote}/{branch}^{{commit}}"
        )
        if commit.returncode == 0:
            break
    else:
        raise Trouble(
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


def by_merge(root: Path, commit: str) -> Newer:
    """The newer course as git merges it with what is committed here."""
    leave_conflict(root)
    was = git(root, "rev-parse", "HEAD").stdout.strip()
    folder = root / CHANGE / "merged"
    merged = merge(root, commit, folder)
    listed = ("diff", "--name-only", "--no-renames")
    files = [n for n in names(root, *listed, was, merged) if not is_exercise(n)]
    here = names(root, *listed, "HEAD")
    here += names(root, "ls-files", "--others", "--exclude-standard")
    changed = [name for name in files if (folder / name).is_file()]
    gone = [name for name in files if name not in changed]
    mine = [n for n in files if n in here and (root / n).is_file()]
    return Newer(folder, changed, gone, mine, merged, was)


def merge(root: Path, commit: str, folder: Path) -> str:
    """Merge `commit` in a folder apart, with nothing but what is committed.

    Where both sides changed a line, the newer course's counts. Returns the new commit.
    """
    git(root, "worktree", "prune")
    apart = ("worktree", "add", "-f", "-f", "--detach", str(folder))
    must(git(root, *apart))
    words = ("--no-edit", "--ff", "-X", "theirs", "--allow-unrelated-histories")
    done = git(folder, "merge", "--quiet", *words, commit)
    if done.returncode:
        for name in conflicts(folder):
            if git(folder, "checkout", commit, "--", name).returncode:
                git(folder, "rm", "-q", "-f", "--", name)  # the newer course removed it
        if git(folder, "commit", "-q", "--no-edit").returncode:
            must(done)
    return git(folder, "rev-parse", "HEAD").stdout.strip()
