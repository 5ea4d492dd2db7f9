"""Cells that wait for their run: what they are to show is not in sight before.

It lies in the cell's metadata, where no program shows it and nbval's references are.
"""

from typing import Any

from classroom.notebook.files import Cell, as_table


def put_away(cell: Cell) -> None:
    """Move the outputs of a code cell out of sight; it looks as if it had not run."""
    cell["metadata"]["minigrad"] = {"outputs": cell["outputs"]}
    cell["outputs"], cell["execution_count"] = [], None


def reference(cell: Cell) -> list[dict[str, Any]]:
    """Return what a code cell is to show, in sight or not."""
    about = as_table(cell["metadata"].get("minigrad"))
    return about.get("outputs", cell.get("outputs", []))


def waits(cell: Cell) -> bool:
    """Tell whether what a cell is to show was put away."""
    return "outputs" in as_table(cell["metadata"].get("minigrad"))
