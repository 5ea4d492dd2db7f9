"""Check a learner's answers: `python3 course.py check`.

The answers are put into the untouched notebook, blanks and all that the learner did
to the check cells left out, and nbval runs that: what is tested is what was written.
Nothing is ever written into the learner's notebook.
"""

import hashlib
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from classroom import verdict
from classroom.notebooks import (
    COURSE,
    ROOT,
    Chapter,
    Exercise,
    Learner,
    Notebook,
    Unreadable,
    all_chapters,
    as_table,
    chapter_of,
    graft,
    is_lesson,
    parse_label,
    read_notebook,
    write_notebook,
    write_whole,
)
from classroom.verdict import BLANK, WORDS, Result, result

INTERRUPTED = 2  # pytest's exit code after Ctrl-C
SANITIZER = Path(__file__).with_name("nbval_sanitize.cfg")


@dataclass(frozen=True)
class Task:
    """A learner's notebook to check, and the one exercise asked for, if it was one."""

    path: Path
    learner: Learner
    only: str | None = None

    def answers(self) -> dict[str, list[str]]:
        """The answers to run; up to the one asked for, as it may use earlier ones."""
        answers = self.learner.answers()
        names = list(self.learner.chapter.exercises)
        last = names.index(self.only) if self.only else len(names)
        return {name: answers[name] for name in names[: last + 1] if name in answers}

    def asked(self) -> list[str]:
        """The exercises to report on."""
        return [self.only] if self.only else list(self.learner.chapter.exercises)


def check_command(what: str | None, timeout: float, root: Path = ROOT) -> int:
    """Check all that is filled in, or a chapter, an exercise, a notebook.

    Returns 0 if every exercise asked for has passed, 1 if one is wrong or not filled
    in, 2 if what was asked for cannot be found or read. Without `what`, chapters that
    are not begun do not count. Returns 130 if interrupted.
    """
    console = Console(highlight=False)
    try:
        tasks, unreadable = find_tasks(what, root)
    except Unreadable as error:
        console.print(Text(str(error)))
        return 2
    for text in unreadable:
        console.print(Text(text, style="red"))
    if not tasks and not unreadable:
        console.print("Nothing is filled in yet. Save the notebook, then check again.")
        return 1
    memory = Memory(root)
    statuses = set()
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for task, answers, job in [_start(pool, task, timeout) for task in tasks]:
            with console.status(f"Checking {escape(task.path.name)} ..."):
                results = job.result()
            tries = memory.remember(task.learner.chapter, answers, results)
            report(console, task, results, tries)
            for path in copies(task) if what is not None else ():
                console.print(Text(f"  There are answers in {path.name}, too:"))
                console.print(Text(f"  {COURSE} check {path.name}"))
            statuses |= {results[name].status for name in task.asked()}
    except KeyboardInterrupt:
        console.print("Stopped. What is running may take a few seconds more to end.")
        return 130
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        memory.save()
    return 2 if unreadable else 0 if statuses == {"passed"} else 1


def _start(pool: ThreadPoolExecutor, task: Task, timeout: float) -> tuple:
    answers = task.answers()
    pristine, folder = task.learner.chapter.path, task.path.resolve().parent
    job = pool.submit(run_answers, pristine, answers, timeout, folder)
    return task, answers, job


def find_tasks(what: str | None, root: Path) -> tuple[list[Task], list[str]]:
    """The notebooks to check, and what to say of those that cannot be read."""
    chapters = all_chapters(root)
    if what is not None:
        path, chapter, only = find(what, chapters, root)
        if not path.exists():
            raise Unreadable(
                f"There is no {path.name} in exercises/. "
                f"`{COURSE} reset {chapter.number}` brings a blank one."
            )
        return [Task(path, open_learner(path, [chapter]), only)], []
    tasks, unreadable = [], []
    for path in sorted((root / "exercises").glob("*.ipynb")):
        try:
            task = Task(path, open_learner(path, chapters))
        except NotOurs:
            continue
        except Unreadable as error:
            unreadable.append(str(error))
        else:
            tasks += [task] if task.answers() or task.learner.astray() else []
    return tasks, unreadable


def copies(task: Task) -> list[Path]:
    """Other notebooks beside it, as Duplicate names them, with answers in them."""
    chapter = task.learner.chapter
    beside = sorted(task.path.parent.glob(f"{chapter.slug}-Copy*.ipynb"))
    found = []
    for path in beside:
        with suppress(Unreadable):
            if path != task.path and open_learner(path, [chapter]).answers():
                found.append(path)
    return found


class NotOurs(Unreadable):
    """A notebook that belongs to no chapter of the course, or is a lesson."""


def open_learner(path: Path, chapters: list[Chapter]) -> Learner:
    """The learner's notebook at `path`; raises Unreadable."""
    notebook = read_notebook(path)
    chapter = chapter_of(notebook, chapters)
    if chapter is None:
        raise NotOurs(f"{path.name} has no exercise of this course in it.")
    if is_lesson(notebook, chapter):
        raise NotOurs(f"{path.name} is a lesson; do exercises/{chapter.slug}.ipynb.")
    return Learner(notebook, chapter)


