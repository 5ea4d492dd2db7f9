"""Grade the submissions of a class: `python3 course.py grade SUBMISSIONS --out REPORT`.

The answers of each notebook are put into the untouched one, with hidden checks after
the visible ones. The notebook runs in a sandbox. Outside of it, nbval compares the
output of the hidden checks with the output of our solution for the same inputs. The
inputs come from the teacher's seed. Each set of answers is a separate task, so that one
submission cannot harm another.
"""

import json
import re
import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Chapter, Exercise, all_chapters, chosen_chapters
from classroom.run import sandbox
from classroom.run.verdict import Result
from classroom.teacher.cluster import workers_of
from classroom.teacher.collect import submissions
from classroom.teacher.report import write_report
from classroom.teacher.roster import Roster, enrolled, write_back, write_feedback
from classroom.teacher.rules import Rules, read_comments, read_rules
from classroom.teacher.students import HandIn, Student, the_one
from classroom.teacher.tasks import Ledger, run_here, run_tasks

TRIES = 20  # notebooks of a chapter of which the best may count
SHOWN = 20  # changes since the last report, if nobody is asked
OURS = "seed.txt", "graded.jsonl", "comments.csv"  # what tells a report
ONE_TIME = """\
All files have the time of one download, so nobody is late. As --roster, give Moodle's
grading worksheet, which knows the times."""


# --- what changes ---------------------------------------------------------------------


class Last:
    """The last report, of which one student or one exercise may be graded again."""

    def __init__(self, path: Path) -> None:
        self.results, self.words, self.student = {}, None, None
        with suppress(OSError, ValueError, LookupError):
            for e in json.loads(path.read_text("utf-8")):
                self.results[e["student"], e["id"], e["email"]] = e["exercises"]

    def again(self, words: str | None, students: list[Student]) -> None:
        """Note the student or the exercise that is graded again; raise Unreadable."""
        known = {name for exercises in self.results.values() for name in exercises}
        if words and (
            not known or re.fullmatch(r"\d+\.\d+", words) and words not in known
        ):
            raise Unreadable(
                f"--again {words} changes a report, and this folder has none, or none "
                f"with an exercise {words}. First grade without --again."
            )
        self.words = words
        if words and words not in known:
            self.student = the_one(words, students)

    def asks(self, student: Student, exercise: str) -> bool:
        """Return whether an exercise of a student is graded in this run."""
        return not self.words or student is self.student or exercise == self.words

    def kept(self, student: Student) -> dict[str, Result]:
        """Return the results of a student that stay as they are."""
        past = self.results.get(student.who, {}).items()
        left = {name: each for name, each in past if not self.asks(student, name)}
        return {
            name: Result(e["status"], e["message"], e["parts"])
            for name, e in left.items()
        }

    def changes(self, students: list[Student], exercises: dict[str, Exercise]) -> int:
        """Print each change of points since this report; return how many they are."""
        found = []
        for student in students:
            past = self.results.get(student.who, {})
            for name in past.keys() & student.results.keys():
                points = past[name]["points"], student.earned(exercises[name])
                told = ("not graded" if p is None else f"{p:g}" for p in points)
                if points[0] != points[1]:
                    found.append(f"  {student.name}, {name}: {' → '.join(told)}\n")
        if self.results:
            print(f"Changes of points since the last report: {len(found)}")
            shown = None if self.words else SHOWN
            print("".join(sorted(found)[:shown]), end="")
        return len(found)


def confirmed() -> bool:
    """Ask whether to write the report; without an answer, it is not written."""
    with suppress(EOFError):
        return input("Write the report with these changes? [y/N] ").lower() == "y"
    return False


# --- the command --------------------------------------------------------------------


