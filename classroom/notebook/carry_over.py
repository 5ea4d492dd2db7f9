"""Put answers into untouched notebooks, to run, update or restore them."""

import uuid
from collections import defaultdict
from dataclasses import dataclass

from classroom.cell.asked import bound_names
from classroom.notebook.answers import Learner
from classroom.notebook.files import Cell, Notebook, code_cell, reference
from classroom.notebook.pristine import Chapter, id_of, parse_label
from classroom.notebook.source_code import outline, with_header


def graft(
    chapter: Chapter,
    answers: dict[str, list[str]],
    drawn: dict[str, Cell] | None = None,
) -> Notebook:
    """The chapter's code cells with `answers` in their places, ready for nbval.

    The cells after a blank are left out with it. The cell that draws inputs comes after
    its exercise's check. Each cell's metadata says, under `minigrad`, which exercise it
    belongs to and what its role is.
    """
    cells, answered, checked = [], "", ""
    for label, cell in chapter.cells.items():
        kind, home = parse_label(label)[0], chapter.home[label]
        if kind == "answer":
            answered = home
            parts, asked = answers.get(home, []), bound_names(cell["source"])
            core = {source for source in parts if bound_names(source) & asked}
            for n, source in enumerate(parts):
                role = "answer" if source in core or not core else "extra"
                place = {"exercise": home, "role": role}
                cells.append(code_cell(f"{label}-{n}", source, place))
        elif cell["cell_type"] == "code" and (home != answered or home in answers):
            role = "shown" if home == checked else "after" if home == answered else ""
            place = {"exercise": home, "role": kind or role}
            tags = cell["metadata"].get("tags", [])
            about = {"metadata": {"tags": tags, "minigrad": place}}
            shown = {"outputs": reference(cell), "execution_count": 1}
            cells.append({**cell, **about, **shown})
            if kind == "check":
                checked = home
                cells += [drawn[home]] if drawn and home in drawn else []
    return {**chapter.notebook, "cells": cells}


@dataclass
class Carried:
    """The result for a learner's cells.

    `edited` counts changed cells of the course. `changed` are the exercises whose
    answer was written into a blank that is different now.
    """

    notebook: Notebook
    homeless: list[Cell]
    edited: int
    changed: list[str]


def carry_over(learner: Learner, new: Chapter) -> Carried:
    """`new` with the learner's answers and own cells in it.

    An answer goes to the exercise with its title, whatever its number is now. A cell of
    the learner's own comes after the same cell of the course as before. Cells of an
    exercise that `new` lacks are `homeless`.
    """
    old, homeless, edited = learner.chapter, [], 0
    homes = new.heirs(old.notebook)
    after: dict[str | None, list[Cell]] = defaultdict(list)
    answers: dict[str, list[Cell]] = defaultdict(list)
    anchor, here, changed = None, None, set()
    for cell, label in zip(learner.cells, learner.labels, strict=True):
        kind, name = parse_label(label)
        here = old.home[label] if label else here
        gone = here is not None and homes[here] is None
        blank = kind == "answer" and old.exercises[name].is_blank(cell["source"])
        before = cell["source"] if not label else old.cells[label]["source"]
        if name and homes[name]:
            label = id_of(kind, homes[name])
        anchor = label if label in new.cells and not gone else anchor
        if kind == "answer" and not blank and not gone:
            course = {k: new.cells[label][k] for k in ("id", "metadata")}
            stub = new.exercises[homes[name]].stub
            course["source"] = with_header(cell["source"], stub)
            answers[label] += after.pop(label, []) + [{**cell, **course}]
            asks = outline(stub)
            if asks != outline(old.exercises[name].stub):
                changed.add(homes[name])
        elif (kind == "answer" and not blank and gone) or (not label and gone):
            homeless.append(cell)
        elif not label and cell["source"].strip():
            after[anchor].append(cell)
        elif kind != "answer" and cell["source"] != before:
            edited += 1
    cells = list(after[None])
    for label, cell in new.cells.items():
        cells += (answers[label] or [cell]) + after[label]
    told = [name for name in new.exercises if name in changed]
    return Carried({**new.notebook, "cells": _own_ids(cells)}, homeless, edited, told)


def bring_back(learner: Learner, other: Learner, name: str) -> Notebook:
    """`learner`'s notebook with the answer to one exercise from `other`, or its blank.

    The answer consists of the answer's cells and the learner's own cells among them. Of
    the exercise's other cells, those that are missing come back, too. Each cell that is
    put in comes after the one that is above it in the course.
    """
    chapter, answer = learner.chapter, id_of("answer", name)
    replaced, order = learner.cells_of(name), [*chapter.cells]
    left = [i for i in range(len(learner.cells)) if i not in replaced]
    cells, labels = (
        [each[i] for i in left] for each in (learner.cells, learner.labels)
    )
    course = {key: chapter.cells[answer][key] for key in ("id", "metadata")}
    taken = [
        {**other.cells[i], **course} if other.labels[i] == answer else other.cells[i]
        for i in other.cells_of(name)
    ]
    for n, label in enumerate(order):
        if chapter.home[label] == name and label not in labels:
            above = next((each for each in reversed(order[:n]) if each in labels), None)
            place = labels.index(above) + 1 if above else 0
            new = taken if label == answer else [chapter.cells[label]]
            cells[place:place], labels[place:place] = new, [label] * len(new)
    return {**learner.notebook, "cells": _own_ids(cells)}


def _own_ids(cells: list[Cell]) -> list[Cell]:
    seen: set[str] = set()
    result = []
    for cell in cells:
        name = cell.get("id")
        name = name if name and name not in seen else uuid.uuid4().hex[:8]
        seen.add(name)
        result.append({**cell, "id": name})
    return result
