"""A chapter that needs more than the course: said, built, skipped and checked."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from classroom import ROOT
from classroom.author import build, front_matter
from classroom.author.chapters import Chapter, chapters
from classroom.author.concerns import Noted
from classroom.run import judge

BLOCKED = "import sys\nsys.modules['torch'] = None\n"
SAMPLE = Path(__file__).with_name("90_sample")
NEEDY = [c for c in chapters() if "\nrequires: " in c.text("lesson.md")]
needs_torch = pytest.mark.parametrize("chapter", NEEDY, ids=lambda each: each.slug)


def needing(folder, requires):
    """Return a chapter in `folder` that requires something, and make room for it."""
    for name in ("notebooks", "solutions", "exercises"):
        (folder / name).mkdir()
    chapter = shutil.copytree(SAMPLE, folder / "chapters" / "90_needy")
    text = (chapter / "lesson.md").read_text("utf-8")
    (chapter / "lesson.md").write_text(text.replace("track:", f"{requires}track:"))
    return Chapter(chapter)


@pytest.fixture
def without_torch(tmp_path, monkeypatch):
    """Let no Python that is started find PyTorch, nor this one say that it is there."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    monkeypatch.setenv("PYTHONPATH", path["PYTHONPATH"])
    plain = judge.plain_environment
    monkeypatch.setattr(judge, "plain_environment", lambda place: plain(place) | path)
    monkeypatch.setenv("CI", "")
    monkeypatch.setitem(sys.modules, "torch", None)


def test_the_first_cell_says_what_to_install(tmp_path):
    chapter = needing(tmp_path, "requires: [torch]\n")
    for notebook in (build.lesson_notebook, build.solution_notebook):
        assert "**This chapter needs torch**" in notebook(chapter).cells[0].source
        assert "`%pip install torch==" in notebook(chapter).cells[0].source
    assert "| 30 | torch |" in front_matter.chapter_table([chapter])


def test_what_is_built_stays(tmp_path, monkeypatch):
    chapter = needing(tmp_path, "requires: [colorsys]\n")
    noted = Noted(tmp_path)
    assert len(build.build_chapter(chapter, tmp_path, noted)) == 8
    monkeypatch.setitem(sys.modules, "colorsys", None)
    assert chapter.missing == "colorsys"
    assert build.build_chapter(chapter, tmp_path, noted) == []


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_only_the_adapter_needs_pytorch_and_it_says_so(without_torch):
    others = "import minigrad.draw, minigrad.nn, minigrad.optim, minigrad.plot"
    assert run_python(others).returncode == 0
    last = run_python("import minigrad.drawing.pytorch").stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError:") and "torch" in last


@needs_torch
def test_check_says_what_is_missing(chapter, without_torch):
    solved = {name: [each.solved] for name, each in chapter.exercises.items()}
    pristine = ROOT / build.PRISTINE / f"{chapter.slug}.ipynb"
    results = judge.run_answers(pristine, solved, timeout=60)
    assert {result.status for result in results.values()} == {"error"}
    for result in results.values():
        assert re.search("ModuleNotFoundError: .*torch", result.message)
