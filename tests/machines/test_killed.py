"""Kill `update` at any moment: is every answer there?

Each round takes a fresh course, in git or in a folder, breaks `update` off at a moment
drawn from all of its run (Python's own start left out), and runs one further command.
Then every answer has to be in its place, and the course the older or the newer one,
nothing between.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from classroom.notebook.answers import Learner
from classroom.notebook.files import read_notebook
from classroom.notebook.pristine import all_chapters
from tests.course.sample import (
    BLANK,
    RIGHT,
    chapter,
    course,
    exercise,
    fill,
    learner,
    sources,
)
from tests.machines.test_update import (
    commit,
    contents,
    git,
    learn,
    newer_course,
    older_course,
)

pytestmark = [pytest.mark.posix, pytest.mark.long]

ROOT = Path(__file__).resolve().parents[2]
MORE = range(50, 74)  # numbers of chapters that only make the course larger
WAYS = ["SIGTERM", "SIGKILL", "SIGKILL for all"]
ROUNDS = 12


def make_courses(place):
    """An older course, learnt in, and a newer one; as folders and in git."""
    folder, newer = older_course(place / "folder"), newer_course(place / "newer")
    for number in MORE:
        for root, text in (folder, ""), (newer, "Mended."):
            name = f"{number}.1"
            made = {name: exercise(name, f"def f{number}(x):\n    {BLANK}", text)}
            course(root, chapter(made, f"{number}_more"))
    for root in (folder, newer):
        for path in (ROOT / "classroom").rglob("*.py"):
            target = root / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        (root / ".gitignore").write_text("exercises/kept/\n.minigrad/\n__pycache__/\n")
        (root / "classroom" / "all_or_nothing.py").open("a").write(f"# {root.name}\n")
    upstream = place / "upstream"
    shutil.copytree(folder, upstream)
    git(upstream, "init", "-q", "-b", "main")
    commit(upstream)
    git(place, "clone", "-q", "upstream", "git")
    for path in upstream.glob("[ce]*/**/80_gone.ipynb"):
        path.unlink()
    shutil.copytree(newer, upstream, dirs_exist_ok=True)
    (upstream / ".git/index").unlink()  # so that git reads all files, not their times
    commit(upstream)
    for root in (folder, place / "git"):
        learn(root)
        for number in MORE:
            fill(learner(root, f"{number}_more"), answers_to(number))


def answers_to(number):
    return {f"{number}.1": f"def f{number}(x):\n    return {number} * x"}


def start(root, words):
    """Start a command of the course at `root`."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "classroom", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def run(root, words):
    process = start(root, words)
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 0 and "Traceback" not in said, said
    return said


def break_off(process, how):
    """End a running command, and for all also what it has started."""
    if how == "SIGKILL for all":
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
    process.send_signal(getattr(signal, how.split()[0]))
    process.communicate(timeout=120)


def answers_in(folder):
    """Each answer in the notebooks of a folder of the course, by exercise."""
    found = {}
    for one in all_chapters(folder.parent):
        path = folder / f"{one.slug}.ipynb"
        for name, cells in Learner(read_notebook(path), one).answers().items():
            found[name] = cells[-1]
    return found


def assert_nothing_lost(root, newer, before):
    """Every answer is in its place, and the course is one course."""
    assert not list((root / ".minigrad").glob("change/journal.json"))
    found = contents_of_course(root)
    is_new = found["minigrad/value.py"].startswith(b"NEW")
    right = contents_of_course(newer) if is_new else before
    unlike = {n for n in found | right if found.get(n) != right.get(n)}
    assert not unlike, f"{'newer' if is_new else 'as it was'}, but for {unlike}"
    expected = {"80.1": "def g(x): return 80", **RIGHT}
    for number in MORE:
        expected |= answers_to(number)
    names = {name for one in all_chapters(root) for name in one.exercises}
    found, kept = answers_in(root / "exercises"), all_kept(root)
    for name, answer in expected.items():
        if name in names:
            assert found[name] == answer, name
        else:
            assert answer in kept, name
    assert {"import math", "My note."} <= set(sources(learner(root)))
    assert (root / "exercises" / "notes.txt").read_bytes() == b"mine"
    return is_new


def contents_of_course(root):
    return {n: c for n, c in contents(root).items() if not n.startswith("exercises/")}


def all_kept(root):
    """Every text of every notebook in kept/."""
    paths = (root / "exercises" / "kept").rglob("*.ipynb")
    return {text for path in paths for text in sources(path)}


def one_round(place, draw, kind, how, times):
    """Break `update` off, and run another command."""
    root = place / "round"
    shutil.copytree(place / kind, root, symlinks=True)
    before = contents_of_course(root)
    update = ["update"] if kind == "git" else ["update", str(place / "newer")]
    process = start(root, update)
    time.sleep(draw.uniform(times["help"], times[kind]))
    break_off(process, how)
    further = draw.choice([["progress"], update])
    run(root, further)
    is_new = assert_nothing_lost(root, place / "newer", before)
    assert is_new or further != update
    shutil.rmtree(root)


def measure(place):
    """How many seconds `update` takes when it is left alone, and Python's start."""
    begin = time.monotonic()
    run(place / "folder", ["update", "--help"])
    times = {"help": 0.9 * (time.monotonic() - begin)}
    for kind, source in ("git", []), ("folder", [str(place / "newer")]):
        shutil.copytree(place / kind, place / "round", symlinks=True)
        begin = time.monotonic()
        run(place / "round", ["update", *source])
        times[kind] = 1.05 * (time.monotonic() - begin)
        shutil.rmtree(place / "round")
    return times


def test_whatever_ends_an_update_the_next_command_has_every_answer(tmp_path):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    make_courses(tmp_path)
    draw, times = random.Random(0), measure(tmp_path)
    for n in range(ROUNDS):
        kind, how = ("git", "folder")[n % 2], WAYS[n // 2 % len(WAYS)]
        one_round(tmp_path, draw, kind, how, times)
