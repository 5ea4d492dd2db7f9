"""A learner's answers take the place of the package's definitions, in a copy."""

import gc
import re
import shutil
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.cell import pages, state
from classroom.learner import assemble
from classroom.learner.assemble import assemble_command, replaced
from classroom.learner.find import open_learner
from classroom.learner.results import Memory
from classroom.notebook.pristine import Chapter, all_chapters
from classroom.notebook.source_code import has_header
from classroom.run.verdict import Result
from tests.course.sample import fill

FILE = """import math
first = Op("First", a=1)
@decorated
def second(x):
    return x
class Third:
    def one(self):
        return 1
    def two(self):
        return 2
"""
PIECES = [
    ("first = Op('First', a=2)", 'first = Op("First", a=1)'),
    ("def second(x):\n    return -x", "@decorated\ndef second(x):\n    return x"),
]


@pytest.mark.parametrize(("mine", "ours"), PIECES)
def test_a_definition_takes_the_place_of_ours(mine, ours):
    assert replaced(FILE, f"# minigrad/f.py\n{mine}", []) == FILE.replace(ours, mine)


def test_a_method_takes_the_place_of_ours_and_brings_others_along():
    page = """# minigrad/f.py
class Third:
    ...
    def helper(self):
        return 0
    def two(self):
        return self.helper() + 2
"""
    text = replaced(FILE, page, [])
    namespace = {"Op": lambda *_, **__: None, "decorated": lambda f: f}
    exec(text, namespace)
    third = namespace["Third"]()
    assert (third.one(), third.two(), third.helper()) == (1, 2, 0)
    assert text.count("def two") == 1


def test_what_the_file_lacks_stands_in_front():
    page = "# minigrad/f.py\nimport re\n\ndef half(x):\n    return x / 2\n\n"
    text = replaced(FILE, page + "def second(x):\n    return half(x)", ["import os"])
    assert text.index("import os") < text.index("def half") < text.index("def second")
    assert "import re" in text and "@decorated" not in text


def test_what_a_page_uses_of_the_notebooks_imports_comes_along():
    modules = assemble.imports_of(all_chapters()[17])  # has F, a part of the package
    assert modules == {"minigrad": "minigrad", "np": "numpy"}
    modules["math"] = "math"  # the file has it
    page = "def second(x):\n    return minigrad.exp(F.e * np.e + storage(math.e))"
    lines = assemble.imports_for(FILE, page, modules)
    once = "from minigrad.graph.saved_values import storage"
    assert lines == ["import minigrad as minigrad", "import numpy as np", once]
    assert assemble.imports_for(FILE, "def f(np):\n    return np", modules) == []


def pieces_of_the_course():
    exercises = [e for chapter in all_chapters() for e in chapter.exercises.values()]
    return sum(has_header(exercise.stub) for exercise in exercises)


@pytest.fixture
def all_pass(monkeypatch):
    """Believe that the check of each answer passes."""

    def pass_all(path, answers, timeout, folder):
        return dict.fromkeys(answers, Result("passed"))

    monkeypatch.setattr("classroom.learner.check.run_answers", pass_all)


@pytest.mark.posix
@pytest.mark.long
def test_with_every_solution_all_pieces_are_the_learners(course, capsys, all_pass):
    """That the solutions pass, test_answers.py proves."""
    for notebook in (ROOT / "solutions").glob("*.ipynb"):
        shutil.copy(notebook, course / "exercises")
    code = assemble_command(course)
    text = " ".join(capsys.readouterr().out.split())
    total = pieces_of_the_course()
    assert total and f"{total} of {total} pieces are yours." in text
    skipped = "" if find_spec("torch") else r", \d+ skipped"  # what compares with it
    assert code == 0 and re.search(rf"Core tests: \d{{3,}} passed{skipped} in ", text)
    count, lines = re.search(r"graph/walk.py #+ (\d+) of (\d+) lines", text).groups()
    assert 40 < int(count) < int(lines) < 80
    learned = r"minigrad.fast: loss 2.\d+ -> 0.\d+, (\d+)% of 359 new digits right"
    assert int(re.search(learned, text)[1]) > 80


