"""The package as of each chapter that builds the engine, and its lesson on it."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author import so_far
from classroom.author.chapters import chapters
from classroom.author.testing import NBVAL
from classroom.cell.pages import page_of
from classroom.learner import engine
from classroom.notebook.definitions import places
from classroom.notebook.pristine import all_chapters

BUILT = range(so_far.FIRST, so_far.LAST + 1)
OPTIONS = [word for word in NBVAL if word not in ("notebooks", "solutions")]
OPTIONS[OPTIONS.index("-n") + 1] = "0"  # chapters beside each other, not cells
ONE_SCREEN = 65  # lines


@pytest.mark.parametrize("number", BUILT[:-1])  # after the last it is the package
def test_a_lesson_runs_on_what_is_built_by_then(number, tmp_path):
    so_far.write_package(tmp_path, number)
    used = "\n__import__('pathlib').Path(__file__).with_name('used').touch()\n"
    (tmp_path / "minigrad" / "__init__.py").open("a").write(used)
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    env |= {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    lesson = f"notebooks/{chapters()[number].slug}.ipynb"
    command = [sys.executable, "-m", "pytest", *OPTIONS, lesson]
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]
    assert (tmp_path / "minigrad" / "used").exists()


def test_after_the_last_chapter_it_is_the_package():
    for module in so_far.HEART:
        ours = so_far.text_of(module).split()
        assert so_far.as_of(module, so_far.LAST).split() == ours, module


@pytest.mark.parametrize("number", BUILT)
def test_only_what_is_built_is_there(number):
    for module in so_far.heart(number):
        found = so_far.texts(so_far.as_of(module, number))
        for (of, name), texts in so_far.forms().items():
            if of == module and name in found and "Later(" not in found[name]:
                assert min(texts) <= number, f"{module}: {name}"


def test_what_a_chapter_adds_fits_one_screen_and_names_who_writes_it():
    told = {number: so_far.added(number) for number in BUILT}
    assert max(len(text.splitlines()) for text in told.values()) <= ONE_SCREEN
    assert "+ walk: " in told[8] and ", exercise 8.3" in told[8]
    assert "+ walk: 24 lines, were 22, exercise 9.1" in told[9]
    assert "+     output.check_view()" in told[13]
    for text in told.values():
        assert not re.search(r", exercise .*\n[+-]  ", text), "an answer is in sight"
    assert "+ hinge_loss, SGD.zero_grad, SGD.step, exercise 7.2" in told[7]
    assert so_far.added(17) == ""


def test_what_grows_later_is_marked_in_the_notebooks():
    exercises = {n: e for c in all_chapters() for n, e in c.exercises.items()}
    grown = {name: each.outgrown for name, each in exercises.items() if each.outgrown}
    assert grown["8.3"] == grown["9.1"] == ("walk",)
    assert "14.1" not in grown
    for name, names in grown.items():
        stub = exercises[name].stub
        assert set(names) <= places(stub).keys(), name
        for each in names:
            of = so_far.forms()[page_of(stub), each]
            assert max(of) > int(name.split(".")[0])


@pytest.mark.posix
def test_the_command_puts_in_what_the_learner_has_written_by_then(course, capsys):
    path = course / "exercises/08_arrays.ipynb"
    shutil.copy(ROOT / "solutions/08_arrays.ipynb", path)
    text, mine = path.read_text("utf-8"), "_, node = heappop(heap)  # mine"
    assert "_, node = heappop(heap)" in text
    path.write_text(text.replace("_, node = heappop(heap)", mine), "utf-8")
    for number, has in (8, True), (9, False):
        out = course / f"as of {number}"
        assert engine.engine_command(number, out, course) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert f"Yours: 8.2{', 8.3' * has}." in told
        assert ("A later chapter changes these files: 8.3." in told) != has
        walk = (out / "minigrad/graph/walk.py").read_text("utf-8")
        assert (mine in walk) == has
        compile(walk, "walk.py", "exec")


def test_no_such_engine_and_no_folder_that_is_not_empty(course, monkeypatch):
    with pytest.raises(Trouble, match="no engine of chapter 17. Chapters 3 to 16"):
        engine.engine_command(17, None, course)
    with pytest.raises(Trouble, match="not empty. Give a new folder"):
        engine.engine_command(8, course / "exercises" / "..", course)
    monkeypatch.setattr(engine, "chapters", list)
    with pytest.raises(Trouble, match="which only a clone of the course"):
        engine.engine_command(8, None, course)
