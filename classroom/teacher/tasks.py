"""Grade each set of answers as a separate task, so that none costs another anything.

A hidden check runs the drawn inputs of a chapter, with a seed that is kept secret.
"""

import hashlib
import hmac
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import groupby, islice, zip_longest
from multiprocessing.pool import ThreadPool
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from classroom import ROOT
from classroom.author.chapters import Chapter as Source
from classroom.author.chapters import chapters
from classroom.author.execute import execute
from classroom.author.printed import drawn_cells, what_is_printed
from classroom.cell.drawn import same_numbers
from classroom.cell.odd_characters import advice
from classroom.notebook.files import Cell, digest_of, write_whole
from classroom.notebook.pristine import Chapter
from classroom.run.judge import run_notebook
from classroom.run.roles import ROLES, notebook_to_run
from classroom.run.verdict import (
    BLANK,
    OTHER_INPUTS,
    STOPPED,
    Result,
    result,
    stopped,
)
from classroom.teacher.points import by_case, cases_of, parts_of, without
from classroom.teacher.students import HandIn

MESSAGE = 2_000  # characters of what is told of one exercise
TOGETHER = 50  # notebooks for which our solution runs once
KINDS = {".py", ".md", ".ipynb", ".safetensors"}
WORDY = {"wrong", "error"}  # what a second run finds the words for
UNGRADED = Result("ungraded")
OLDER = "\nThis is Python {}. Syntax that only a newer Python knows is an error here."
AT_MOST = "\nFor other inputs, {:.0%} of the results are right. No more can be earned."
Grades = dict[str, tuple[str, str, dict[str, float]]]  # as Result has them
Task = tuple[str, tuple, str]  # its key, what grade_answers takes, what hindered it
Outcome = tuple[str, Grades, str]  # key, grades, what hindered it
Run = Callable[[Iterable[Task]], Iterator[Outcome]]


# --- hidden checks ------------------------------------------------------------------


def reference_lines(slug: str, seeds: list[str]) -> list[dict[str, str]]:
    """Return what our solution prints for drawn inputs, by exercise, for each seed.

    Raises RuntimeError if our solution does not run.
    """
    chapter = chapter_source(slug)
    several = [drawn_cells(chapter, seed) for seed in seeds]
    run = partial(execute, folder=ROOT / "exercises")
    return what_is_printed(chapter, several, run)


def hidden_checks(slug: str, seed: str, printed: dict[str, str]) -> dict[str, Cell]:
    """Return the cells of a chapter's hidden checks, with what our solution prints."""
    cells = drawn_cells(chapter_source(slug), seed)
    for name, cell in cells.items():
        stream = {"output_type": "stream", "name": "stdout", "text": printed[name]}
        cell |= {"outputs": [stream], "execution_count": 1}
        cell["metadata"]["tags"] = ["nbval-check-output"]
    return cells


def chapter_source(slug: str) -> Source:
    """Return the source of a chapter."""
    return next(chapter for chapter in chapters() if chapter.slug == slug)


def own_seed(seed: str, key: str) -> str:
    """Return the seed of one task, which reveals nothing of the teacher's.

    No other answers have the same one, nor the same answers after the course changed.
    So what an answer finds out about its inputs helps nobody.
    """
    return hmac.new(seed.encode(), key.encode(), "sha256").hexdigest()


def pristine(slug: str) -> Chapter:
    """Return the untouched notebook of a chapter."""
    return Chapter(ROOT / "classroom" / "pristine" / f"{slug}.ipynb")


# --- one task -----------------------------------------------------------------------