def grade_command(
    path: Path,
    out: Path,
    chapters: str | None = None,
    seed: str | None = None,
    timeout: float = 20,
    unsafe: bool = False,
    roster: Path | None = None,
    rules: Path | None = None,
    again: str | None = None,
    scheduler: str | None = None,
) -> int:
    """Grade submissions and write the report; raise Trouble if that cannot be done.

    `again` is a student or an exercise. Only that is graded, and the rest of the last
    report stays. `scheduler` is the address of a cluster that runs the submissions.

    Returns 0, or 1 if the machine, or our own code, failed some notebook. The next run
    continues from there.
    """
    everything, law = all_chapters(), read_rules(rules)
    exercises = {n: e for chapter in everything for n, e in chapter.exercises.items()}
    chosen = chosen_chapters(chapters, everything)
    sheet = Roster(roster) if roster else None
    students = submissions(path, chosen, law.zone)
    if not students:
        raise Unreadable(f"There is no student's folder, zip or file in {path}.")
    make_room(out, path)
    students = enrolled(students, sheet) if sheet else students
    read_comments(out / "comments.csv", students, exercises)
    last = Last(out / "grades.json")
    last.again(again, students)
    run = workers_of(scheduler, not unsafe) if scheduler else run_here
    if not unsafe and not scheduler:
        sandbox.require(out)
    if law.deadlines and law.only_downloaded(students):
        print(ONE_TIME)
        law.deadlines = {}
    settings = kept_seed(out / "seed.txt", seed), timeout, not unsafe
    ledger = Ledger(out / "graded.jsonl", settings, bool(again), law.parts)
    grade_all(students, law, ledger, last, run)
    begun = {h.chapter for s in students for h in s.hand_ins.values() if h.answers}
    counted = [chapter for chapter in chosen if chapter.slug in begun]
    for student in students:
        give_results(student, law, ledger, counted)
        past = last.kept(student)
        student.results |= {n: past[n] for n in past.keys() & student.results.keys()}
    changes = last.changes(students, exercises)
    if again and not (changes and confirmed()):
        print("Nothing is written.")
        return 0
    ledger.write()
    most = write_report(out, students, counted)
    for problem, count in Counter(ledger.hindered.values()).items():
        print(f"{count} not graded: {problem}")
    if sheet and sheet.kind:
        print(write_back(out, sheet, students, most))
    if sheet and (astray := [s.name for s in students if not s.row]):
        print(f"Not in {sheet.path.name}: {', '.join(astray)}")
    if write_feedback(out, students):
        print(f"Pages for Moodle: {out / 'feedback.zip'}")
    print(f"{len(students)} students: {out / 'index.html'}")
    if ledger.hindered:
        print("Run the same command again to retry those that are not graded.")
    return 1 if ledger.hindered else 0


def grade_all(
    students: list[Student], law: Rules, ledger: Ledger, last: Last, run: Callable
) -> None:
    """Grade all notebooks that may count and have an answer without a result."""
    tasks, best = [], law.count == "best"
    for student in students:
        law.arrange(student, lambda hand_in: 0)
        past = {} if best else last.kept(student)
        for found in student.attempts.values():
            for hand_in in found[-TRIES if best else -1 :]:
                tasks += [hand_in] if hand_in.answers.keys() - past.keys() else []
                if ledger.held and any(last.asks(student, n) for n in hand_in.answers):
                    ledger.known.pop(ledger.key_of(hand_in), None)
    run_tasks(tasks, ledger, Console(highlight=False), run)


def give_results(
    student: Student, law: Rules, ledger: Ledger, chapters: list[Chapter]
) -> None:
    """Note the results of those notebooks of a student that count."""
    about = {chapter.slug: chapter.exercises for chapter in chapters}

    def points(hand_in: HandIn) -> float:
        found, of = ledger.results(hand_in, ()), about.get(hand_in.chapter)
        return sum(of[name].points * result.share for name, result in found.items())

    law.arrange(student, points)
    for slug, hand_in in student.hand_ins.items():
        if slug in about:
            student.results |= ledger.results(hand_in, about[slug])
            if ledger.key_of(hand_in) in ledger.hindered:
                hand_in.notes.append("it could not be graded, because of the machine")


# --- the report's folder --------------------------------------------------------------


def make_room(out: Path, path: Path) -> None:
    """Make the report's folder; raise Unreadable if it holds other things.

    It may not lie among the submissions either.
    """
    if path.resolve() in (out.resolve(), *out.resolve().parents):
        raise Unreadable(
            f"--out {out} is inside the submissions, so the next run would take it for "
            "a student. Give a folder elsewhere."
        )
    out.mkdir(parents=True, exist_ok=True)
    begun = any((out / name).exists() for name in OURS)
    if any(out.iterdir()) and not begun:
        raise Unreadable(
            f"--out {out} contains other files, and no report of this command. Give a "
            "new folder, or an empty one."
        )


def kept_seed(path: Path, given: str | None) -> str:
    """Return the given seed, or the earlier one, or a new one; store it."""
    if given or not path.exists():
        path.write_text((given or secrets.token_hex(8)) + "\n", encoding="utf-8")
    return path.read_text("utf-8").strip()
