"""The cells that are run to judge answers, and the role of each of them."""

from classroom.cell.asked import bound_names
from classroom.notebook.files import Cell, Notebook, code_cell, reference
from classroom.notebook.pristine import Chapter, parse_label


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
