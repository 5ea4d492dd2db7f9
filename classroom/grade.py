"""Grade what a class has handed in: `python3 course.py grade SUBMISSIONS --out REPORT`.

The answers are taken out of each notebook and put into the untouched one, with hidden
checks after the visible ones. The notebook runs in a sandbox; nbval, outside of it,
compares what the hidden checks print with what our solution prints for the same inputs.
These come from the teacher's seed. Each set of answers is a task of its own, so that
what one submission does costs nobody else anything.
"""

import csv
import hashlib
import hmac
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellExecutionError
from nbformat import from_dict
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from classroom import chapters as sources
from classroom import sandbox
from classroom.check import run_judge
from classroom.collect import Submission, submissions
from classroom.kernels import Runner
from classroom.notebooks import (
    ROOT,
    Cell,
    Chapter,
    Learner,
    Unreadable,
    all_chapters,
    as_table,
    chapter_of,
    graft,
    is_lesson,
    make_label,
    parse_notebook,
    write_whole,
)
from classroom.report import HandIn, Student, harmless, write_report
from classroom.sandbox import NoSandbox
from classroom.verdict import BLANK, OTHER_INPUTS, STOPPED, Result, result

REFERENCE_TIMEOUT = 120  # seconds for one cell of our own
MESSAGE = 2_000  # characters of what is told of one exercise
KINDS = {".py", ".md", ".ipynb", ".safetensors"}
UNGRADED = Result("ungraded")
WORDY = {"wrong", "error"}  # what a second run finds the words for


# --- what is handed in --------------------------------------------------------------


def read_students(
    handed_in: list[Submission], chapters: list[Chapter], deadline: datetime | None
) -> list[Student]:
    """Return the students with their notebooks; what cannot be used is noted."""
    students = []
    for submission in handed_in:
        student = Student(submission.student, submission.id)
        student.notes += submission.problems
        others = []  # lessons, and notebooks of what is not graded
        for file in submission.files:
            try:
                hand_in = read_hand_in(file.name, file.data, chapters)
            except IsAnother as error:
                others.append(f"{file.name}: {error}")
                continue
            except Unreadable as error:
                student.notes.append(f"{file.name}: {error}")
                continue
            except Exception as error:  # one odd file must not stop all others
                odd = f"it cannot be read ({type(error).__name__}: {error})"
                student.notes.append(f"{file.name}: {odd}")
                continue
            hand_in.when = file.when
            keep_latest(student, hand_in)
        if not student.hand_ins:
            student.notes += others
        late = [
            h
            for h in student.hand_ins.values()
            if deadline and h.when and h.when > deadline
        ]
        student.notes += [
            f"{h.file}: handed in late, at {h.when:%Y-%m-%d %H:%M}" for h in late
        ]
        student.late = bool(late) or submission.marked_late
        students.append(student)
    return students


class IsAnother(Unreadable):
    """A notebook is not graded, such as whoever hands in the whole course hands in."""


def read_hand_in(name: str, data: bytes, chapters: list[Chapter]) -> HandIn:
    """Return the answers in one notebook file; raise Unreadable."""
    notebook = parse_notebook(data, name.split("/")[-1])
    chapter = chapter_of(notebook, chapters)
    if chapter is None:
        raise IsAnother("it has no exercise that is graded here in it")
    if is_lesson(notebook, chapter):
        raise IsAnother("it is a lesson; what is graded stands in exercises/")
    learner = Learner(notebook, chapter)
    hand_in = HandIn(chapter.slug, name, learner.answers())
    kernel = as_table(notebook["metadata"].get("kernelspec")).get("language", "python")
    if kernel != "python":
        hand_in.notes.append(f"it was written for {kernel}; it is run by Python 3")
    for exercise, place in learner.astray().items():
        hand_in.notes.append(f"{exercise}: an answer seems to stand in {place}")
    missing = [
        exercise
        for exercise in chapter.exercises
        if make_label("check", exercise) not in learner.labels
    ]
    if missing:
        what = ", ".join(missing)
        hand_in.notes.append(f"the check of {what} is not in it; ours was used")
    return hand_in