def grade_answers(
    slug: str,
    answers: dict[str, list[str]],
    seed: str,
    printed: dict[str, str],
    timeout: float,
    safe: bool = True,
) -> Grades:
    """Return status, message and parts by exercise, as Result has them.

    `seed` draws the inputs for which our solution prints `printed`, by exercise.
    A wrong answer's message comes from a second run without hidden checks, so that
    nothing of them can get into it.
    """
    chapter = pristine(slug)
    parts = {name: parts_of(chapter, name) for name in answers}
    hidden = hidden_checks(slug, seed, printed)
    folder = None if safe else ROOT / "exercises"
    run = partial(results_of, chapter, timeout, folder)
    first, second = run(answers, hidden), {}
    failed = {n: parts[n] for n in answers if first[n].status != "passed"}
    exams = [name for name in failed if parts[name] and cases_of(chapter, name)]
    if exams or any(first[n].status in WORDY and not first[n].message for n in failed):
        second = run(answers)
    right = {name: dict.fromkeys(parts[name], name not in failed) for name in answers}
    theirs = {name: several for name, several in failed.items() if name not in exams}
    limits: dict[str, str] = {}
    right |= right_parts(theirs, answers, partial(run, hidden=hidden))
    for name, share in right_lines(chapter, timeout, folder, answers, hidden, exams):
        right[name] = by_case(parts[name], second[name].message, share)
        limits[name] = AT_MOST.format(share) if share < 1 else ""
    grades = {name: (BLANK.status, "", {}) for name in chapter.exercises}
    for name, verdict in first.items():
        message = verdict.message or second.get(name, verdict).message
        if message.startswith("SyntaxError") and not advice(message):
            message += OLDER.format(platform.python_version())
        message = message[:MESSAGE] + limits.get(name, "")
        grades[name] = verdict.status, message, right[name]
    return grades


def right_parts(
    parts: dict[str, list[str]],
    answers: dict[str, list[str]],
    run: Callable[[dict[str, list[str]]], dict[str, Result]],
) -> dict[str, dict[str, float]]:
    """Return which parts of some answers are right. The nth of each run together."""
    right = {name: {} for name in parts}
    for several in zip_longest(*parts.values()):
        tried = {name: part for name, part in zip(parts, several) if part}
        ours = {n: without(part, n, parts[n]) for n, part in tried.items()}
        found = run(answers | {n: [*answers[n], code] for n, code in ours.items()})
        for name, part in tried.items():
            right[name][part] = found[name].status == "passed"
    return right


def right_lines(
    chapter: Chapter,
    timeout: float,
    folder: Path | None,
    answers: dict[str, list[str]],
    hidden: dict[str, Cell],
    exams: list[str],
) -> Iterator[tuple[str, float]]:
    """Yield each exam, and which share of the hidden results is right.

    Its check is left out, since nothing runs after a check that failed.
    """
    if not exams:
        return
    notebook = notebook_to_run(chapter, answers, hidden)
    checks = [{"exercise": name, "role": "check"} for name in exams]
    cells = notebook["cells"]
    cells = [c for c in cells if c["metadata"]["minigrad"] not in checks]
    events, said = run_notebook({**notebook, "cells": cells}, timeout, folder)
    refuse_unjudged(judged(n, events, timeout, said, "hidden") for n in exams)
    for event in [event for event in events if ROLES[event["role"]].secret]:
        ours, theirs = (event.get(k, "").splitlines() for k in ("expected", "got"))
        same = sum(map(same_numbers, ours, theirs)) / max(1, len(ours))
        if event["exercise"] in exams:
            yield event["exercise"], same if event["failed"] else 1.0


def results_of(
    chapter: Chapter,
    timeout: float,
    folder: Path | None,
    answers: dict[str, list[str]],
    hidden: dict[str, Cell] | None = None,
) -> dict[str, Result]:
    """Run answers, and return the result of each, with what may be told of it.

    Raises RuntimeError if the machine is at fault; the next run tries it again.
    """
    notebook = notebook_to_run(chapter, answers, hidden)
    events, said = run_notebook(notebook, timeout, folder)
    last = "hidden" if hidden else "check"
    found = {n: judged(n, events, timeout, said, last) for n in answers}
    refuse_unjudged(found.values())
    return found


def refuse_unjudged(found: Iterable[Result]) -> None:
    """Raise RuntimeError if the machine is at fault for a result."""
    for each in found:
        if each.status == "ungraded":
            raise RuntimeError(each.message)


def judged(
    name: str, events: list[dict], timeout: float, said: str, last: str
) -> Result:
    """Return the result of an exercise, with only those messages that may be shown.

    In a run with hidden checks, these are the ones that do not come from the kernel.
    """
    found = result(name, events, timeout, said, last)
    here = [e["failed"] for e in events if e["exercise"] in (name, None)]
    reasons = [failed for failed in here if failed in STOPPED]
    if found.status != "passed" and reasons:
        return stopped(reasons[0], timeout)
    if last == "check" or found.message == OTHER_INPUTS:
        return found
    return Result(found.status)


# --- all tasks ----------------------------------------------------------------------


