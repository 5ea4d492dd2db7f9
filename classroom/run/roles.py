"""The cells that run when answers are judged, and what happens to each of them.

Each cell has a role, and belongs to an exercise, or to the whole chapter. If a cell of
the chapter fails, no cell below it runs.
"""

from typing import NamedTuple

from classroom.cell.asked import bound_names
from classroom.notebook.files import Cell, Notebook, code_cell, reference
from classroom.notebook.pristine import Chapter, parse_label


class Role(NamedTuple):
    """What a cell is, and what follows from it.

    - `by_learner`: the learner wrote it. Its comments cannot tell nbval to skip it.
    - `needs_answer`: it is left out if its exercise is blank or has failed. An error in
      it is blamed on the answer.
    - `may_fail`: an error in it costs nothing, unless Python had to be stopped.
    - `judges`: an AssertionError in it means a wrong answer. Its warnings do not count.
      In a sandbox, no new kernel repeats the cells of the answer that it refused.
    - `undone`: if it fails, and its exercise is a piece of the package, a new kernel
      runs the rest without it.
    - `secret`: its output is compared as numbers, and no message says anything of it.
      No new kernel repeats it.
    """

    what: str
    by_learner: bool = False
    needs_answer: bool = True
    may_fail: bool = False
    judges: bool = False
    undone: bool = False
    secret: bool = False


ROLES = {
    "": Role("a cell of the course above the answer", needs_answer=False),
    "answer": Role("a cell that defines what the blank asks for", by_learner=True),
    "extra": Role("a cell next to the answer", by_learner=True, may_fail=True),
    "after": Role("a cell of the course between the answer and its check"),
    "check": Role("the check in the notebook", judges=True),
    "drawn": Role("the drawn inputs that `check` adds", judges=True, undone=True),
    "hidden": Role("the secret inputs that `grade` adds", judges=True, secret=True),
    "shown": Role("a cell of the course below the check", may_fail=True),
}


def notebook_to_run(
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
