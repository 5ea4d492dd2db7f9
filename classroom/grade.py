"""Grade what a class has handed in: `python3 course.py grade SUBMISSIONS --out REPORT`.

The answers are taken out of each notebook and put into the untouched one, with hidden
checks after the visible ones. The notebook runs in a sandbox; nbval, outside of it,
compares what the hidden checks print with what our solution prints for the same inputs.
These come from the teacher's seed. Each set of answers is a task of its own, so that
what one submission does costs nobody else anything.
"""

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
    Unreadable,
    all_chapters,
    graft,
    make_label,
    write_whole,
)
from classroom.reading import HandIn
from classroom.report import Student, write_report
from classroom.sandbox import NoSandbox
from classroom.verdict import BLANK, OTHER_INPUTS, STOPPED, Result, result

REFERENCE_TIMEOUT = 120  # seconds for one cell of our own
MESSAGE = 2_000  # characters of what is told of one exercise
KINDS = {".py", ".md", ".ipynb", ".safetensors"}
CLASS = "handed_in.json"  # in the report's folder
UNGRADED = Result("ungraded")
WORDY = {"wrong", "error"}  # what a second run finds the words for


# --- what is handed in --------------------------------------------------------------


def read_students(
    handed_in: list[Submission], deadline: datetime | None
) -> list[Student]:
    """Return the students with one notebook of each chapter, and which are late."""
    students = []
    for submission in handed_in:
        student = Student(submission.student, submission.id)
        student.notes += submission.problems
        for hand_in in submission.hand_ins:
            note_time(hand_in, deadline)
            keep_best(student, hand_in)
        students.append(student)
    return students


def note_time(hand_in: HandIn, deadline: datetime | None) -> None:
    """Note if a notebook is late, and by whose clock, or that nobody knows."""
    if hand_in.late:
        hand_in.notes.append("handed in late, as the learning platform's name says")
    elif deadline and hand_in.when and hand_in.when > deadline:
        hand_in.late = True
        at = f"{hand_in.when:%Y-%m-%d %H:%M}, {hand_in.clock}"
        hand_in.notes.append(f"handed in late, at {at}")
    elif deadline and not hand_in.when and hand_in.clock:
        hand_in.notes.append(f"when it was handed in is not known: {hand_in.clock}")


def rank(hand_in: HandIn) -> tuple:
    """By what one of several hand-ins of a chapter is chosen: the largest counts."""
    when = hand_in.when or datetime.min
    filled = bool(hand_in.answers)
    return not among_solutions(hand_in), filled, not hand_in.late, when, hand_in.file


def among_solutions(hand_in: HandIn) -> bool:
    """Return whether a notebook lies where the course has its own solutions."""
    return "solutions" in hand_in.file.split("/")


def keep_best(student: Student, hand_in: HandIn) -> None:
    """Note a hand-in, or that there is another one of the same chapter.

    The latest counts that was on time. One of solutions/, which may be ours, comes
    last, and one without answers before it.
    """
    other = student.hand_ins.get(hand_in.chapter)
    best = hand_in
    if other:
        best = max((hand_in, other), key=rank)
        worse = other if best is hand_in else hand_in
        ours = among_solutions(worse) and not among_solutions(best)
        if worse.answers and best.answers != worse.answers and not ours:
            on_time = worse.late and not best.late
            why = "was on time" if on_time else "comes first"
            student.notes.append(
                f"{worse.file}: not graded, since {best.file} has the same chapter "
                f"and {why}. Are these two students in one folder?"
            )
    student.hand_ins[hand_in.chapter] = best


def leave_out(students: list[Student], counted: list[Chapter]) -> None:
    """Leave out hand-ins of other chapters; note those with answers."""
    slugs = [chapter.slug for chapter in counted]
    for student in students:
        for slug in [s for s in student.hand_ins if s not in slugs]:
            left = student.hand_ins.pop(slug)
            if left.answers:
                student.notes.append(
                    f"{left.file}: not graded, since few have handed in its chapter, "
                    "or it is not of this report; name all that count by --chapters"
                )


