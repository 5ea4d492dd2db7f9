"""Check a learner's answers: `python3 course.py check`.

The answers are put into the untouched notebook, and nbval runs it. Blanks, and the
learner's changes to check cells, are left out. So what is tested is what was written.
Nothing is ever written into the learner's notebook.
"""

import os
import re
import textwrap
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from classroom import ROOT
from classroom.cell.asked import hint_about
from classroom.learner.broken import mended
from classroom.learner.find import (
    NO_NOTEBOOK,
    copies,
    find,
    notebook_of,
    notebooks_in,
    open_learner,
    several,
)
from classroom.learner.results import Memory
from classroom.notebook.answers import Learner, NotOurs
from classroom.notebook.files import COURSE, FILE_LIMIT, Unreadable
from classroom.notebook.pristine import Exercise, all_chapters
from classroom.notebook.source_code import imported
from classroom.run.judge import run_answers
from classroom.run.verdict import WORDS, Result

SECONDS = 20  # that a cell may take


@dataclass(frozen=True)
class Task:
    """A learner's notebook to check, and the one exercise asked for, if it was one."""

    path: Path
    learner: Learner
    only: str | None = None
    beside: Sequence[str] = ()  # notebooks with answers to the same chapter

    def answers(self) -> dict[str, list[str]]:
        """The answers to run, up to the one asked for, which may use earlier ones."""
        answers = self.learner.answers()
        names = list(self.learner.chapter.exercises)
        last = names.index(self.only) if self.only else len(names)
        return {name: answers[name] for name in names[: last + 1] if name in answers}

    def run(self) -> dict[str, Result]:
        """The results of the answers."""
        pristine, folder = self.learner.chapter.path, self.path.resolve().parent
        return run_answers(pristine, self.answers(), SECONDS, folder)

    def helpers(self) -> list[str]:
        """The files next to the notebook that its answers import."""
        texts = [text for cells in self.answers().values() for text in cells]
        known = {name for text in texts for name in imported(text)}
        folder = self.path.resolve().parent
        found = [(folder / f"{n}.py", folder / n / "__init__.py") for n in known]
        return sorted(
            p.name if p.exists() else f"{q.parent.name}/"
            for p, q in found
            if p.exists() or q.exists()
        )

    def asked(self) -> list[str]:
        """The exercises to report on."""
        return [self.only] if self.only else list(self.learner.chapter.exercises)


def check_command(what: str | Sequence[str] | None, root: Path = ROOT) -> int:
    """Check all that is filled in, or some chapters, exercises, notebooks.

    Returns 0 if every exercise asked for has passed, 1 if one is wrong or not filled
    in, and 2 if a notebook cannot be read. Without `what`, chapters that are not begun
    do not count. Raises Unreadable if what was asked for cannot be found or read.
    """
    console = Console(highlight=False)
    words = [what] if isinstance(what, str) else what or []
    each = [find_tasks(word, root) for word in several(words, all_chapters(root))]
    each = each or [find_tasks(None, root)]
    tasks, unreadable = (sum(part, []) for part in zip(*each, strict=True))
    for text in unreadable:
        console.print(Text(text, style="red"))
    if not tasks and not unreadable:
        console.print(NOTHING)
        return 1
    memory, statuses = Memory(root), set()
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for task, job in [(each, pool.submit(each.run)) for each in tasks]:
            with console.status(f"Checking {escape(task.path.name)} ..."):
                results = job.result()
            unchanged = memory.refused(task.learner.chapter, task.answers())
            tries = memory.remember(task.learner.chapter, task.answers(), results)
            for name in tries:
                memory.note_try(task.learner, name)
            report(console, task, results, tries, unchanged)
            passed = [n for n in task.asked() if results[n].status == "passed"]
            for line in mended(root, task.path, passed):
                console.print(Text(line, style="green"))
            if (size := task.path.stat().st_size) > FILE_LIMIT:
                told = TOO_LARGE.format(size >> 20, FILE_LIMIT >> 20)
                console.print(Text(told), style="red")
            for name in task.helpers():
                console.print(Text(HELPER.format(name)), style="red")
            for name in task.beside:
                console.print(Text(COPIES.format(name, COURSE)))
            statuses |= {results[name].status for name in task.asked()}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        memory.save()
    return 2 if unreadable else 0 if statuses == {"passed"} else 1