class Ledger:
    """The results so far, one in each line of a file, which survives an interrupt.

    `settings` are the seed, the time-out and whether there is a sandbox. With `held`,
    new results are written only by `write`. Without `by_part`, points are all or none.
    """

    def __init__(
        self,
        path: Path,
        settings: tuple[str, float, bool],
        held: bool = False,
        by_part: bool = True,
    ) -> None:
        self.path, self.settings, self.held = path, settings, held
        self.kept = 3 if by_part else 2  # of what a result has
        self.known, self.hindered = {}, {}  # what hindered a task may not do so again
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for line in lines:
            with suppress(ValueError, KeyError):  # a line that was broken off
                entry = json.loads(line)
                self.known[entry["key"]] = entry["grades"]
        if not held:
            self.write()

    def key_of(self, hand_in: HandIn) -> str:
        """Return a key for a task: equal keys mean equal grades."""
        what = [hand_in.chapter, hand_in.answers, *self.settings, course_digest()]
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
        return digest.hexdigest()[:20]

    def results(self, hand_in: HandIn, exercises: Iterable[str]) -> dict[str, Result]:
        """Return the result of each exercise of a notebook."""
        key = self.key_of(hand_in)
        rest = UNGRADED if key in self.hindered else BLANK
        known = self.known.get(key, {}).items()
        found = {name: Result(*each[: self.kept]) for name, each in known}
        return dict.fromkeys(exercises, rest) | found

    def line(self, key: str) -> str:
        """Return the line of the file for one task."""
        return json.dumps({"key": key, "grades": self.known[key]}) + "\n"

    def write(self) -> None:
        """Write the whole file."""
        write_whole(self.path, "".join(map(self.line, self.known)))

    def add(self, key: str, grades: Grades) -> None:
        """Write one notebook's grades to the file."""
        self.known[key] = grades
        if not self.held:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(self.line(key))


def tasks_of(
    new: dict[str, HandIn], settings: tuple[str, float, bool]
) -> Iterator[Task]:
    """Yield each task, by its key, with its inputs and what our solution prints.

    Our solution runs for many notebooks at once, which takes little longer than for
    one.
    """
    seed, *rest = settings
    in_order = sorted(new, key=lambda key: new[key].chapter)
    for slug, keys in groupby(in_order, lambda key: new[key].chapter):
        while some := list(islice(keys, TOGETHER)):
            seeds = [own_seed(seed, key) for key in some]
            try:
                printed, problem = reference_lines(slug, seeds), ""
            except Exception as error:
                printed, problem = [{} for _ in some], told(error)
            for key, own, lines in zip(some, seeds, printed):
                yield key, (slug, new[key].answers, own, lines, *rest), problem


def run_here(tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Yield the outcome of each task when it is done, on all cores of this machine."""
    with ThreadPool(os.cpu_count()) as pool:  # nobody waits for it at Ctrl-C
        yield from pool.imap_unordered(outcome, tasks)


def run_tasks(
    hand_ins: list[HandIn],
    ledger: Ledger,
    console: Console,
    run: Run = run_here,
) -> None:
    """Grade what is not in the ledger yet, and add each result when it is done.

    The ledger also notes the reasons why tasks could not be graded.
    """
    tasks = {ledger.key_of(each): each for each in hand_ins}
    new = {key: each for key, each in tasks.items() if key not in ledger.known}
    with Progress(console=console, transient=True) as progress:
        done = len(tasks) - len(new)
        bar = progress.add_task("grading", total=len(tasks), completed=done)
        for key, grades, problem in run(tasks_of(new, ledger.settings)):
            if problem:
                ledger.hindered[key] = problem[:MESSAGE]
            else:
                ledger.add(key, grades)
            progress.advance(bar)


def outcome(task: Task) -> Outcome:
    """Grade one notebook; an error costs it no points."""
    key, words, problem = task
    try:
        return key, {} if problem else grade_answers(*words), problem
    except Exception as error:
        return key, {}, told(error)


def told(error: Exception) -> str:
    """Return an error as a line of text."""
    return f"{type(error).__name__}: {error}"


@cache
def course_digest() -> str:
    """Return a hash of what grades depend on: the package, sources and this folder."""
    parts = [ROOT / "classroom" / "pristine", ROOT / "chapters", ROOT / "minigrad"]
    paths = sorted(p for part in parts for p in part.rglob("*") if p.suffix in KINDS)
    return digest_of([*paths, *sorted((ROOT / "classroom").rglob("*.py"))])
