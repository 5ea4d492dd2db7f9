"""Print what a helper needs to know: `python3 course.py report 4.2`.

The report contains no path of the home folder and no name of a person, so that it can
be pasted in public.
"""

import getpass
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path

from classroom import ROOT
from classroom.learner import newer_course
from classroom.learner.check import Task
from classroom.learner.find import NO_NOTEBOOK, find_exercise, open_learner
from classroom.learner.results import Memory
from classroom.notebook.files import Unreadable
from classroom.run.verdict import WORDS

PACKAGES = ["numpy", "jupyterlab", "ipykernel", "nbval", "matplotlib", "graphviz"]
FENCE = "`" * 4  # an answer may have three of them in a row


def report_command(what: str, root: Path = ROOT) -> int:
    """Print the report on one exercise; raise Unreadable if there is none."""
    path, chapter, name = find_exercise(what, root, "report")
    if not path.exists():
        raise Unreadable(NO_NOTEBOOK.format(path.name, chapter.number))
    task = Task(path, open_learner(path, [chapter]), name)
    answers, result = task.answers(), task.run()[name]
    cells = "\n\n".join(answers.get(name, ["(not filled in)"]))
    blocks = [f"{FENCE}python\n{cells}\n{FENCE}"]
    blocks += [f"{FENCE}\n{result.message}\n{FENCE}"] if result.message else []
    head = f"Exercise {name} {chapter.exercises[name].title}: {WORDS[result.status][0]}"
    if seconds := Memory(root).passed_in_notebook(task.learner, name):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
        head += f"\n(This answer passed in the notebook on {when}.)"
    print(without_names("\n\n".join([head, environment(root), *blocks]), root))
    return 0


def environment(root: Path) -> str:
    """Return the versions of all that may matter, in a few lines."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    day = newer_course.version(root) or "an unknown day"
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    python = f"python: {platform.python_version()} on {system}"
    return f"course of {day}\n{python}\n{packages}"


def without_names(text: str, root: Path) -> str:
    """Return a text without the paths of this machine and its user's name."""
    places = {root.resolve(): "COURSE", sys.prefix: "PYTHON", Path.home(): "~"}
    for place, word in places.items():
        text = text.replace(str(place), word)
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        return text
    return re.sub(rf"\b{re.escape(user)}\b", "USER", text)
