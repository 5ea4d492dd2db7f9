"""Things around an answer, at home or in other cells, do not count against it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from classroom import ROOT
from classroom.all_or_nothing import JOURNAL, Trouble, finish_first
from classroom.learner.check import check_command
from classroom.learner.help import report_command
from classroom.learner.progress import progress_command
from classroom.learner.restore import reset_command, restore_command
from classroom.learner.update import update_command
from classroom.notebook.files import COURSE, Unreadable, write_notebook
from classroom.run import judge
from classroom.run.judge import run_answers
from classroom.run.verdict import BY_CHANCE
from tests.course import sample
from tests.course.sample import RIGHT, course, pristine

PROFILE = ".ipython/profile_default"
USERS = {
    f"{PROFILE}/startup/10.py": "PI = 7\nfrom numpy import *",
    f"{PROFILE}/ipython_kernel_config.py": "c.IPKernelApp.pylab = 'inline'",
    ".config/matplotlib/matplotlibrc": "no such setting",
    ".jupyter/jupyter_config.py": "raise OSError",
}


def statuses(root, answers):
    cells = {name: [answer] for name, answer in answers.items()}
    results = run_answers(pristine(root), cells, 20)
    return [result.status for result in results.values()]


def test_the_users_own_settings_change_nothing(tmp_path, monkeypatch):
    for name, text in USERS.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    home = str(tmp_path / "home")
    for name in ("HOME", "USERPROFILE", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, home)
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")  # without assertions
    wrong = RIGHT | {"90.2": "def triple(x): return 2 * x"}
    assert statuses(course(tmp_path), RIGHT) == ["passed"] * 3
    assert statuses(tmp_path, wrong) == ["passed", "wrong", "passed"]


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("import math as m\ndef double(x): return x + x\nraise KeyError(1)", "error"),
        ("import math as m\ndef double(x): return x", "wrong"),
        ("import math as m\nraise NotImplementedError('fill this in')", "blank"),
    ],
)
def test_what_ran_before_an_error_has_run(tmp_path, cell, status):
    later = "def triple(x): return m.floor(3 * x)"
    found = statuses(course(tmp_path), {"90.1": cell, "90.2": later})
    assert found[:2] == [status, "passed"]


@pytest.mark.parametrize("name", ["numpy.py", "random.py", "minigrad.py"])
def test_a_file_that_hides_a_module_is_named(tmp_path, name):
    (tmp_path / name).write_text("")
    words = [sys.executable, "-c", "import classroom.live"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: The file {name}, next to this notebook")


CHECK = """
import sys
from pathlib import Path
from classroom import __main__ as commands

if __name__ == "__main__":
    from classroom.learner.check import check_command

    commands.run = lambda words: check_command("90", Path(words[0]))
    commands.main()
