"""A small course in a folder of its own, for the tests of check, reset and update."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from classroom.all_or_nothing import Trouble
from classroom.notebook.files import read_notebook, write_notebook

BLANK = 'raise NotImplementedError("fill this in")'
STUBS = {
    "90.1": f"def double(x):\n    {BLANK}",
    "90.2": f"def triple(x):\n    {BLANK}",
    "90.3": f"def area(r):\n    {BLANK}",
}
RIGHT = {
    "90.1": "def double(x):\n    return x + x",
    "90.2": "def triple(x):\n    return 3 * x",
    "90.3": "def area(r):\n    return PI * r * r",
}
CHECKS = {
    "90.1": "assert double(4) == 8, f'double(4): your answer: {double(4)}'\n",
    "90.2": "assert triple(4) == 12, f'triple(4) is 12, not {triple(4)}'\n",
    "90.3": "assert area(2) == 12, f'area(2) is 12, not {area(2)}'\n",
}
TITLES = {"90.1": "Twice", "90.2": "Three times", "90.3": "Round"}


def markdown(name, source):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def code(name, source, **metadata):
    cell = {"cell_type": "code", "id": name, "metadata": metadata, "source": source}
    return {**cell, "execution_count": None, "outputs": []}


def nbgrader(name, solution=False, grade=False):
    about = {"schema_version": 3, "grade_id": name, "task": False}
    return {**about, "solution": solution, "grade": grade, "locked": not solution}


def exercise(name, stub=None, statement=""):
    """The cells of one exercise; its check prints that it passed, as real checks do."""
    dashed = name.replace(".", "-")
    heading = f"## {name} {TITLES.get(name, 'New')}\n\n{statement}"
    hints = "".join(f"<details><summary>Hint {n}</summary>\n" for n in (1, 2, 3))
    answer = code(f"answer-{dashed}", stub or STUBS[name], tags=["answer"])
    answer["metadata"]["nbgrader"] = nbgrader(answer["id"], solution=True)
    check = code(f"check-{dashed}", CHECKS.get(name, "") + f"print('{name} passed')")
    check["metadata"] = {"tags": ["check", "nbval-check-output"]}
    check["metadata"]["nbgrader"] = nbgrader(check["id"], grade=True)
    text = [f"{name} passed\n"]
    check["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    check["execution_count"] = 1
    statement = markdown(f"exercise-{dashed}", heading)
    statement["metadata"]["nbgrader"] = nbgrader(statement["id"])
    return [statement, markdown(f"hints-{dashed}", hints), answer, check]


def chapter(exercises=None, slug="90_sample"):
    """An untouched notebook with the exercises given, by name."""
    exercises = exercises or {name: exercise(name) for name in STUBS}
    cells = [markdown("title", "# Sample"), code("setup", "PI = 3")]
    cells += [cell for group in exercises.values() for cell in group]
    about = {name: {"title": TITLES.get(name, "New")} for name in exercises}
    minigrad = {"chapter": slug, "title": "Sample", "exercises": about}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "minigrad": minigrad}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def course(root, *chapters):
    """Write a course of `chapters` (one, without any) to the folder `root`."""
    for notebook in chapters or (chapter(),):
        slug = notebook["metadata"]["minigrad"]["chapter"]
        for folder in ("classroom/pristine", "exercises"):
            (root / folder).mkdir(parents=True, exist_ok=True)
            write_notebook(root / folder / f"{slug}.ipynb", notebook)
    return root


def pristine(root, slug="90_sample"):
    return root / "classroom" / "pristine" / f"{slug}.ipynb"


def learner(root, slug="90_sample"):
    return root / "exercises" / f"{slug}.ipynb"


def fill(path: Path, answers):
    """Act as a learner does: write `answers` into the notebook and save it."""
    notebook = read_notebook(path)
    for name, source in answers.items():
        cell_of(notebook, f"answer-{name.replace('.', '-')}")["source"] = source
    write_notebook(path, notebook)
    return notebook


def cell_of(notebook, name):
    return next(cell for cell in notebook["cells"] if cell.get("id") == name)


def sources(path: Path):
    return [cell["source"] for cell in read_notebook(path)["cells"]]


def strip_labels(notebook):
    """Remove what an older Jupyter does not keep: format 4.4 has no ids."""
    cells = [{**cell, "metadata": {}} for cell in notebook["cells"]]
    for cell in cells:
        del cell["id"]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}


def nbval(path: Path, words):
    """Run nbval on a notebook in a process of its own; return what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", *words.split()]
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    how = {"cwd": path.parent, "env": env, "capture_output": True, "text": True}
    return subprocess.run([*command, path.name], **how).stdout


def refused(command, *words, **names):
    """The message of a command that cannot do what it is asked for."""
    with pytest.raises(Trouble) as trouble:
        command(*words, **names)
    return str(trouble.value)
