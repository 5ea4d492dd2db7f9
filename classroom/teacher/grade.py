"""Grade the submissions of a class: `python3 course.py grade SUBMISSIONS --out REPORT`.

The answers of each notebook are put into the untouched one, with hidden checks after
the visible ones. The notebook runs in a sandbox. Outside of it, nbval compares the
output of the hidden checks with the output of our solution for the same inputs. The
inputs come from the teacher's seed. Each set of answers is a separate task, so that one
submission cannot harm another.
"""

import secrets
from collections import Counter
from pathlib import Path

from rich.console import Console

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import all_chapters, chosen_chapters
from classroom.run import sandbox
from classroom.run.verdict import BLANK, Result
from classroom.teacher.collect import submissions
from classroom.teacher.hidden_checks import pristine
from classroom.teacher.report import write_report
from classroom.teacher.tasks import Ledger, key_of, run_tasks

UNGRADED = Result("ungraded")


# --- the command --------------------------------------------------------------------


def grade_command(
    path: Path,
    out: Path,
    chapters: str | None = None,
    seed: str | None = None,
    timeout: float = 20,
    unsafe: bool = False,
) -> int:
    """Grade submissions and write the report; raise Trouble if that cannot be done.

    Returns 0, or 1 if the machine, or our own code, failed some notebook. The next run
    continues from there.
    """
    console = Console(highlight=False)
    chosen = chosen_chapters(chapters, all_chapters())
    students = submissions(path, chosen)
    if not students:
        raise Unreadable(f"There is no student's folder, zip or file in {path}.")
    make_room(out, path)
    hand_ins = [h for s in students for h in s.hand_ins.values() if h.answers]
    begun = {hand_in.chapter for hand_in in hand_ins}
    settings = kept_seed(out / "seed.txt", seed), timeout, not unsafe
    if not unsafe:
        sandbox.require(out)
    tasks = {key_of(h, settings): h for h in hand_ins}
    ledger = Ledger(out / "graded.jsonl")
    hindered = run_tasks(tasks, ledger, settings, console)
    for student in students:
        for hand_in in [h for h in student.hand_ins.values() if h.chapter in begun]:
            key = key_of(hand_in, settings)
            found = ledger.known.get(key, {})
            rest = UNGRADED if key in hindered else BLANK
            student.results |= dict.fromkeys(pristine(hand_in.chapter).exercises, rest)
            student.results |= {name: Result(*each) for name, each in found.items()}
            if key in hindered:
                hand_in.notes.append("it could not be graded, because of the machine")
    write_report(out, students, [c for c in chosen if c.slug in begun])
    for problem, count in Counter(hindered.values()).items():
        print(f"{count} not graded: {problem}")
    print(f"{len(students)} students: {out / 'index.html'}")
    if hindered:
        print("Run the same command again to retry those that are not graded.")
    return 1 if hindered else 0


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
    begun = any((out / name).exists() for name in ("seed.txt", "graded.jsonl"))
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