"""


@pytest.mark.posix
@pytest.mark.parametrize("seconds", [0, 0.5])
def test_ctrl_c_while_python_imports_says_stopped(tmp_path, seconds):
    sample.fill(sample.learner(course(tmp_path)), RIGHT)
    (tmp_path / "check.py").write_text(CHECK)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "check.py", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        text=True,
    )
    while not psutil.Process(process.pid).children() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that it started
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130 and said.split()[0] == "Stopped.", said
    assert "Traceback" not in said


COPY_NAMES = ["90_sample-Copy1", "90_sample (1)", "Copy of 90_sample", "90 - Copy"]


@pytest.mark.parametrize(
    ("name", "what"), [*((name, None) for name in COPY_NAMES), (COPY_NAMES[0], "90")]
)
def test_a_copy_does_not_count_and_is_told_of(no_kernel, tmp_path, capsys, name, what):
    root = course(tmp_path)
    copy = root / "exercises" / f"{name}.ipynb"
    shutil.copy(sample.learner(root), copy)
    sample.fill(copy, RIGHT)
    assert check_command(what, root) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"There are also answers in {copy.name}, which do not count." in told
    assert f'check "{copy.name}"' in told and "not yet filled in" in told
    progress_command(root)
    told = " ".join(capsys.readouterr().out.split())
    assert f"0 of 3, and answers in {copy.name}" in told
    sample.learner(root).unlink()  # the only one counts, whatever its name is
    assert check_command("90", root) == 0


BESIDE = ["._90_sample", ".~90_sample", "~$90_sample", "90_sample (1)", "90_sample 2"]
BESIDE += ["90_sample (kim's conflicted copy)", "90_sample.sync-conflict-20261128"]
BESIDE += ["90_sample-PC7", "90_sample_LOCAL_81", "Copy of 90_sample"]


def test_files_that_other_programs_put_beside_ours_stop_no_command(
    no_kernel, tmp_path, capsys
):
    root = course(tmp_path)
    sample.fill(sample.learner(root), RIGHT)
    for name in BESIDE:
        hidden = name[0] in ".~"
        text = b"\0\5\26\7" if hidden else pristine(root).read_bytes()
        for folder in ("classroom/pristine", "exercises", "exercises/kept")[
            : 1 + 2 * hidden
        ]:
            (root / folder).mkdir(exist_ok=True)
            (root / folder / f"{name}.ipynb").write_bytes(text)
    assert check_command(None, root) == check_command("90", root) == 0
    progress_command(root)
    told = capsys.readouterr().out
    assert told.count("90_sample.ipynb") == 2 and "3 of 3 exercises passed" in told
    reset_command("90.1", root)
    restore_command("90.1", None, root)


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"cells": [{}]}'])
def test_a_damaged_notebook_of_the_courses_own_is_not_taken_for_the_learners(
    content, tmp_path
):
    root = course(tmp_path)
    pristine(root).unlink()
    if content is None:
        pristine(root).mkdir()
    else:
        pristine(root).write_bytes(content)
    with pytest.raises(Unreadable, match="git checkout classroom/pristine/90_sample"):
        reset_command("90", root)


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_damaged_list_of_what_an_update_has_left_to_do_is_named(content, tmp_path):
    (tmp_path / JOURNAL).parent.mkdir(parents=True)
    (tmp_path / JOURNAL).write_text(content)
    with pytest.raises(Trouble, match=r"journal\.json.* cannot be read"):
        finish_first(tmp_path)


def test_what_the_machine_is_to_blame_for_is_tried_again_and_held_against_nobody(
    no_kernel, tmp_path, monkeypatch, capsys
):
    root, runs = course(tmp_path), []
    sample.fill(sample.learner(root), RIGHT)
    events = [{"failed": why, "exercise": None, "role": ""} for why in BY_CHANCE]

    def run(*words):
        runs.append(words)
        return ([events[len(runs) // 2]], "") if len(runs) % 2 else once(*words)

    once = judge.run_once
    monkeypatch.setattr(judge, "run_once", run)
    assert check_command("90", root) == 0 and len(runs) == 2
    monkeypatch.setattr(judge, "run_once", lambda *words: (events[:1], ""))
    for why in BY_CHANCE - {"Crashed"}:
        events[0]["failed"] = why
        capsys.readouterr()
        assert check_command("90", root) == 1
        told = capsys.readouterr().out
        assert "not graded" in told and "busy" in told and "Hint" not in told
    progress_command(root)
    assert "3 of 3 exercises passed" in capsys.readouterr().out


@pytest.mark.posix
def test_a_crash_of_python_is_called_so(tmp_path):
    crash = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    cells = {"90.1": [crash], "90.2": [RIGHT["90.2"]]}
    found = run_answers(pristine(course(tmp_path)), cells, 20)
    assert [found[name].status for name in cells] == ["died", "passed"]
    assert "Python itself crashed" in found["90.1"].message


def test_a_picture_that_cannot_be_made_decides_nothing(tmp_path, monkeypatch):
    """As where memory is limited: WebAssembly takes 4 GB of addresses."""
    draws = "from minigrad.drawing import graphviz_svg\n{}\ndraw(Value(1.0) * 2)"
    no_picture = "graphviz_svg.to_svg = lambda source: 1 / 0"
    shown = code_outputs(draws.format(""))
    notebook = sample.chapter()
    check = sample.cell_of(notebook, "check-90-1")
    check["source"] += f"\n{IMPORTS}\n{draws.format(no_picture)}"
    check["outputs"] += shown
    root = course(tmp_path, notebook)
    assert statuses(root, {"90.1": RIGHT["90.1"]})[0] == "passed"


IMPORTS = "from minigrad.value import Value\nfrom minigrad.draw import draw"


def code_outputs(source):
    """What a notebook stores of a cell that ends in a drawing."""
    space = {}
    exec(f"{IMPORTS}\n{source.rpartition(chr(10))[0]}\nx = draw(Value(1.0) * 2)", space)
    data = space["x"]._repr_mimebundle_()
    assert data.keys() == {"text/html", "text/plain"}
    output = {"output_type": "execute_result", "data": data, "metadata": {}}
    return [output | {"execution_count": 1}]


def test_looking_for_copies_reads_no_notebook_for_each_chapter(capsys, monkeypatch):
    reads, read = Counter(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda p: reads.update([p]) or read(p))
    progress_command(ROOT)
    assert "exercises passed" in capsys.readouterr().out
    times = [n for path, n in reads.items() if path.parent == ROOT / "exercises"]
    assert times and max(times) <= 2


@pytest.mark.posix
def test_streams_that_are_closed_stop_no_command(tmp_path):
    root = course(tmp_path / "두 단어")
    shutil.copytree(ROOT / "classroom", root / "classroom", dirs_exist_ok=True)
    sample.fill(sample.learner(root), RIGHT)
    command = f"{sys.executable} -m classroom reset 90.1 <&- >&- 2>&-"
    env = {**os.environ, "PYTHONPATH": str(root)}
    assert subprocess.run(command, shell=True, cwd=root, env=env).returncode == 0
    assert RIGHT["90.1"] not in sample.sources(sample.learner(root))


def test_where_no_notebook_is_it_is_told_how_to_get_one(tmp_path):
    root = course(tmp_path)
    shutil.rmtree(root / "exercises")
    for what in None, "90", "90.1":
        told = sample.refused(check_command, what, root)
        assert f"in exercises/. `{COURSE} reset {'90' if what else 'CHAPTER'}`" in told
    told = sample.refused(report_command, "90.1", root)
    assert f"`{COURSE} reset 90` makes a blank one" in told
    told = sample.refused(restore_command, "90.1", None, root)
    assert "has no version of exercise 90.1." in told


@pytest.mark.parametrize("there", ["neither", "the clone", "git"])
def test_update_says_which_is_missing_git_or_the_clone(tmp_path, monkeypatch, there):
    root = course(tmp_path)
    if there == "the clone":
        (root / ".git").mkdir()
    monkeypatch.setattr(shutil, "which", lambda _: there == "git")
    told = sample.refused(update_command, None, root)
    assert told.startswith("git is not installed") == (there == "the clone")
    assert ("This course is not a clone" in told) == (there != "the clone")


def test_a_notebook_too_large_to_be_graded_is_told_of(no_kernel, tmp_path, capsys):
    root = course(tmp_path)
    notebook = sample.fill(sample.learner(root), RIGHT)
    text = [{"output_type": "stream", "name": "stdout", "text": "x" * (21 << 20)}]
    notebook["cells"].append(sample.code("own", "") | {"outputs": text})
    write_notebook(sample.learner(root), notebook)
    assert check_command("90", root) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "The notebook has 21 MB, and at most 20 MB can be graded" in told


def test_a_message_is_the_same_in_every_run(tmp_path):
    cells = {"90.1": ["def double(x): return lambda: x"]}
    found = run_answers(pristine(course(tmp_path)), cells, 20)["90.1"].message
    assert "<function double.<locals>.<lambda>>" in found
