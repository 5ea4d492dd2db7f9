"""Get a newer course, and keep all answers: `python3 course.py update`.

git never merges a notebook of exercises. The answers are saved, the newer course is
written next to this one, and the answers are put into it by exercise. Only then does
all of it move into place, as all_or_nothing.py describes. Before anything else, the
whole folder exercises/ is copied.
"""

import shutil
from pathlib import Path

from classroom import ROOT
from classroom.all_or_nothing import (
    CHANGE,
    JOURNAL,
    NOT_ENDED,
    UNCHANGED,
    Trouble,
    alone,
    clear,
    digest,
    finish,
    reason,
    write_journal,
)
from classroom.learner.find import Notebooks, notebooks_in
from classroom.learner.newer_course import (
    VERSION,
    Newer,
    find_newer,
    origin,
    told_date,
    version,
)
from classroom.learner.restore import place_to_keep
from classroom.notebook.answers import Learner, NotOurs
from classroom.notebook.files import COURSE, as_bytes, notebooks_of, write_notebook
from classroom.notebook.merge import merge
from classroom.notebook.pristine import Chapter, all_chapters, chapter_of

NEWEST = (
    "You already have the newest course, because {} has nothing newer. If that is your "
    "own copy, tell git once where the original is:\n"
    "    git remote add upstream ADDRESS"
)

OTHER_FILES = "{} files of the course were replaced by newer ones, and yours are kept."


def update_command(source: str | None = None, root: Path = ROOT) -> int:
    """Take the newer course from git, or from `source`, a folder or a zip file.

    Raises Trouble if there is no newer course; then nothing has changed.
    """
    with alone(root):
        kept = place_to_keep(root, "", "-before-update")
        clear(root)
        try:
            (root / CHANGE).mkdir(parents=True)
            newer = find_newer(source, root, root / CHANGE)
            if newer is None or not (newer.changed or newer.gone):
                print(NEWEST.format(source or origin(root)))
                return 0
            dates = told_date(version(newer.folder)), told_date(version(root))
            print("\n".join(update(root, newer, kept)))
        except OSError as error:
            begun = (root / JOURNAL).exists()
            told = f"{reason(error)}\n{UNCHANGED}"
            raise Trouble(NOT_ENDED.format(why=error) if begun else told) from None
        finally:
            if not (root / JOURNAL).exists():
                clear(root)
    print(f"Before the update: {kept.relative_to(root).as_posix()}/")
    print(f"The course is up to date. It was {dates[1]}, and is now {dates[0]}.")
    print("In JupyterLab, reload what is open, and restart its kernel.")
    return 0


def update(root: Path, newer: Newer, kept: Path) -> list[str]:
    """Take a newer course, put the answers back, and return what to print.

    Raises Trouble or OSError. If there is no journal, every file is then as it was.
    """
    (root / "exercises").mkdir(exist_ok=True)
    leave_out = shutil.ignore_patterns("kept", ".ipynb_checkpoints")
    shutil.copytree(root / "exercises", root / CHANGE / "kept", ignore=leave_out)
    kept.parent.mkdir(exist_ok=True)
    shutil.move(root / CHANGE / "kept", kept)
    files = root / CHANGE / "files"
    aside = files / kept.relative_to(root)
    older = [n for n in newer.changed + newer.gone if (root / n).is_file()]
    copy(root, older, aside / "course")
    dated = [VERSION] if (newer.folder / VERSION).is_file() else []
    copy(newer.folder, newer.changed + dated, files)
    paths = notebooks_of(root / "exercises")
    contents = {path.name: path.read_bytes() for path in paths}
    there = notebooks_in(root, all_chapters(root)).items()
    known = {path: each for path, each in there if path.name in contents}
    new = newer_chapters(root, newer)
    after, told = put_back(contents, known, new, aside)
    if older:
        told.append(OTHER_FILES.format(len(older)))
    for name in [name for name in after if after[name] != contents.get(name)]:
        (files / "exercises" / name).write_bytes(after[name])
    gone = newer.gone + [f"exercises/{n}" for n in contents.keys() - after.keys()]
    here = {name: digest(contents[name]) for name in contents}
    before = {f"exercises/{n}": here.get(n, "") for n in after.keys() | here.keys()}
    write_journal(root, {"told": told, "gone": gone, "before": before})
    return finish(root)


def copy(source: Path, names: list[str], target: Path) -> None:
    """Copy these files of one folder to the same places in another."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)


def newer_chapters(root: Path, newer: Newer) -> list[Chapter]:
    """The chapters after the update."""
    slugs = {chapter.slug: chapter for chapter in all_chapters(root)}
    slugs |= {chapter.slug: chapter for chapter in all_chapters(newer.folder)}
    gone = {Path(n).stem for n in newer.gone if n.startswith("classroom/pristine/")}
    return [slugs[slug] for slug in sorted(slugs.keys() - gone)]


def put_back(
    contents: dict[str, bytes], there: Notebooks, new: list[Chapter], kept: Path
) -> tuple[dict[str, bytes], list[str]]:
    """The new notebooks of exercises/, and what to print about them."""
    told, renamed = [], {e.chapter for e in there.values() if isinstance(e, Learner)}
    slugs = {chapter.slug for chapter in renamed} - {Path(n).stem for n in contents}
    fresh = (c for c in new if c.slug not in slugs)  # else, under another name
    after = {f"{chapter.slug}.ipynb": chapter.path.read_bytes() for chapter in fresh}
    for path, found in there.items():
        name = path.name
        if isinstance(found, Learner):
            told += _put_back_one(after, name, contents[name], found, new, kept)
        elif name in after and not isinstance(found, NotOurs):
            told.append(f"{found}\n  It is kept, and a fresh notebook is in its place.")
        else:
            after[name] = contents[name]
    return after, told


def _put_back_one(
    after: dict[str, bytes],
    name: str,
    content: bytes,
    learner: Learner,
    new: list[Chapter],
    kept: Path,
) -> list[str]:
    before, usual = learner.chapter, name == f"{learner.chapter.slug}.ipynb"
    if learner.notebook == before.notebook and usual:
        return []
    chapter = chapter_of(learner.notebook, new)
    if chapter is None:
        after.pop(name, None)
        return [f"{name}: the course no longer has this chapter. Your file is kept."]
    about = learner.notebook["metadata"].get("minigrad")
    if chapter.notebook == before.notebook and about == chapter.about:
        after[name] = content
        return []
    name = f"{chapter.slug}.ipynb" if usual else name
    merged = merge(learner, chapter)
    after[name] = as_bytes(merged.notebook)
    told = [f"{name}: {_what_is_back(learner, chapter)}"]
    if merged.changed:
        told.append(
            f"  The blanks of {', '.join(merged.changed)} are different now. Your "
            f"answers are still in place; check them. `{COURSE} reset "
            f"{merged.changed[0]}` shows the new blank and keeps your answer."
        )
    if merged.homeless:
        cells = {**before.notebook, "cells": merged.homeless}
        write_notebook(kept / f"removed-{name}", cells)
        told.append(f"  Your cells of removed exercises are kept in removed-{name}.")
    if merged.edited:
        told.append(
            f"  Cells of the course that you had changed: {merged.edited}. Your "
            f"versions are kept in {kept.name}/, and newer versions replace them."
        )
    return told


def _what_is_back(learner: Learner, chapter: Chapter) -> str:
    homes = chapter.heirs(learner.chapter.notebook)
    back = dict.fromkeys(homes[name] for name in learner.answers() if homes[name])
    return f"answers put back: {', '.join(back) or 'none'}."
