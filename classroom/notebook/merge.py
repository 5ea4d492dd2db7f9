"""Merge what a learner has written with an untouched chapter.

`update` merges a notebook with the newer chapter. `reset`, `restore` and `break` merge
it with its own chapter, but take the answer to an exercise from another notebook. The
rules are the same for all of them:

- The cells of the course are the untouched ones, all of them and in their order. A cell
  whose text is the same keeps its outputs.
- The answer to an exercise takes the place of its blank, together with the learner's
  own cells that were between the cells of the answer.
- Every other cell of the learner's own comes after the same cell of the course as
  before.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from classroom.notebook.answers import Learner
from classroom.notebook.files import Cell, Notebook
from classroom.notebook.pristine import Chapter, id_of, parse_label
from classroom.notebook.source_code import outline, with_header


@dataclass
class Merged:
    """The merged notebook, and what to tell the learner about it.

    `edited` counts the cells of the course that the learner had changed, and `deleted`
    those that were missing. `changed` are the exercises whose answer took the place of
    a blank that is different now. Cells of an exercise that the chapter no longer has
    are `homeless`.
    """

    notebook: Notebook
    homeless: list[Cell]
    edited: int
    deleted: int
    changed: list[str]


def merge(
    learner: Learner, chapter: Chapter, instead: dict[str, Learner] | None = None
) -> Merged:
    """Merge a learner's notebook with its own chapter, or with a newer version of it.

    For each exercise in `instead`, the answer and the own cells next to it come from
    the notebook that is given there.
    """
    others = (instead or {}).items()
    replaced = {i for name, _ in others for i in learner.cells_of(name)}
    sources = [(learner, {*range(len(learner.cells))} - replaced)]
    sources += [(other, {*other.cells_of(name)}) for name, other in others]
    place: dict[str, list[Cell]] = defaultdict(list)  # in place of a cell of the course
    below: dict[str | None, list[Cell]] = defaultdict(list)  # own cells, by that above
    homeless, edited, changed = [], 0, set()
    for source, chosen in sources:
        for i, (what, label) in enumerate(_sorted_cells(source, chapter)):
            cell, course = source.cells[i], chapter.cells.get(label)
            before = source.chapter.cells.get(source.labels[i])
            if i not in chosen:
                continue
            if what == "homeless":
                homeless.append(cell)
            elif what == "own":
                below[label].append(cell)
            elif what == "answer":
                place[label] += below.pop(label, []) + [_put(cell, course)]
                if outline(course["source"]) != outline(before["source"]):
                    changed.add(chapter.home[label])
            elif what == "course":
                edited += cell["source"] != before["source"]
                if course and cell["source"] == course["source"]:
                    place[label] = [_put(cell, course)]
    cells = list(below[None])
    for label, cell in chapter.cells.items():
        cells += (place[label] or [cell]) + below[label]
    about = chapter.notebook["metadata"] | learner.notebook["metadata"]
    about["minigrad"] = chapter.about
    notebook = {**chapter.notebook, "metadata": about, "cells": _own_ids(cells)}
    deleted = len(learner.chapter.cells.keys() - {*learner.labels})
    told = [name for name in chapter.exercises if name in changed]
    return Merged(notebook, homeless, edited, deleted, told)


def _sorted_cells(learner: Learner, new: Chapter) -> Iterator[tuple[str, str | None]]:
    """Yield what each cell of a notebook is, and which cell of `new` tells its place.

    It is a cell of the "course", an "answer", a "blank", the learner's "own" (below the
    cell that is named) or "homeless". An answer goes to the exercise with its title,
    whatever its number is now.
    """
    old, homes = learner.chapter, new.heirs(learner.chapter.notebook)
    above = here = None
    for i, (cell, label) in enumerate(zip(learner.cells, learner.labels, strict=True)):
        kind, name = parse_label(label)
        what, text = "course" if label else "own", cell["source"].strip()
        if kind == "answer":
            exercise = old.exercises[name]
            is_copy = i > max(learner.parts(exercise), default=i)
            what = "own" if is_copy else "answer"
            what = "blank" if text in ("", exercise.stub.strip()) else what
        here = old.home[label] if label else here
        label = id_of(kind, homes[name]) if name and homes[name] else label
        gone = here is not None and homes[here] is None
        if what != "own" and label in new.cells and not gone:
            above = label
        lost = gone and what in ("own", "answer")
        yield ("homeless" if lost else what), above if what == "own" else label


def _put(cell: Cell, course: Cell) -> Cell:
    """A learner's cell in place of one of the course; its outputs stay."""
    source = with_header(cell["source"], course["source"])
    return {**cell, **{k: course[k] for k in ("id", "metadata")}, "source": source}


def _own_ids(cells: list[Cell]) -> list[Cell]:
    seen: set[str] = {""}
    for n, cell in enumerate(cells):
        name = cell.get("id") or ""
        cells[n] = {**cell, "id": uuid.uuid4().hex[:8] if name in seen else name}
        seen.add(name)
    return cells