def find(
    what: str, chapters: list[Chapter], root: Path
) -> tuple[Path, Chapter, str | None]:
    """What a learner means by "4", "4.2", "04_blame" or the path of a notebook."""
    what = what.strip()
    if what.endswith(".ipynb"):
        path = notebook_at(what, root)
        if path is None:
            raise Unreadable(f"There is no notebook {what}.")
        return path, open_learner(path, chapters).chapter, None
    number, _, exercise = what.partition(".")
    for chapter in chapters:
        only = f"{chapter.number}.{exercise}" if exercise else None
        ours = what == chapter.slug or (
            number.isdecimal() and int(number) == chapter.number
        )
        if ours and (only is None or only in chapter.exercises):
            return notebook_of(chapter, chapters, root), chapter, only
        if ours:
            names = ", ".join(chapter.exercises)
            raise Unreadable(
                f"There is no exercise {what}; chapter {number} has {names}."
            )
    known = ", ".join(str(chapter.number) for chapter in chapters) or "none"
    raise Unreadable(
        f"There is no chapter {what} with exercises. There are: {known}. "
        "Give a chapter (4), an exercise (4.2) or the path of a notebook."
    )


def notebook_at(what: str, root: Path) -> Path | None:
    """The notebook that a path means: from here, from the course or exercises/."""
    places = Path(what), root / what, root / "exercises" / what
    return next((path for path in places if path.exists()), None)


def notebook_of(chapter: Chapter, chapters: list[Chapter], root: Path) -> Path:
    """The learner's notebook of a chapter, also if it was renamed."""
    usual = root / "exercises" / f"{chapter.slug}.ipynb"
    if usual.exists():
        return usual
    for path in sorted(usual.parent.glob("*.ipynb")):
        try:
            if open_learner(path, chapters).chapter is chapter:
                return path
        except Unreadable:
            continue
    return usual


def run_answers(
    pristine: Path,
    answers: dict[str, list[str]],
    timeout: float,
    folder: Path | None = None,
) -> dict[str, Result]:
    """Judge `answers` (the cells that answer each exercise) in one kernel.

    An exercise without answer is "blank", and none of it is run. `timeout` is in
    seconds for one cell. The kernel works in `folder`, else in that of `pristine`.
    """
    return run_variants(pristine, [answers], timeout, folder)[0]


def run_variants(
    pristine: Path,
    variants: list[dict[str, list[str]]],
    timeout: float,
    folder: Path | None = None,
) -> list[dict[str, Result]]:
    """Judge several sets of answers to one chapter, each in a kernel of its own."""
    chapter = Chapter(pristine)
    notebooks = [graft(chapter, answers) for answers in variants if answers]
    folder = folder or pristine.parent
    found, said = run_judge(notebooks, timeout, folder) if notebooks else ([], "")
    events, judged = iter(found), []
    for answers in variants:
        own = next(events) if answers else []
        results = {}
        for name, cells in answers.items():
            judgement = result(name, own, timeout, said)
            results[name] = about_first_line(chapter.exercises[name], cells, judgement)
        judged.append(dict.fromkeys(chapter.exercises, BLANK) | results)
    return judged


def about_first_line(exercise: Exercise, cells: list[str], result: Result) -> Result:
    """Say so if what stopped is a page of the package that has lost its first line."""
    first = exercise.stub.partition("\n")[0]
    lost = first.startswith("# minigrad/") and not any(first in cell for cell in cells)
    if result.status not in ("error", "wrong") or not lost:
        return result
    told = f"{result.message}\nThe cell has lost its first line: {first}"
    return replace(result, message=told.strip())


def run_judge(
    notebooks: list[Notebook], timeout: float, folder: Path | None
) -> tuple[list[list[dict]], str]:
    """Run judge.py to its end; return each notebook's events, and its last line.

    The kernels work in `folder`; without one, in sandboxes.
    """
    # What still holds a file there must not cost the results
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        place, events = Path(temporary, "notebooks"), Path(temporary, "events")
        place.mkdir()
        for n, notebook in enumerate(notebooks):
            write_notebook(place / f"{n:03}.ipynb", notebook)
        task = (
            place,
            events,
            folder or Path(temporary),
            timeout,
            verdict.ALL_CELLS * timeout,
        )
        said = _start_judge((*task, SANITIZER, folder is None))
        lines = events.read_text("utf-8").splitlines() if events.exists() else []
    found: list[list[dict]] = [[] for _ in notebooks]
    for line in lines:
        event = json.loads(line)
        found[int(event["notebook"])].append(event)
    return found, said


