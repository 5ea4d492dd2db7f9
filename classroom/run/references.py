"""Lets nbval compare what a waiting cell shows, too: a plugin of pytest.

pyproject.toml loads it, so that `pytest --nbval notebooks` needs no further word.
"""

from pathlib import Path

import pytest

from classroom.notebook.waiting import reference, waits

SANITIZER = Path(__file__).with_name("nbval_sanitize.cfg")


def pytest_configure(config: pytest.Config) -> None:
    """Let pictures be compared by their texts, unless something else is asked for."""
    if getattr(config.option, "nbval_sanitize_with", "no nbval") is None:
        config.option.nbval_sanitize_with = str(SANITIZER)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the stored outputs back into waiting cells, so that nbval compares them."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and waits(cell):
            cell.outputs, cell.execution_count = reference(cell), 1
