"""See how far you are, and get a blank back: `progress` and `reset`."""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from classroom.check import Memory, find, notebook_at, notebook_of, open_learner
from classroom.journal import Trouble, alone
from classroom.notebooks import (
    ROOT,
    Chapter,
    Unreadable,
    all_chapters,
    carry_over,
    keep,
    write_notebook,
    write_whole,
)

MARKS = {
    "passed": ("+", "green"),
    "wrong": ("x", "red"),
    "unchecked": ("?", "yellow"),
    "blank": (".", "dim"),
}


def progress_command(root: Path = ROOT) -> int:
    """Show each exercise of the course: passed, wrong, not checked or blank.

    What an earlier check found counts as long as the answer and the exercise are the
    same as then. Always returns 0.
    """
    console = Console(highlight=False)
    chapters, memory = all_chapters(root), Memory(root)
    table, total, to_do = Table(box=None, padding=(0, 2, 0, 0)), Counter(), None
    for heading in ("", "Chapter", "Exercises", "Passed"):
        table.add_column(heading)
    for chapter in chapters:
        found, problem = _statuses(chapter, chapters, memory, root)
        marks = Text(" ").join(Text(*MARKS[status]) for status in found.values())
        passed = sum(status == "passed" for status in found.values())
        note = problem or f"{passed} of {len(found)}"
        title = chapter.title or chapter.slug
        table.add_row(str(chapter.number), Text(title), marks, Text(note))
        total.update(found.values())
        left = [name for name, status in found.items() if status != "passed"]
        to_do = to_do or next(iter(left), None)
    console.print(table)
    console.print(
        "\n+ passed   x wrong   ? filled in, not checked   . not yet filled in"
    )
    console.print(f"{total['passed']} of {total.total()} exercises passed.", end=" ")
    console.print(f"Next: exercise {to_do}." if to_do else "That is the whole course.")
    return 0


def _statuses(
    chapter: Chapter, chapters: list[Chapter], memory: Memory, root: Path
) -> tuple[dict[str, str], str]:
    """What is known of each exercise, and why nothing is if nothing can be read."""
    blank = dict.fromkeys(chapter.exercises, "blank")
    path = notebook_of(chapter, chapters, root)
    try:
        answers = open_learner(path, [chapter]).answers() if path.exists() else {}
    except Unreadable:
        return blank, "cannot be read"
    for name, cells in answers.items():
        status = memory.status(chapter, name, cells) or "unchecked"
        blank[name] = status if status in MARKS else "wrong"
    return blank, ""


def of_exercises(what: str, slugs: list[str], root: Path) -> str:
    """The chapter that a notebook's name means, or else its path in exercises/.

    Raises Unreadable for a notebook elsewhere: that is not reset's to write to.
    """
    path = Path(what)
    if path.name == what and path.stem in slugs:
        return path.stem
    place = notebook_at(what, root) or root / path
    if place.resolve().parent != (root / "exercises").resolve():
        raise Unreadable(
            f"{what} is not in exercises/. There reset puts back a chapter (4) or an "
            "exercise (4.2)."
        )
    return path.stem if path.stem in slugs else what


def reset_command(what: str, root: Path = ROOT) -> int:
    """Put back the blanks of a chapter ("4") or an exercise ("4.2").

    The notebook as it was is kept in exercises/kept/. Returns 0, or 2 if there is no
    such exercise or its notebook cannot be read.
    """
    console = Console(highlight=False)
    try:
        with alone(root):
            return _reset_alone(what, root, console)
    except (Unreadable, Trouble) as error:
        console.print(Text(str(error)))
        return 2


def _reset_alone(what: str, root: Path, console: Console) -> int:
    chapters = all_chapters(root)
    slugs = [chapter.slug for chapter in chapters]
    if what.endswith(".ipynb"):
        what = of_exercises(what, slugs, root)
    path, chapter, only = find(what, chapters, root)
    fresh, edited = None, 0
    if only and path.exists():
        learner = open_learner(path, [chapter])
        carried = carry_over(learner, chapter, without=frozenset({only}))
        fresh, edited = carried.notebook, carried.edited
    kept = keep(path, root) if path.exists() else None
    if fresh:
        write_notebook(path, fresh)
    else:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, chapter.path.read_bytes())
    console.print(Text(f"{only or chapter.slug} is blank again, in {path.name}."))
    if edited:
        told = f"Cells of the course that you had changed are as they were: {edited}."
        console.print(told)
    tell_kept(kept, root, console)
    return 0


def tell_kept(copy: Path | None, root: Path, console: Console) -> None:
    """Say where the notebook is kept as it was before, if there was one."""
    if copy:
        console.print(Text(f"Your work is kept in {copy.relative_to(root).as_posix()}"))
        console.print(
            "If JupyterLab has the notebook open: File > Reload Notebook from Disk."
        )