def rank(hand_in: HandIn) -> tuple:
    """By what one of several hand-ins of a chapter is chosen: the largest counts."""
    when = hand_in.when or datetime.min
    return not among_solutions(hand_in), bool(hand_in.answers), when, hand_in.file


def among_solutions(hand_in: HandIn) -> bool:
    """Return whether a notebook lies where the course has its own solutions."""
    return "solutions" in hand_in.file.split("/")


def keep_latest(student: Student, hand_in: HandIn) -> None:
    """Note a hand-in, or that there is another one of the same chapter.

    One of solutions/, which may be ours, comes last, and one without answers before it.
    """
    other = student.hand_ins.get(hand_in.chapter)
    latest = hand_in
    if other:
        latest = max((hand_in, other), key=rank)
        older = other if latest is hand_in else hand_in
        ours = among_solutions(older) and not among_solutions(latest)
        if older.answers and latest.answers != older.answers and not ours:
            student.notes.append(
                f"{older.file}: not graded, since {latest.file} has the same chapter "
                "and comes first. Are these two students in one folder?"
            )
    student.hand_ins[hand_in.chapter] = latest


# --- hidden checks ------------------------------------------------------------------


@cache
def hidden_checks(slug: str, seed: str) -> dict[str, Cell]:
    """Return the cells of a chapter's hidden checks, with what our solution prints.

    Raises RuntimeError if our own solution does not run.
    """
    chapter = next(c for c in sources.chapters() if c.slug == slug)
    if chapter.missing:
        raise RuntimeError(
            f"chapter {slug} needs {chapter.missing}, which is not in this Python: "
            "install it, or leave the chapter out by --chapters"
        )
    exercises = chapter.exercises
    cells = {n: hidden_cell(n, e.hidden, seed) for n, e in exercises.items()}
    solved = {name: [exercise.solved] for name, exercise in exercises.items()}
    notebook = from_dict(graft(pristine(slug), solved, cells))
    silent = ["--log-level=ERROR"]
    client = Runner(
        notebook,
        timeout=REFERENCE_TIMEOUT,
        kernel_name="python3",
        extra_arguments=silent,
    )
    try:
        client.execute(cwd=str(ROOT / "exercises"))
    except CellExecutionError as error:
        what = f"{error.ename}: {error.evalue}"
        raise RuntimeError(f"our own solution stopped with {what}") from None
    for cell in notebook.cells:
        place = cell.metadata.minigrad
        if place.role == "hidden":
            printed = "".join(output.get("text", "") for output in cell.outputs)
            stream = {"output_type": "stream", "name": "stdout", "text": printed}
            cells[place.exercise]["outputs"] = [stream]
    return cells


def own_seed(seed: str, slug: str, answers: dict[str, list[str]]) -> str:
    """Return the seed for one set of answers, which tells nothing of the teacher's.

    What an answer finds out of its own inputs helps no other one, not even itself with
    a change.
    """
    what = json.dumps([slug, answers], sort_keys=True).encode()
    return hmac.new(seed.encode(), what, "sha256").hexdigest()


def hidden_cell(name: str, source: str, seed: str) -> Cell:
    """Return the cell of a hidden check; the names that it binds are its own.

    Those of Python's own functions mean these, whatever an answer has called so.
    """
    draw = f'__import__("random").Random({f"{seed} {name}"!r})'
    names = "**globals(), **vars(__import__('builtins')), '__name__': __name__"
    place = {"exercise": name, "role": "hidden"}
    return {
        "cell_type": "code",
        "id": make_label("hidden", name),
        "source": f"exec({source!r}, {{{names}, 'rng': {draw}}})",
        "metadata": {"minigrad": place, "tags": ["nbval-check-output"]},
        "execution_count": 1,
        "outputs": [],
    }


def pristine(slug: str) -> Chapter:
    """Return the untouched notebook of a chapter."""
    return Chapter(ROOT / "classroom" / "pristine" / f"{slug}.ipynb")


# --- one task -----------------------------------------------------------------------


