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
from classroom.notebook.carry_over import bring_back
from classroom.notebook.files import (
    COURSE,
    Unreadable,
    notebooks_of,
    write_notebook,
    write_whole,
)
from classroom.notebook.pristine import Chapter, all_chapters

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
        notebook = chapter.notebook
        if only and path.exists():
            blank = Learner(notebook, chapter)
            notebook = bring_back(open_learner(path, [chapter]), blank, only)
        kept = keep(path, root) if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        write_notebook(path, notebook)
    print(f"{only or chapter.slug} is blank again in {path.name}.")
    tell_kept(kept, root)
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
        copy = keep(path, root) if path.exists() else None
        write_notebook(path, bring_back(learner, version.learner, only))
    told = f"{only} in {path.name} is restored as it was on {version.when}."
    print(told)
    tell_kept(copy, root)
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
    copy.parent.mkdir(parents=True, exist_ok=True)
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


def tell_kept(copy: Path | None, root: Path) -> None:
    """Say where the earlier notebook is kept, if there was one."""
    if copy:
        print(f"Your work is kept in {copy.relative_to(root).as_posix()}")
        print("If JupyterLab has the notebook open: File > Reload Notebook from Disk.")