def _start_judge(task: tuple) -> str:
    """Run judge.main in a process of its own; return the last line that it wrote.

    On Linux that is forked from one which has imported all that it needs: importing
    takes longer than judging.
    """
    context = get_context("forkserver" if sys.platform == "linux" else "spawn")
    if sys.platform == "linux":
        context.set_forkserver_preload(["classroom.judge", "classroom.sandbox"])
    unwanted = ("MPLBACKEND", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")
    env = {key: value for key, value in os.environ.items() if key not in unwanted}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    errors = task[0].with_name("errors")
    process = context.Process(target=_judge, args=(task, env, errors), daemon=True)
    process.start()
    process.join()
    if process.exitcode == INTERRUPTED:
        raise RuntimeError("it was interrupted")
    written = errors.read_text("utf-8", "replace") if errors.exists() else ""
    lines = written.strip().splitlines()
    return lines[-1] if lines else f"it ended with code {process.exitcode}"


def _judge(task: tuple, env: dict[str, str], errors: Path) -> None:
    os.environ.clear()
    os.environ.update(env)
    for stream, file in ((0, os.devnull), (1, os.devnull), (2, errors)):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), stream)
    # Those of a console on Windows cannot write to what stands in its place now
    sys.stdout, sys.stderr = map(stream_to, (1, 2))
    from classroom import judge

    sys.exit(judge.main(*task))


def stream_to(descriptor: int) -> TextIO:
    """A stream that writes to an open file, line by line."""
    safe = {"encoding": "utf-8", "errors": "replace", "closefd": False}
    return open(descriptor, "w", 1, **safe)


ASTRAY = {
    "the check's cell": "An answer seems to stand in the cell of the check, which is "
    "checked as it was handed out: move it to the cell above, where the blank is.",
    "a cell of text": "The answer's cell is one of text now, not of code, and is not "
    "run: click on it, press Esc and then y, and save.",
}


def report(
    console: Console, task: Task, results: dict[str, Result], tries: dict[str, int]
) -> None:
    """Print one line per exercise, and below it what is wrong and where help is."""
    chapter, astray = task.learner.chapter, task.learner.astray()
    console.print(Text(f"{chapter.slug}  ({task.path.name})", style="bold"))
    for name in task.asked():
        result, exercise = results[name], chapter.exercises[name]
        word, color = WORDS[result.status]
        title = (
            exercise.title if len(exercise.title) < 44 else exercise.title[:41] + "..."
        )
        line = Text(f"  {name:<5} {title:<44} ")
        console.print(line.append(word, style=color))
        told = [result.message, ASTRAY.get(astray.get(name))]
        if tries.get(name):
            told.append(_next_hint(exercise.name, exercise.hints, tries[name]))
        told = "\n".join(filter(None, told))
        if told and result.status != "passed":
            console.print(Padding(Text(told), (0, 2, 1, 8), expand=False))
    if any(results[name].status == "blank" for name in task.asked()):
        console.print(
            "  (What is not saved cannot be seen here: save the notebook first.)"
        )


def _next_hint(name: str, hints: int, tries: int) -> str:
    if tries <= hints:
        return f"Help: Hint {tries} of exercise {name}, folded below its text."
    then = "; then the solution, in solutions/" * (ROOT / "solutions").is_dir()
    return f"Help: all {hints} hints of {name}{then}."


class Memory:
    """What the last checks found, in `.minigrad/results.json`, by the answer's hash.

    An answer that has changed since is not found any more: nothing is claimed of it.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / ".minigrad" / "results.json"
        try:
            known = as_table(json.loads(self.path.read_text("utf-8")))
        except (OSError, ValueError):
            known = {}
        self.known = {name: as_table(statuses) for name, statuses in known.items()}

    def status(self, chapter: Chapter, name: str, cells: list[str]) -> str | None:
        """What was found of this very answer, or None."""
        return self.known.get(name, {}).get(self._hash(chapter, name, cells))

    def remember(
        self,
        chapter: Chapter,
        answers: dict[str, list[str]],
        results: dict[str, Result],
    ) -> dict[str, int]:
        """Note the results; return how many different answers to each were wrong."""
        tries = {}
        for name, cells in answers.items():
            seen = self.known.setdefault(name, {})
            seen[self._hash(chapter, name, cells)] = results[name].status
            if results[name].status not in ("passed", "blank"):
                tries[name] = sum(s not in ("passed", "blank") for s in seen.values())
        return tries

    def save(self) -> None:
        """Write it down; a folder that cannot be written to is no reason to stop."""
        for name, statuses in Memory(self.path.parents[1]).known.items():
            self.known[name] = statuses | self.known.get(name, {})  # another check's
        try:
            self.path.parent.mkdir(exist_ok=True)
            write_whole(self.path, json.dumps(self.known, indent=1))
        except OSError:
            pass

    @staticmethod
    def _hash(chapter: Chapter, name: str, cells: list[str]) -> str:
        asked = [
            cell["source"]
            for label, cell in chapter.cells.items()
            if chapter.home[label] == name
            and parse_label(label)[0] in ("answer", "check")
        ]
        text = json.dumps([asked, cells])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