def grade_answers(
    slug: str,
    answers: dict[str, list[str]],
    seed: str,
    timeout: float,
    safe: bool = True,
) -> dict[str, tuple[str, str]]:
    """Return status and message by exercise, as check has them, for one notebook.

    A wrong answer's message comes from a second run without hidden checks, so that
    nothing of these can get into it.
    """
    chapter = pristine(slug)
    hidden = hidden_checks(slug, own_seed(seed, slug, answers))
    folder = None if safe else ROOT / "exercises"
    (events,), said = run_judge([graft(chapter, answers, hidden)], timeout, folder)
    first = {n: judged(n, events, timeout, said, "hidden") for n in answers}
    second: dict[str, Result] = {}
    if any(
        verdict.status in WORDY and not verdict.message for verdict in first.values()
    ):
        (events,), said = run_judge([graft(chapter, answers)], timeout, folder)
        second = {n: judged(n, events, timeout, said, "check") for n in answers}
    grades = dict.fromkeys(chapter.exercises, (BLANK.status, ""))
    for name, verdict in first.items():
        message = verdict.message or second.get(name, verdict).message
        grades[name] = verdict.status, message[:MESSAGE]
    return grades


def judged(
    name: str, events: list[dict], timeout: float, said: str, last: str
) -> Result:
    """Return the result of an exercise, of messages only what may be shown.

    In a run with hidden checks that is what does not come from the kernel.
    """
    found = result(name, events, timeout, said, last)
    here = [e["failed"] for e in events if e["exercise"] in (name, None)]
    stopped = [failed for failed in here if failed in STOPPED]
    if found.status != "passed" and stopped:
        return Result(*STOPPED[stopped[0]](timeout))
    if last == "check" or found.message == OTHER_INPUTS:
        return found
    return Result(found.status)


# --- all tasks ----------------------------------------------------------------------


def key_of(hand_in: HandIn, settings: tuple[str, float, bool]) -> str:
    """Return a name for a task: the same one for what gives the same grades."""
    what = [hand_in.chapter, hand_in.answers, *settings, course_digest()]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:20]


class Ledger:
    """What has been graded so far, a line each in a file; it survives an interrupt."""

    def __init__(self, path: Path):
        self.path, self.known = path, {}
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for line in lines:
            with suppress(ValueError, KeyError):  # a line that was broken off
                entry = json.loads(line)
                self.known[entry["key"]] = entry["grades"]
        write_whole(path, "".join(map(self.line, self.known)))

    def line(self, key: str) -> str:
        """Return what the file says of one task."""
        return json.dumps({"key": key, "grades": self.known[key]}) + "\n"

    def add(self, key: str, grades: dict[str, tuple[str, str]]) -> None:
        """Write down one notebook's grades."""
        self.known[key] = grades
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.line(key))


def run_tasks(
    client: Any,
    tasks: dict[str, HandIn],
    ledger: Ledger,
    settings: tuple[str, float, bool],
    console: Console,
) -> dict[str, str]:
    """Grade what is not in the ledger yet, and write each down as it is done.

    Returns what hindered the tasks that could not be graded, by key.
    """
    from distributed import as_completed

    left = {key: task for key, task in tasks.items() if key not in ledger.known}
    futures = [
        client.submit(
            *(grade_answers, task.chapter, task.answers, *settings),
            key=key,
            retries=1,  # another worker, if one was lost
        )
        for key, task in left.items()
    ]
    hindered = {}
    with Progress(console=console, transient=True) as progress:
        done = len(tasks) - len(left)
        bar = progress.add_task("grading", total=len(tasks), completed=done)
        for future in as_completed(futures):
            if error := future.exception():
                hindered[future.key] = f"{type(error).__name__}: {error}"[:MESSAGE]
            else:
                ledger.add(future.key, future.result())
            progress.advance(bar)
    return hindered


