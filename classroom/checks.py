"""The module from which cells import checks, and answers to guesses."""

from importlib import import_module
from typing import Any

from classroom.cell.equality import compare  # noqa: F401
from classroom.cell.expect import (  # noqa: F401
    check,
    expect,
    how_many,
    unchanged,
    worked_out,
)

# What few chapters need is loaded only there
SELDOM = {"examine": "exam.examine", "race": "exam.training"}
SELDOM |= {"read_digits": "exam.training", "expect_recorded": "recordable"}


def __getattr__(name: str) -> Any:
    """Return a check that few chapters import."""
    if name not in SELDOM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"classroom.cell.{SELDOM[name]}"), name)
