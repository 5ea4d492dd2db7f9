"""What checks found about answers: a line in a file of .minigrad/ for each answer.

`course.py progress` and `report` read what has passed in a notebook. `solution` also
reads what was tried. Points never depend on these notes.
"""

import json
import time
from contextlib import suppress
from pathlib import Path

PASSED = Path(".minigrad", "passed.jsonl")  # in a notebook; in the course's folder
TRIED = Path(".minigrad", "tried.jsonl")  # and refused, there or in the terminal


def write_note(course: Path, exercise: str, answer: str, notes: Path = PASSED) -> bool:
    """Note that an answer, identified by its hash, has passed or was refused.

    Return whether this is the first note on the exercise. If a note cannot be written,
    it is left out.
    """
    known = read_notes(course, notes).get(exercise, {})
    if answer in known:
        return False
    line = json.dumps({"exercise": exercise, "answer": answer, "at": time.time()})
    with suppress(OSError):
        (course / notes).parent.mkdir(exist_ok=True)
        # Appended at once, so that two kernels do not spoil each other's line
        with (course / notes).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    return not known


def read_notes(course: Path, notes: Path = PASSED) -> dict[str, dict[str, float]]:
    """Return the noted answers to each exercise, with their times in seconds."""
    found: dict[str, dict[str, float]] = {}
    try:
        lines = (course / notes).read_text("utf-8", "replace").splitlines()
    except OSError:
        return found
    for line in lines:
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            note = json.loads(line)
            name, answer, seconds = note["exercise"], note["answer"], float(note["at"])
            found.setdefault(name, {}).setdefault(answer, seconds)
    return found
