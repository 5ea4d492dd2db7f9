"""A change costs only what it concerns: pieces of the course, and their users."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from classroom import ROOT
from classroom.author import concerns, uses

MODULE = '''\
"""A table of rules."""
import numpy as np
LIMIT = 3
mul = Op("Mul", np.multiply, a=lambda g, b: g * b, b=lambda g, a: g * a)
class Layer(Op):
    """A layer."""
    size = 2
    def __call__(self, x):
        """Apply it."""
        return np.abs(x * 2)  # twice
far = [LIMIT]
def limit(x): return far[0]
if LIMIT > 2:
    print(mul)
'''


def pieces(text):
    return concerns.hashes({"minigrad.x": concerns.survey(text)})


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("Apply it.", "Apply the layer.", ""),
        ("x * 2)  # twice", "x * 2)", ""),
        ("x * 2", "x + 2", "Layer.__call__"),
        ("g * b", "g * 2 * b", "mul()"),
        ("LIMIT = 3", "LIMIT = 4", "LIMIT far limit"),
        ("size = 2", "size = 3", "Layer Layer.__call__"),
        ("numpy as np", "numpy.linalg as np", "Layer.__call__ mul np"),
        ("print(mul)", "print(Layer)", "the other statements of minigrad.x"),
        ("__call__", "__len__", "Layer Layer.__call__ Layer.__len__"),
    ],
)
def test_a_change_changes_its_piece_and_those_that_mention_it(old, new, changed):
    before, now = pieces(MODULE), pieces(MODULE.replace(old, new))
    assert MODULE.replace(old, new) != MODULE
    found = {n for n in before | now if before.get(n) != now.get(n)}
    known = " ".join(sorted(n.removeprefix("minigrad.x.") for n in found))
    assert known == changed


def used_by(program, tmp_path):
    """Return the hashes of the pieces that a program used."""
    env = os.environ | uses.watched(tmp_path)
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    return concerns.fingerprint(*uses.written(tmp_path), program)


def test_what_a_program_calls_and_mentions_is_what_it_used(tmp_path):
    program = "from minigrad import tensor\nx = tensor([1.0], requires_grad=True)\n"
    hashes = used_by(program + "x.exp().backward()", tmp_path)
    assert {
        "minigrad.graph.walk.walk",
        "minigrad.rules.pointwise.exp()",
    } <= hashes.keys()
    assert "minigrad.rules.pointwise.tanh()" not in hashes
    assert hashes.items() <= concerns.current()[1].items()


def test_a_file_counts_if_it_is_opened_or_named(tmp_path, monkeypatch):
    assert "glossary.md" in used_by("open('glossary.md').read()", tmp_path)
    one, known = "minigrad.models.resnet.DIGITS", concerns.surveys()
    before = concerns.hashes(known)[one]
    monkeypatch.setattr(concerns, "hash_of_file", lambda path: "other")
    assert concerns.hashes(known)[one] != before


CHAPTER = "10"
SOURCES = (ROOT / "chapters").glob("*/[0-9]_*.md")


def build(root, *words, code=0):
    """Build a chapter in a copy of the course; return what is said, and the bytes."""
    command = [sys.executable, "-P", "-m", "classroom", "build", CHAPTER, *words]
    env = os.environ | {"PYTHONPATH": str(root), "COLUMNS": "200"}
    run = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
    assert run.returncode == code, run.stdout + run.stderr
    folders = "notebooks", "solutions", "exercises", "classroom/pristine"
    paths = [path for f in folders for path in (root / f).glob(f"{CHAPTER}_*.ipynb")]
    return run.stdout, {path: path.read_bytes() for path in paths}


def spoil(root, piece):
    """Let a function of the course raise an error."""
    module = next(m for m in MODULES if piece.startswith(f"{m}."))
    path = root / concerns.file_of(module).relative_to(ROOT)
    lines = path.read_text("utf-8").splitlines()
    node = ast.parse(path.read_text("utf-8"))
    for name in piece.removeprefix(f"{module}.").split("."):
        node = next(each for each in node.body if getattr(each, "name", "") == name)
    first = node.body[1 if len(node.body) > 1 else 0]
    lines.insert(first.lineno - 1, " " * first.col_offset + "raise ValueError('!')")
    path.write_text("\n".join(lines) + "\n", "utf-8")


MODULES = sorted(concerns.all_modules(), key=len, reverse=True)


@pytest.mark.long
def test_what_is_called_fresh_gives_the_same_if_it_is_built_anyway(tmp_path):
    """A dozen functions raise errors of which the notes say that nobody uses them."""
    for name in ("minigrad", "classroom", "notebooks", "solutions", "exercises"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("chapters", "README.md", "pyproject.toml", "glossary.md", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    said, before = build(tmp_path)
    assert "was run: it is not noted" in said
    notes = json.loads((tmp_path / concerns.BUILT).read_text("utf-8")).values()
    used = set().union(*(note["used"] for note in notes))
    # What an exercise quotes is its solution, too, which chapters' sources go by
    quotes = set(re.findall(r'quote="(.+?):', " ".join(map(Path.read_text, SOURCES))))
    quoted = {concerns.module_of(f"minigrad/{file}") for file in quotes}
    rooms = [m for m in MODULES if m.startswith(("minigrad.", "classroom.cell."))]
    drawing = {m for m in rooms if "drawing" in m}  # build itself draws
    rooms = sorted(set(rooms) - quoted - drawing)
    functions = {
        f"{m}.{n}"
        for m in rooms
        for n, each in concerns.current()[0][m].items()
        if each.kind == "function" and n[-1] != ")"
    }
    unused, random = sorted(functions - used), Random(CHAPTER)
    for piece in random.sample(unused, 12):
        spoil(tmp_path, piece)
    assert build(tmp_path) == ("Everything is up to date.\n", before)
    said, after = build(tmp_path, "--all")
    assert after == before and "was run: asked for" in said
    one = "minigrad.tensors.creation.tensor"
    spoil(tmp_path, one)
    assert f"{one} changed" in build(tmp_path, "--check", code=1)[0]


LESSON = "---\nminutes: 9\n---\nSome words.\n\n```python\na = 1\n```\n\nMore.\n"


@pytest.mark.parametrize(
    ("old", "new", "prose"),
    [("More", "Less", True), ("a = 1", "a = 2", False), ("9", "8", False)],
)
def test_the_words_of_a_lesson_are_told_from_its_code(
    tmp_path, monkeypatch, old, new, prose
):
    monkeypatch.setattr(concerns, "ROOT", tmp_path)
    hashes = []
    for text in (LESSON, LESSON.replace(old, new)):
        (tmp_path / "lesson.md").write_text(text, "utf-8")
        hashes.append(concerns.hash_of_file(f"lesson.md{concerns.CODE}"))
    assert (hashes[0] == hashes[1]) == prose


TELL = """
import sys
from classroom.author.tested import concerned_tests
for path, text in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(path, "a") as file:
        file.write(text)
    print(*concerned_tests())
