"""See how far you are, and what is `next`: `python3 course.py progress`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from classroom import ROOT
from classroom.learner.broken import BROKEN, read_state
from classroom.learner.find import copies, find, notebook_of, notebooks_in, several
from classroom.learner.results import Memory
from classroom.notebook.answers import Learner
from classroom.notebook.course_map import Stop, next_exercise, stop_of
from classroom.notebook.files import COURSE, Unreadable
from classroom.notebook.home import home_text
from classroom.notebook.pristine import Chapter, all_chapters

MARKS = {
    "passed": ("+", "green"),
    "noted": ("o", "green"),
    "wrong": ("x", "red"),
    "unchecked": ("?", "yellow"),
    "blank": (".", "dim"),
}
PASSED = "passed", "noted"


class Row(NamedTuple):
    """The known results of a chapter's exercises, and a note for its row."""

    chapter: Chapter
    statuses: dict[str, str]
    note: str


class Overview(NamedTuple):
    """The known results of some chapters, and which exercise is next."""

    rows: list[Row]
    next: str | None


def progress_command(root: Path = ROOT, words: Sequence[str] = ()) -> int:
    """Show for each exercise of the course, or of some chapters, if it has passed.

    The result of an earlier check counts as long as neither the answer nor the exercise
    has changed since. Always returns 0.
    """
    console = Console(highlight=False)
    found = overview(root, words)
    table, total = Table(box=None, padding=(0, 2, 0, 0)), Counter()
    for heading in ("", "Chapter", "Exercises", "Passed"):
        table.add_column(heading)
    for chapter, statuses, note in found.rows:
        marks = Text(" ").join(Text(*MARKS[status]) for status in statuses.values())
        title = chapter.title or chapter.slug
        table.add_row(str(chapter.number), Text(title), marks, Text(note))
        total.update(statuses.values())
    console.print(table)
    console.print(
        "\n+ passed   x wrong   ? filled in, not checked   . not yet filled in"
    )
    if total["noted"]:
        console.print("o passed in the notebook, not yet in a fresh kernel", end=": ")
        console.print(f"`{COURSE} check`")
    passed = sum(map(total.__getitem__, PASSED))
    console.print(f"{passed} of {total.total()} exercises passed.", end=" ")
    done = "That is all of it." if words else "That is the whole course."
    following = "Next of these" if words else "Next"
    console.print(f"{following}: exercise {found.next}." if found.next else done)
    tell_of_a_break(root)
    return 0


def next_command(root: Path = ROOT) -> int:
    """Say which exercise is the next one that has not passed; return 0."""
    tell_of_a_break(root)
    name = overview(root).next
    if name is None:
        print("All exercises of the course have passed.")
        return 0
    path, chapter, _ = find(name, all_chapters(root), root)
    print(f"Next: exercise {name} {chapter.exercises[name].title}")
    print(f"Its blank: exercises/{path.name}")
    print(f"Its lesson: notebooks/{chapter.slug}.ipynb")
    return 0


def tell_of_a_break(root: Path) -> None:
    """Say that a bug is to be found, but not where, if `break` has put one in."""
    if read_state(root)["active"]:
        print(BROKEN)


def home_page(root: Path = ROOT) -> str:
    """Return this learner's page home.md, in Markdown."""
    stops = [stop(row.chapter, row.statuses) for row in overview(root).rows]
    return home_text(stops, root, whole=True)


def overview(root: Path, words: Sequence[str] = ()) -> Overview:
    """Return the known results of all chapters, or of those that `words` name."""
    chapters, memory, rows = all_chapters(root), Memory(root), []
    there = notebooks_in(root, chapters)
    wanted = {find(word, chapters, root)[1].slug for word in several(words, chapters)}
    for chapter in chapters:
        if wanted and chapter.slug not in wanted:
            continue
        path = notebook_of(chapter, root, there)
        statuses, problem = _statuses(chapter, there.get(path), memory)
        passed = sum(status in PASSED for status in statuses.values())
        note = problem or f"{passed} of {len(statuses)}"
        note += "".join(f", and answers in {n}" for n in copies(path, chapter, there))
        rows.append(Row(chapter, statuses, note))
    going = next_exercise([stop(row.chapter, row.statuses) for row in rows])
    return Overview(rows, going[1] if going else None)


def stop(chapter: Chapter, found: dict[str, str]) -> Stop:
    """Return a chapter as the map shows it, from the status of each exercise."""
    made = stop_of(chapter.number, chapter.slug, chapter.about)
    made.exercises = made.exercises or dict.fromkeys(chapter.exercises, "")
    made.passed = [name for name, status in found.items() if status in PASSED]
    made.wrong = [name for name, status in found.items() if status == "wrong"]
    made.begun = any(status != "blank" for status in found.values())
    return made


def _statuses(
    chapter: Chapter, learner: Learner | Unreadable | None, memory: Memory
) -> tuple[dict[str, str], str]:
    """The known result of each exercise, and why there is none if unreadable."""
    found = dict.fromkeys(chapter.exercises, "blank")
    if learner is None:
        return found, ""
    if isinstance(learner, Unreadable) or learner.chapter is not chapter:
        return found, "cannot be read"
    broken = read_state(memory.root)["active"]
    for name, cells in learner.answers().items():
        standing = memory.standing(learner, name, cells)
        found[name] = "passed" if name in broken else standing  # it had passed
    return found, ""