@pytest.mark.posix
def test_tests_tell_of_a_wrong_rule_though_its_check_has_passed(
    course, capsys, monkeypatch, all_pass
):
    monkeypatch.setattr(assemble, "CORE_TESTS", ["tests/engine/test_value.py"])
    for slug in ("03_value", "05_diamonds"):
        shutil.copy(ROOT / f"solutions/{slug}.ipynb", course / "exercises")
    path = course / "exercises/03_value.ipynb"
    text, right = path.read_text("utf-8"), "-y / other.data"
    assert right in text
    path.write_text(text.replace(right, "-y"), "utf-8")
    assert assemble_command(course) == 1
    told = " ".join(capsys.readouterr().out.split())
    # Values are not what it trains with
    assert "without minigrad.fast: loss 2." in told
    assert (
        "3.1 Operators that record" in told and "tests/engine/test_value.py::" in told
    )


PARTS = {"3.1": "Value.__add__", "4.1": "Value.exp", "5.3": "Value.backward"}
PARTS |= {"5.2": "topological_order"}


@pytest.fixture
def lesson(course, monkeypatch):
    """Return the lesson Names up to its first training, with this course's answers."""
    own = partial(assemble.use_answers, root=course)
    monkeypatch.setattr(assemble, "use_answers", own)
    code = [c.source for c in chapters()[28].lesson if c.cell_type == "code"]
    last = next(n for n, text in enumerate(code) if "def train(" in text)
    state.remember()
    yield "\n".join(code[: last + 1])
    pages.restore()
    state.put_back()
    gc.enable()


@pytest.mark.parametrize("passed", [["3.1", "4.1", "5.2", "5.3"], ["5.3"], []])
def test_names_are_learned_on_what_passes_of_the_learners(
    course, lesson, passed, capsys
):
    memory = Memory(course)
    for source in chapters()[3:6]:
        pristine = ROOT / f"classroom/pristine/{source.slug}.ipynb"
        path = Path(shutil.copy(pristine, course / "exercises"))
        right = {n: e.solved for n, e in source.exercises.items() if n in PARTS}
        fill(path, {n: right[n] + "\n1 / 0" * (n not in passed) for n in right})
        chapter = Chapter(pristine)
        answers = open_learner(path, [chapter]).answers()
        found = {n: Result("passed" if n in passed else "wrong") for n in answers}
        memory.remember(chapter, answers, found)
    memory.save()
    names = {}
    exec(lesson, names)
    losses = names["train"](names["pairs"], names["SGD"](names["table"][0], 1), 3, 5)
    assert losses[-1] < losses[0]
    told = ", ".join(passed) or "none yet"
    assert f"Your answers used here: {told}. The rest" in capsys.readouterr().out
    for name, part in PARTS.items():
        code = eval(f"{part}.__code__", names)
        assert (code.co_filename == "<cell>") == (name in passed), part


@pytest.mark.posix
def test_with_nothing_filled_in_it_says_so_and_runs(course, capsys, monkeypatch):
    monkeypatch.setattr(assemble, "CORE_TESTS", ["tests/engine/test_numeric.py"])
    shutil.copy(ROOT / "classroom/pristine/03_value.ipynb", course / "exercises")
    assert assemble_command(course) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"0 of {pieces_of_the_course()} pieces are yours." in told
    assert "No answer that is part of the package has passed yet" in told


def test_what_the_tests_say_is_read_in_any_encoding(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")  # Windows' own
    found = assemble.run_on(tmp_path, tmp_path, ["-c", "print('caf\xe9 \u2192')"])
    assert found == (0, ["caf\xe9 \u2192"])