def what_counts(students: list[Student], chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters that most students have answers in.

    That is half as many as in the chapter with the most: so nobody's zeal makes all
    others lack points.
    """
    done = Counter(n for s in students for n, h in s.hand_ins.items() if h.answers)
    most = max(done.values(), default=0)
    return [chapter for chapter in chapters if 2 * done[chapter.slug] >= most]


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
    """Return one of sixteen seeds, by the answers; it tells nothing of the teacher's.

    So what an answer finds out of its own inputs seldom helps another one, or itself
    with a change, and the reference runs sixteen times a chapter at most.
    """
    said = json.dumps(answers, sort_keys=True)
    which = hmac.new(seed.encode(), said.encode(), "sha256").digest()[0] % 16
    return hmac.new(seed.encode(), f"{slug} {which}".encode(), "sha256").hexdigest()


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
    students = read_students(submissions(order.path, chapters), moment(order.deadline))
    if not students:
        raise Unreadable(
            f"There is no student's folder, zip or notebook in {order.path}."
        )
    make_room(order)
    begun = {slug for student in students for slug in student.hand_ins}
    chapters = [chapter for chapter in chapters if chapter.slug in begun]
    if order.chapters is None:
        chapters = what_counts(students, chapters)
    students, chapters = join_report(order.out, students, chapters)
    leave_out(students, chapters)
    seed = kept_seed(order.out / "seed.txt", order.seed)
    settings = seed, order.timeout, not order.unsafe
    with workers(order.scheduler, dict(order.tls)) as client:
        if not order.unsafe:
            require_everywhere(client)
        hand_ins = [h for s in students for h in s.hand_ins.values() if h.answers]
        tasks = {key_of(h, settings): h for h in hand_ins}
        ledger = Ledger(order.out / "graded.jsonl")
        hindered = run_tasks(client, tasks, ledger, settings, console)
    keep_class(order.out, students, chapters)
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


def keep_class(out: Path, students: list[Student], chapters: list[Chapter]) -> None:
    """Write down what was handed in, for when something of it is graded again."""
    slugs = [chapter.slug for chapter in chapters]
    text = json.dumps([slugs, [student.as_json() for student in students]])
    write_whole(out / CLASS, text + "\n")


def join_report(
    out: Path, students: list[Student], chapters: list[Chapter]
) -> tuple[list[Student], list[Chapter]]:
    """Return students and chapters, with those of a report that is there already.

    It is joined if all students are in it, and not the whole class: that is grading
    somebody again. Raises Unreadable if grades in it would be lost.
    """
    if not (out / CLASS).exists():
        return students, chapters
    slugs, kept = json.loads((out / CLASS).read_text("utf-8"))
    known = {(s.name, s.id): s for s in map(Student.from_json, kept)}
    here = {(s.name, s.id): s for s in students}
    if here.keys() < known.keys():
        for key, student in here.items():
            student.hand_ins = known[key].hand_ins | student.hand_ins
        everything = {chapter.slug: chapter for chapter in all_chapters()}
        return list((known | here).values()), [everything[slug] for slug in slugs]
    gone = set(slugs) - {chapter.slug for chapter in chapters}
    lost = [f"chapter {int(slug.split('_')[0])}" for slug in sorted(gone)]
    lost += [known[key].name for key in known if key not in here]
    if lost:
        some = ", ".join(lost[:5]) + (" and others" if len(lost) > 5 else "")
        raise Unreadable(
            f"--out {out} holds the grades of {some}, of which nothing has been handed "
            "in here; they would be lost. Give another folder. (To grade somebody "
            "again, give a folder with theirs alone, called as before.)"
        )
    return students, chapters


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


def kept_seed(path: Path, given: str | None) -> str:
    """Return the seed that is given, or else was before, or else a new one; keep it."""
    if given or not path.exists():
        path.write_text((given or secrets.token_hex(8)) + "\n", encoding="utf-8")
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
