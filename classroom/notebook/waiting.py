"""Cells that wait for their run: their expected outputs are hidden until then.

The outputs are in the cell's metadata, where no program shows them.
"""

from typing import Any

from classroom.notebook.files import Cell, as_table


def put_away(cell: Cell) -> None:
    """Hide the outputs of a code cell, so that it looks as if it had not run."""
    cell["metadata"]["minigrad"] = {"outputs": cell["outputs"]}
    cell["outputs"], cell["execution_count"] = [], None


def reference(cell: Cell) -> list[dict[str, Any]]:
    """Return the expected outputs of a code cell, hidden or not."""
    about = as_table(cell["metadata"].get("minigrad"))
    return about.get("outputs", cell.get("outputs", []))


def waits(cell: Cell) -> bool:
    """Tell whether the outputs of a cell are hidden."""
    return "outputs" in as_table(cell["metadata"].get("minigrad"))
