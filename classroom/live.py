"""The name by which a notebook's first cell makes pages of the package live."""

from classroom.cell.pages import is_live, keep, restore  # noqa: F401
