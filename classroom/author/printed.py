"""What our own solution prints for drawn inputs: for `check`, and for `grade`."""

import json
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy

from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode, from_dict

from classroom.author.chapters import Chapter
from classroom.author.compose import solution_notebook
from classroom.notebook.files import Cell, code_cell
from classroom.notebook.pristine import id_of


def drawn_cell(name: str, source: str, seed: str) -> Cell:
    """Return a cell with the drawn inputs of an exercise; its names are its own.

    The names of Python's own functions mean these, even if an answer has redefined
    them.
    """
    draw = f'__import__("random").Random({f"{seed} {name}"!r})'
    names = "**globals(), **vars(__import__('builtins')), '__name__': __name__"
    place = {"exercise": name, "role": "hidden"}
    source = f"exec({source!r}, {{{names}, 'rng': {draw}}})  # hidden check"
    return code_cell(id_of("hidden", name), source, place)


def drawn_cells(chapter: Chapter, seed: str) -> dict[str, Cell]:
    """Return the cells of a chapter with its drawn inputs, by exercise."""
    exercises = chapter.exercises.items()
    return {name: drawn_cell(name, each.drawn, seed) for name, each in exercises}


def what_is_printed(
    chapter: Chapter,
    several: list[dict[str, Cell]],
    run: Callable[[NotebookNode], NotebookNode],
) -> list[dict[str, str]]:
    """Return what cells print after their exercises, if `run` runs our solution.

    `several` has cells by exercise, and all of them run in one kernel. Raises
    RuntimeError if our own solution does not run.
    """
    notebook = with_cells(solution_notebook(chapter), several)
    try:
        notebook = run(notebook)
    except CellExecutionError as error:
        what = f"{error.ename}: {error.evalue}"
        raise RuntimeError(f"our own solution stopped with {what}") from None
    outputs = {cell.id: cell.get("outputs", []) for cell in notebook.cells}
    return [
        {name: text_of(outputs[f"{cell['id']}-{k}"]) for name, cell in cells.items()}
        for k, cells in enumerate(several)
    ]


def text_of(outputs: list[NotebookNode]) -> str:
    """Return what a cell has printed."""
    return "".join(output.get("text", "") for output in outputs)


def with_cells(notebook: NotebookNode, several: list[dict[str, Cell]]) -> NotebookNode:
    """Return a notebook with these cells, numbered, below the checks."""
    after, found = defaultdict(list), []
    for k, cells in enumerate(several):
        for name, cell in cells.items():
            numbered = deepcopy(cell) | {"id": f"{cell['id']}-{k}"}
            after[id_of("check", name)].append(from_dict(numbered))
    for cell in notebook.cells:
        found += [cell, *after[cell.id]]
    return from_dict({**notebook, "cells": found})


def as_json(chapter: Chapter, printed: dict[str, str]) -> str:
    """Return the text of classroom/drawn/NN_slug.json."""
    exercises = chapter.exercises.items()
    texts = {n: {"source": e.drawn, "prints": printed[n]} for n, e in exercises}
    lines = {n: {k: t.splitlines() for k, t in e.items()} for n, e in texts.items()}
    return json.dumps(lines, indent=1, ensure_ascii=False) + "\n"
