"""Put work aside, and bring it back: `reset 4.2` and `restore 4.2`."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from classroom import ROOT
from classroom.all_or_nothing import alone
from classroom.learner.find import find, open_learner
from classroom.notebook.answers import Learner
from classroom.notebook.files import (
    COURSE,
    Unreadable,
    notebooks_of,
    write_notebook,
    write_whole,
)
from classroom.notebook.merge import Merged, merge
from classroom.notebook.pristine import Chapter, all_chapters

COURSE_CELLS = (
    "Cells of the course that you had changed or deleted: {}. The original cells are "
    "back in their places."
)
# As place_to_keep has it: the day, the time, and which it is of the same second.
STAMP = re.compile(r"(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(\d\d)(?:-(\d+))?")


@dataclass(frozen=True)
class Version:
    """An answer in exercises/kept/: when it was put there, and its notebook."""

    when: str
    learner: Learner
    cells: list[str]


def reset_command(what: str, root: Path = ROOT) -> int:
    """Put back the blanks of a chapter ("4") or an exercise ("4.2").

    The notebook as it was is kept in exercises/kept/. Raises Trouble if there is no
    such exercise or its notebook cannot be read.
    """
    if what.endswith(".ipynb"):
        raise Unreadable(f"Give a chapter (4) or an exercise (4.2), not {what}.")
    with alone(root):
        path, chapter, only = find(what, all_chapters(root), root)
        blank = Learner(chapter.notebook, chapter)
        learner = open_learner(path, [chapter]) if only and path.exists() else blank
        merged = merge(learner, chapter, {only: blank} if only else {})
        said = f"{only or chapter.slug} is blank again in {path.name}."
        replace(path, merged, said, root)
    return 0


def restore_command(
    what: str | None = None, number: int | None = None, root: Path = ROOT
) -> int:
    """List all kept answers or those of a chapter ("4"), or restore an exercise.

    It restores the version of an exercise ("4.2") with this number in the list, or by
    default the latest that differs from the present one. Raises Trouble if there is no
    such version.
    """
    with alone(root):
        chapters = all_chapters(root)
        path, chapter, only = find(what, chapters, root) if what else (None,) * 3
        kept = kept_versions(root, chapters)
        if not only:
            list_kept(kept, [chapter] if chapter else chapters)
            return 0
        there = path if path.exists() else chapter.path
        learner = open_learner(there, [chapter])
        now = learner.answers().get(only)
        version = chosen(only, kept[only], now, number)
        merged = merge(learner, chapter, {only: version.learner})
        said = f"{only} in {path.name} is restored as it was on {version.when}."
        replace(path, merged, said, root)
    return 0


def kept_versions(root: Path, chapters: list[Chapter]) -> dict[str, list[Version]]:
    """The versions of each exercise in exercises/kept/, the oldest first."""
    found = {name: {} for chapter in chapters for name in chapter.exercises}
    for stamp, path in sorted(stamped(root / "exercises" / "kept")):
        with suppress(Unreadable):
            learner = open_learner(path, chapters)
            for name, cells in learner.answers().items():
                version = Version("{} {}:{}:{}".format(*stamp), learner, cells)
                found[name].setdefault(tuple(cells), version)
    return {name: list(versions.values()) for name, versions in found.items()}


def stamped(folder: Path) -> Iterator[tuple[tuple, Path]]:
    """The notebooks that are kept, and when each was put there."""
    for path in sum(map(notebooks_of, (folder, *folder.glob("*/"))), []):
        if stamp := STAMP.search(path.relative_to(folder).as_posix()):
            *time, nth = stamp.groups("1")
            yield (*time, int(nth)), path


def list_kept(kept: dict[str, list[Version]], chapters: list[Chapter]) -> None:
    """Show each version's number, time and first lines."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("Exercise", "Number", "Kept at", "Begins with"):
        table.add_column(heading, no_wrap=heading != "Begins with")
    for name in (name for chapter in chapters for name in chapter.exercises):
        for number, version in enumerate(kept[name], 1):
            text = Text(version.cells[-1].strip()[:60].replace("\n", " "))
            table.add_row(name, str(number), version.when, text)
    if not table.row_count:
        print("exercises/kept/ has no answers to these exercises.")
        return
    Console().print(table)
    print(
        f"\n`{COURSE} restore 4.2` restores the latest copy that differs from the "
        "notebook,\nand `restore 4.2 1` restores number 1. The replaced answer is kept."
    )


def chosen(
    name: str, versions: list[Version], now: list[str] | None, number: int | None
) -> Version:
    """The version with this number, or the latest that differs from `now`."""
    others = [version for version in versions if version.cells != now]
    found = versions[number - 1 : number] if number else others[-1:]
    if not versions:
        raise Unreadable(f"exercises/kept/ has no version of exercise {name}.")
    if not found:
        raise Unreadable(
            f"exercises/kept/ has no {'such' if number else 'other'} version of "
            f"exercise {name}. `{COURSE} restore {name.split('.')[0]}` lists them."
        )
    return found[0]


def keep(path: Path, root: Path) -> Path:
    """Copy a notebook to exercises/kept/, named by the time; return the copy."""
    copy = place_to_keep(root, f"{path.stem}-", path.suffix)
    write_whole(copy, path.read_bytes())
    return copy


def place_to_keep(root: Path, before: str, after: str) -> Path:
    """A free name in exercises/kept/, with the time in its middle."""
    folder, now = root / "exercises" / "kept", time.strftime("%Y-%m-%d-%H%M%S")
    for n in count(1):
        more = f"-{n}" if n > 1 else ""
        place = folder / f"{before}{now}{more}{after}"
        if not place.exists():
            return place


def told_of_course(merged: Merged) -> list[str]:
    """Return what to say about cells of the course that were put back, if any were."""
    count = merged.edited + merged.deleted
    return [COURSE_CELLS.format(count)] if count else []


def replace(path: Path, merged: Merged, said: str, root: Path) -> None:
    """Write a notebook after a copy of the old one, and tell the learner about both."""
    copy = keep(path, root) if path.exists() else None
    write_notebook(path, merged.notebook)
    print(said, *told_of_course(merged), sep="\n")
    if copy:
        print(f"Your work is kept in {copy.relative_to(root).as_posix()}")
        print(f"`{COURSE} restore` lists such copies, and says how to bring one back.")
        print("If JupyterLab has the notebook open: File > Reload Notebook from Disk.")
