"""See how far you are: `python3 course.py progress`."""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from classroom import ROOT
from classroom.learner.find import copies, notebook_of, notebooks_in
from classroom.learner.results import Memory
from classroom.notebook.answers import Learner
from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Chapter, all_chapters

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
    there = notebooks_in(root, chapters)
    table, total, to_do = Table(box=None, padding=(0, 2, 0, 0)), Counter(), None
    for heading in ("", "Chapter", "Exercises", "Passed"):
        table.add_column(heading)
    for chapter in chapters:
        path = notebook_of(chapter, root, there)
        found, problem = _statuses(chapter, there.get(path), memory)
        marks = Text(" ").join(Text(*MARKS[status]) for status in found.values())
        passed = sum(status == "passed" for status in found.values())
        beside = copies(path, chapter, there)
        note = problem or f"{passed} of {len(found)}"
        note += "".join(f", and answers in {name}" for name in beside)
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
    chapter: Chapter, learner: Learner | Unreadable | None, memory: Memory
) -> tuple[dict[str, str], str]:
    """What is known of each exercise, and why nothing is if nothing can be read."""
    found = dict.fromkeys(chapter.exercises, "blank")
    if learner is None:
        return found, ""
    if isinstance(learner, Unreadable) or learner.chapter is not chapter:
        return found, "cannot be read"
    for name, cells in learner.answers().items():
        status = memory.status(chapter, name, cells) or "unchecked"
        found[name] = status if status in MARKS else "wrong"
    return found, ""