def find_tasks(what: str | None, root: Path) -> tuple[list[Task], list[str]]:
    """The notebooks to check, and a message for each that cannot be read."""
    chapters = all_chapters(root)
    there = notebooks_in(root, chapters)
    if what is not None:
        path, chapter, only = find(what, chapters, root)
        if not path.exists():
            raise Unreadable(NO_NOTEBOOK.format(path.name, chapter.number))
        named = what.endswith(".ipynb")
        beside = [] if named else copies(path, chapter, there)
        return [Task(path, open_learner(path, [chapter]), only, beside)], []
    if not there:
        raise Unreadable(NO_NOTEBOOK.format("notebook", "CHAPTER"))
    tasks, unreadable = [], []
    for path, learner in there.items():
        if isinstance(learner, Learner):
            beside = copies(path, learner.chapter, there)
            begun = learner.answers() or learner.astray() or beside
            if begun and path == notebook_of(learner.chapter, root, there):
                tasks.append(Task(path, learner, None, beside))
        elif not isinstance(learner, NotOurs):
            unreadable.append(str(learner))
    return tasks, unreadable


COPIES = (
    "  There are also answers in {0}, which do not count. To check them, run "
    '{1} check "{0}"'
)
NOTHING = (
    "Nothing is filled in yet. If you have written an answer, save the notebook, and "
    "check again."
)
TOO_LARGE = (
    "  The notebook has {} MB, and at most {} MB can be graded. Before you hand it in, "
    "choose Edit > Clear Outputs of All Cells in JupyterLab, and save."
)
HELPER = (
    "  It imports {}, which is not handed in with the notebook. Before you hand it in, "
    "paste the contents of this file into a cell above."
)
NO_PYTHON = re.compile("(Syntax|Indentation|Tab)Error")  # Python says what to do
MAGIC = "`{}` changes what the whole cell means. Remove that line."
ASTRAY = {
    "the check's cell": "An answer seems to be in the check's cell, which is "
    "replaced by the original. Move the answer to the cell above, where the blank is.",
    "a cell of text": "An answer seems to be in a text cell, whose code does not run. "
    "Click on the cell, press Esc and then y, and save.",
    "another exercise's cell": "An answer seems to be in the cell of another exercise. "
    "Move it to the cell below the text of this one.",
    "no cell": "Its answer cell is missing. `python3 course.py reset {}` puts it back.",
}


def report(
    console: Console,
    task: Task,
    results: dict[str, Result],
    tries: dict[str, int],
    unchanged: Collection[str] = (),
) -> None:
    """Print one line per exercise, with the mistake and the help below it.

    If one is blank, or `unchanged` since it was refused, it may not have been saved.
    """
    chapter, astray = task.learner.chapter, task.learner.astray()
    console.print(Text(f"{chapter.slug}  ({task.path.name})", style="bold"))
    for name in task.asked():
        result, exercise = results[name], chapter.exercises[name]
        word, color = WORDS[result.status]
        title = textwrap.shorten(exercise.title, 44, placeholder=" ...")
        line = Text(f"  {name:<5} {title:<44} ")
        console.print(line.append(word, style=color))
        told = [result.message, ASTRAY.get(astray.get(name), "").format(name)]
        texts = "\n".join(task.learner.answers().get(name, []))
        if magic := re.search(r"^%%\w+", texts, re.MULTILINE):
            told.append(MAGIC.format(magic[0]))
        if tries.get(name) and not NO_PYTHON.match(result.message):
            told.append(next_hint(exercise, tries[name], result.message))
        told = "\n".join(filter(None, told))
        if told and result.status != "passed":
            console.print(Padding(Text(told), (0, 2, 1, 8), expand=False))
    waits = {name for name in task.asked() if results[name].status == "blank"}
    if waits or not set(task.asked()).isdisjoint(unchanged):
        console.print(
            "  (The check sees only what is saved, so save the notebook first.)"
        )


def next_hint(exercise: Exercise, tries: int, said: str = "") -> str:
    """Return which hint to read after so many tries, or what helps with a mistake."""
    name, hints = exercise.name, exercise.hints
    if hint := hint_about(exercise.helps, said):
        return f"Help: Hint {hint} of exercise {name} is about this mistake."
    if exercise.by_symptom:
        return (
            f"Help: the hints of {name}, below its text, are named after the symptoms."
        )
    if tries <= hints:
        return f"Help: Hint {tries} of exercise {name}, folded below its text."
    then = f"; then `{COURSE} solution {name}`" * (ROOT / "solutions").is_dir()
    return f"Help: all {hints} hints of {name}{then}."
