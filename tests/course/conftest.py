"""Each chapter in turn, and a folder in which the commands of a learner can run."""

import io
from contextlib import redirect_stdout

import pytest

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.run import judge
from classroom.run.roles import ROLES
from classroom.run.verdict import is_forgiven


@pytest.fixture(params=chapters(), ids=lambda chapter: chapter.slug)
def chapter(request):
    """Each chapter in turn."""
    return request.param


@pytest.fixture
def course(tmp_path):
    """A course in a folder of its own, with copies of these files; nothing is begun."""
    for name in ("minigrad", "tests", "classroom", "chapters", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "exercises").mkdir()
    return tmp_path


@pytest.fixture
def no_kernel(monkeypatch):
    """Let answers in plain Python run in this process, which takes no seconds."""
    monkeypatch.setattr(judge, "run_once", run_here)


def run_here(notebook, timeout, folder):
    """Return the events of a notebook's cells, as `run_once` does."""
    names, events, failed = {}, [], set()
    for cell in notebook["cells"]:
        place = cell["metadata"]["minigrad"]
        needs_answer = ROLES[place["role"]].needs_answer
        if None in failed or (needs_answer and place["exercise"] in failed):
            continue
        event = {"failed": None, **place}
        try:
            with redirect_stdout(io.StringIO()):
                exec(compile(cell["source"], "cell.py", "exec"), names)
        except Exception as error:
            event |= {"failed": "raised", "ename": type(error).__name__}
            event |= {"evalue": str(error), "traceback": ""}
            failed |= set() if is_forgiven(event) else {place["exercise"]}
        events.append(event)
    return events, ""