"""
TESTS = {
    "test_size.py": """
from pathlib import Path
def test_a(): assert "!!" not in Path("minigrad/graph/walk.py").read_text()
""",
    "test_cached.py": """
from classroom.author.chapters import chapters
def test_b(): chapters()[9].lesson
def test_c(): chapters()[9].lesson
""",
}


def test_a_test_is_run_until_it_passes_with_what_it_reads(tmp_path):
    """It reads the package as a text, or chapters that an earlier test has read."""
    for name in ("minigrad", "classroom", "chapters"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "tests").mkdir()
    for name, text in TESTS.items():
        (tmp_path / "tests" / name).write_text(text)

    def run(*words, at_start=""):
        env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{at_start}"}
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=env, stdout=-1
        )
        return done.stdout.decode().splitlines()

    def test():
        words = "-m", "pytest", "-p", "classroom.author.tested", "tests"
        run(*words, at_start=tmp_path / "classroom/author/at_start")

    lesson, package = "chapters/09_broadcast/lesson.md", "minigrad/graph/walk.py"
    test()
    changes = (lesson, "Words.\n"), (lesson, "```python\n1\n```\n"), (package, "# !!\n")
    both = "['tests/test_cached.py::test_b', 'tests/test_cached.py::test_c'"
    each = run("-c", TELL, *(word for change in changes for word in change))
    assert each == [
        "[] 3 0",
        f"{both}] 3 0",
        f"{both}, 'tests/test_size.py::test_a'] 3 0",
    ]
    test()
    shutil.copy(tmp_path / "tests/test_size.py", tmp_path / "tests/test_new.py")
    told = "['tests/test_new.py', 'tests/test_size.py::test_a'] 3 1"
    assert run("-c", TELL, lesson, "") == [told]
