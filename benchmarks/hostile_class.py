"""An honest class of 60, alone and beside 40 hostile hand-ins: grades and seconds.

    python benchmarks/hostile_class.py

Exits with 1 if an honest grade differs, or if the class takes more than twice as long.
"""

import json
import sys
import tempfile
from itertools import chain, zip_longest
from pathlib import Path

from grading import CHAPTER, FILE, hand_ins, run, write

from classroom import ROOT

sys.path.append(str(ROOT))  # the tests are not installed

from tests.course import hostile
from tests.course.test_collect import BROKEN

HONEST, HOSTILE, SECONDS = 60, 40, 5  # students, and seconds for a cell


def write_hostile(folder: Path) -> None:
    """Write as many hostile hand-ins, of each kind in turn."""
    answers = [("answer", name, code) for name, (code, _) in hostile.answers().items()]
    files = [("file", name, make) for name, (make, *_) in hostile.FILES.items()]
    broken = [("broken", name, what) for name, what in BROKEN.items()]
    turns = chain.from_iterable(zip_longest(broken, answers, files))
    for kind, name, what in list(filter(None, turns))[:HOSTILE]:
        place = folder / f"hostile {name.replace('/', '-')}"
        if kind == "file":
            what(place)
        elif kind == "broken":
            hostile.written(place, what[1](), what[0])
        else:
            made = hostile.notebook(hostile.SOLVED | {"4.3": what})
            hostile.written(place, made)


def grade(folder: Path, name: str) -> tuple[float, dict[str, dict]]:
    """Return the seconds that grading takes, and exercises by honest student."""
    words = ["--out", folder / name, "--seed", "x", "--timeout", SECONDS]
    seconds = run(["classroom", "grade", folder / "class", *words])
    found = json.loads((folder / name / "grades.json").read_text("utf-8"))
    print(f"{name}: {len(found)} hand-ins, {seconds:.0f} s", flush=True)
    rows = {each["student"]: each["exercises"] for each in found}
    return seconds, {n: row for n, row in rows.items() if n.startswith("honest")}


def main() -> int:
    """Grade the class twice; return the exit code."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        students = {n: a for n, a in hand_ins(2 * HONEST).items() if "endless" not in n}
        students = dict(list(students.items())[:HONEST])
        students = {f"honest {name}": answers for name, answers in students.items()}
        pristine = ROOT / "classroom" / "pristine" / FILE
        write(folder / "class", pristine, students)
        alone, grades = grade(folder, "alone")
        write_hostile(folder / "class")
        beside, again = grade(folder, "beside 40 hostile")
    right = {"right": len(CHAPTER.exercises), "wrong": 0, "blank": 0}
    for name, exercises in grades.items():
        passed = [one["status"] for one in exercises.values()].count("passed")
        assert passed == right.get(name.split("-")[1], passed), name
    print(f"{beside / alone:.2f} times as long; honest grades alike: {grades == again}")
    return int(grades != again or len(grades) != HONEST or beside > 2 * alone)


if __name__ == "__main__":
    sys.exit(main())