@contextmanager
def workers(address: str | None, tls: dict[str, str]) -> Iterator[Any]:
    """Yield a dask client: of a cluster in this process, or of the one at `address`.

    Raises Unreadable if the course on a worker is another one, NoSandbox if a worker
    cannot keep submissions apart.
    """
    from distributed import Client, LocalCluster
    from distributed.security import Security

    if address is None:
        one = {"processes": False, "n_workers": 1}
        one |= {"threads_per_worker": os.cpu_count(), "silence_logs": "CRITICAL"}
        here = "127.0.0.1:0"  # its pages are for nobody on the network
        one |= {"dashboard_address": here, "worker_dashboard_address": here}
        with LocalCluster(**one) as local, Client(local) as client:
            yield client
        return
    security = Security(require_encryption=True, **tls) if tls else None
    try:
        client = Client(address, security=security, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise Unreadable(f"There is no scheduler at {address}: {error}") from None
    with client:
        here = course_digest()
        others = [w for w, d in client.run(course_digest).items() if d != here]
        if others:
            raise Unreadable(f"The course on {others[0]} is not the same as here.")
        if bound := [w for w, d in client.run(is_daemon).items() if d]:
            raise Unreadable(
                f"The worker {bound[0]} may start no processes, which grading needs. "
                "Start it with --no-nanny."
            )
        yield client


def is_daemon() -> bool:
    """Return whether this process may have no children."""
    return current_process().daemon


@cache
def course_digest() -> str:
    """Return a hash of what grades depend on: the package, sources and this folder."""
    parts = [ROOT / "classroom" / "pristine", ROOT / "chapters", ROOT / "minigrad"]
    paths = sorted(p for part in parts for p in part.rglob("*") if p.suffix in KINDS)
    paths += sorted((ROOT / "classroom").glob("*.py"))
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


# --- the command --------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """What the command was asked to do."""

    path: Path
    out: Path
    chapters: str | None = None
    deadline: str | None = None
    seed: str | None = None
    timeout: float = 20
    unsafe: bool = False
    scheduler: str | None = None
    tls: tuple[tuple[str, str], ...] = ()


def grade_command(order: Order) -> int:
    """Grade submissions and write the report; return 0, or 2 if that cannot be done.

    Returns 1 if the machine, or our own code, failed some notebook, 130 if interrupted;
    the next run goes on from there. Prints what could not be read.
    """
    console = Console(highlight=False)
    try:
        students, hindered = grade(order, console)
    except (Unreadable, NoSandbox) as error:
        console.print(Text(str(error)), soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        again = "What is graded is kept; the same command goes on from there."
        console.print(f"\nStopped. {again}")
        return 130
    console.print(Text(f"{len(students)} students: {order.out / 'index.html'}"))
    if hindered:
        console.print("The same command tries what is not graded again.")
    return 1 if hindered else 0


def grade(order: Order, console: Console) -> tuple[list[Student], int]:
    """Read, grade and report; returns the students, and how many tasks were hindered.

    Raises Unreadable or NoSandbox.
    """
    chapters = chosen_chapters(order.chapters)
    handed_in = submissions(order.path)
    students = read_students(handed_in, chapters, moment(order.deadline))
    if not students:
        raise Unreadable(
            f"There is no student's folder, zip or notebook in {order.path}."
        )
    make_room(order)
    begun = {slug for student in students for slug in student.hand_ins}
    chapters = [chapter for chapter in chapters if chapter.slug in begun]
    keep_sheet(order.out, students, chapters)
    seed = order.seed or kept_seed(order.out / "seed.txt")
    settings = seed, order.timeout, not order.unsafe
    with workers(order.scheduler, dict(order.tls)) as client:
        if not order.unsafe:
            require_everywhere(client)
        hand_ins = [h for s in students for h in s.hand_ins.values() if h.answers]
        tasks = {key_of(h, settings): h for h in hand_ins}
        ledger = Ledger(order.out / "graded.jsonl")
        hindered = run_tasks(client, tasks, ledger, settings, console)
    for student in students:
        for hand_in in student.hand_ins.values():
            key = key_of(hand_in, settings)
            found = ledger.known.get(key, {})
            rest = UNGRADED if key in hindered else BLANK
            student.results |= dict.fromkeys(pristine(hand_in.chapter).exercises, rest)
            student.results |= {name: Result(*each) for name, each in found.items()}
            if key in hindered:
                hand_in.notes.append("it could not be graded, by no fault of its own")
    write_report(order.out, students, chapters)
    for problem, count in Counter(hindered.values()).items():
        console.print(Text(f"{count} not graded: {problem}"), soft_wrap=True)
    return students, len(hindered)


def moment(deadline: str | None) -> datetime | None:
    """Return a moment in local time, of a day its last second; raise Unreadable."""
    if deadline is None:
        return None
    try:
        when = datetime.fromisoformat(deadline.strip())
    except ValueError:
        raise Unreadable(
            f"--deadline {deadline}: give a day, such as 2027-03-01, which counts to "
            "its end, or a moment, such as 2027-03-01T18:00."
        ) from None
    if ":" not in deadline and "T" not in deadline:
        when = when.replace(hour=23, minute=59, second=59)
    return when.astimezone().replace(tzinfo=None) if when.tzinfo else when


def make_room(order: Order) -> None:
    """Make the report's folder; raise Unreadable if it is none, or holds other things.

    Nor may it lie among the students.
    """
    if order.path.resolve() in (order.out.resolve(), *order.out.resolve().parents):
        raise Unreadable(
            f"--out {order.out} lies within the submissions, so that the next run "
            "would take it for a student. Give a folder elsewhere."
        )
    try:
        order.out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Unreadable(
            f"--out {order.out} is a file, or within one. Give a folder; it is made "
            "if there is none."
        ) from None
    begun = any((order.out / name).exists() for name in ("seed.txt", "graded.jsonl"))
    if any(order.out.iterdir()) and not begun:
        raise Unreadable(
            f"--out {order.out} holds other files, and no report of this command. "
            "Give a new folder, or an empty one."
        )


def keep_sheet(out: Path, students: list[Student], chapters: list[Chapter]) -> None:
    """Raise Unreadable if a report there has grades that the new one would lack."""
    try:
        with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file)
    except (OSError, ValueError):
        return
    told = {int(n.split(".")[0]) for n in header if re.fullmatch(r"\d+\.\d+", n)}
    gone = sorted(told - {chapter.number for chapter in chapters})
    lost = [f"chapter {number}" for number in gone]
    here = {(harmless(student.name), harmless(student.id)) for student in students}
    lost += [row[0] for row in rows if tuple(row[:2]) not in here]
    if lost:
        some = ", ".join(lost[:5]) + (" and others" if len(lost) > 5 else "")
        raise Unreadable(
            f"--out {out} holds the grades of {some}, of which nothing has been handed "
            "in here; they would be lost. Give another folder."
        )


def chosen_chapters(what: str | None) -> list[Chapter]:
    """Return the chapters that "7-9" or "4,6" means, or all; raise Unreadable."""
    everything = all_chapters()
    if what is None:
        return everything
    wanted: set[int] = set()
    for part in what.split(","):
        ends = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
        if not ends:
            raise Unreadable(f"--chapters {what}: give numbers, such as 4, 7-9 or 4,6.")
        wanted |= set(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    found = [chapter for chapter in everything if chapter.number in wanted]
    if not found:
        raise Unreadable(f"--chapters {what}: there is no such chapter.")
    return found


def kept_seed(path: Path) -> str:
    """Return the seed that a report was begun with, or begin with a new one."""
    if not path.exists():
        path.write_text(secrets.token_hex(8) + "\n", encoding="utf-8")
    return path.read_text("utf-8").strip()


def require_everywhere(client: Any) -> None:
    """Raise NoSandbox unless every worker has a sandbox that holds."""
    found = client.run(why_no_sandbox)
    for worker, problem in found.items():
        where = f" on {worker}" if len(found) > 1 else ""
        if problem:
            raise NoSandbox(
                f"Submissions would run without a sandbox{where}: {problem}. "
                "To run them there nevertheless, with your rights and your files, "
                "give --unsafe."
            )


def why_no_sandbox() -> str:
    """Return why submissions cannot be kept apart here; "" if they can."""
    try:
        sandbox.require()
    except NoSandbox as error:
        return str(error)
    return ""
