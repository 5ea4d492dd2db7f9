"""Grade what a class has handed in: `python3 course.py grade SUBMISSIONS --out REPORT`.

The answers are taken out of each notebook and put into the untouched one, with hidden
checks after the visible ones. The notebook runs in a sandbox; nbval, outside of it,
compares what the hidden checks print with what our solution prints for the same inputs.
These come from the teacher's seed. Each set of answers is a task of its own, so that
what one submission does costs nobody else anything.
"""

import json
import re
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from classroom.notebook.files import Unreadable, write_whole
from classroom.notebook.pristine import Chapter, all_chapters
from classroom.run import sandbox
from classroom.run.sandbox import NoSandbox
from classroom.run.verdict import BLANK, Result
from classroom.teacher.collect import submissions
from classroom.teacher.hand_ins import leave_out, read_students, what_counts
from classroom.teacher.hidden_checks import pristine
from classroom.teacher.report import Student, write_report
from classroom.teacher.tasks import Ledger, key_of, run_tasks

CLASS = "handed_in.json"  # in the report's folder
UNGRADED = Result("ungraded")


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


def grade_command(**words: Any) -> int:
    """Grade submissions, as the words of an Order say, and write the report.

    Returns 0, or 1 if the machine, or our own code, failed some notebook; the next run
    goes on from there. Raises Trouble if nothing can be graded.
    """
    order, console = Order(**words), Console(highlight=False)
    students, hindered = grade(order, console)
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
        raise Unreadable(f"There is no student's folder, zip or file in {order.path}.")
    make_room(order)
    begun = {slug for student in students for slug in student.hand_ins}
    chapters = [chapter for chapter in chapters if chapter.slug in begun]
    if order.chapters is None:
        chapters = what_counts(students, chapters)
    students, chapters = join_report(order.out, students, chapters)
    leave_out(students, chapters)
    seed = kept_seed(order.out / "seed.txt", order.seed)
    settings = seed, order.timeout, not order.unsafe
    if not order.unsafe:
        require_sandbox()
    hand_ins = [h for s in students for h in s.hand_ins.values() if h.answers]
    tasks = {key_of(h, settings): h for h in hand_ins}
    ledger = Ledger(order.out / "graded.jsonl")
    hindered = run_tasks(tasks, ledger, settings, console)
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


def require_sandbox() -> None:
    """Raise NoSandbox, with what may be done about it, unless a sandbox holds here."""
    try:
        sandbox.require()
    except NoSandbox as problem:
        raise NoSandbox(
            f"Submissions would run without a sandbox: {problem}. To run them "
            "nevertheless, with your rights and your files, give --unsafe."
        ) from None


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
