"""Grading a class: `course.py grade` and nbgrader's autograde on the same hand-ins.

    python benchmarks/grading.py 50            50 students, by both
    python benchmarks/grading.py 50 100 200    ours alone: does it grow linearly?

One student in twenty hands in an endless loop; the others right, wrong and blank
answers of chapter 4, no two of them alike. Both give a cell 20 s.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from classroom import ROOT
from classroom.author.chapters import chapters

CHAPTER = chapters()[4]
FILE = f"{CHAPTER.slug}.ipynb"
KINDS = ["right"] * 5 + ["wrong"] * 3 + ["blank", "mixed"]
SECONDS = 20  # for a cell


def hand_ins(size):
    """Return answers by exercise for each student; always the same ones."""
    draw, found = random.Random(size), {}
    for n in range(size):
        kind = "endless" if n % 20 == 7 else draw.choice(KINDS)
        answers = {}
        for name, exercise in CHAPTER.exercises.items():
            what = draw.choice(["right", "wrong", "blank"]) if kind == "mixed" else kind
            right = [exercise.solved, *exercise.right.values()]
            wrong = list(exercise.wrong.values())
            chosen = {"wrong": draw.choice(wrong), "blank": exercise.blank}
            answers[name] = chosen.get(what, draw.choice(right)) + f"\n# by {n}\n"
        if kind == "endless":
            answers["4.2"] = f"while True:\n    pass\n# by {n}\n"
        found[f"{n:03}-{kind}"] = answers
    return found


def write(folder, blank, students):
    """Write what each student hands in, by filling in the notebook `blank`."""
    for student, answers in students.items():
        made = json.loads(blank.read_text("utf-8"))
        for cell in made["cells"]:
            name = cell["id"].removeprefix("answer-").replace("-", ".")
            if cell["id"].startswith("answer-"):
                cell["source"] = answers[name].splitlines(True)
        path = folder / student / CHAPTER.slug / FILE
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(made), encoding="utf-8")


def run(words, folder=ROOT):
    """Run a command; return its seconds."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-m", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PATH": beside},
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return seconds


def by_us(folder, size):
    """Grade a class; return the seconds, and the points of all together."""
    pristine = ROOT / "classroom" / "pristine" / FILE
    write(folder / "class", pristine, hand_ins(size))
    rules = folder / "rules.toml"
    rules.write_text("parts = false\n", encoding="utf-8")  # as nbgrader gives points
    words = ["--out", folder / "report", "--seed", "x", "--timeout", SECONDS]
    words += ["--rules", rules]
    seconds = run(["classroom", "grade", folder / "class", *words])
    grades = json.loads((folder / "report" / "grades.json").read_text("utf-8"))
    return seconds, sum(student["points"] for student in grades)


def by_nbgrader(folder, size):
    """Have nbgrader grade the same class; return the seconds, and all points."""
    course, slug = folder / "course", CHAPTER.slug
    words = ["--nbgrader", "--chapters", CHAPTER.number, "--seed", "x"]
    run(["classroom", "release", course, *words])
    run(["nbgrader", "generate_assignment", slug], course)
    write(course / "submitted", course / "release" / slug / FILE, hand_ins(size))
    option = f"--ExecutePreprocessor.timeout={SECONDS}"
    seconds = run(["nbgrader", "autograde", slug, option], course)
    with sqlite3.connect(course / "gradebook.db") as database:
        (points,) = database.execute("select sum(auto_score) from grade").fetchone()
    return seconds, points


def main(sizes):
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            seconds, points = by_us(Path(folder), size)
            each = f"{seconds / size:.2f} s each"
            print(f"{size} hand-ins: {seconds:.0f} s, {each}, {points:g} points")
            if len(sizes) == 1:
                theirs, same = by_nbgrader(Path(folder), size)
                assert same == points, f"{same} points by nbgrader"
                share = f"{seconds / theirs:.2f} of nbgrader's {theirs:.0f} s"
                print(f"{share}, on {os.cpu_count()} cores; the same points")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [50])
