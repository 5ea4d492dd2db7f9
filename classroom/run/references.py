"""A plugin with which nbval compares waiting cells, and shows what a check says.

pyproject.toml loads it, so that `pytest --nbval notebooks` needs no further word.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from classroom.notebook.files import reference, waits

SANITIZER = Path(__file__).with_name("nbval_sanitize.cfg")


def pytest_configure(config: pytest.Config) -> None:
    """Let pictures be compared by their texts, unless the user asks otherwise."""
    if getattr(config.option, "nbval_sanitize_with", "no nbval") is None:
        config.option.nbval_sanitize_with = str(SANITIZER)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> None:
    """Begin the report on a check with its message, and leave out its source."""
    error = hasattr(item, "cell") and call.excinfo and call.excinfo.value
    if not (error and "check" in item.cell.metadata.get("tags", [])):
        return
    raised = [o for o in item.test_outputs or () if o.output_type == "error"]
    if raised and getattr(error, "inner_traceback", None):
        error.args = (raised[0].evalue,)
        error.source, error.inner_traceback = error.source.splitlines()[0], None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the stored outputs back into waiting cells, so that nbval compares them."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and waits(cell):
            cell.outputs, cell.execution_count = reference(cell), 1


def compared(outputs: list[dict[str, Any]]) -> str:
    """Return what nbval compares of a cell's outputs, all in one text."""
    told = SANITIZER.read_text(encoding="utf-8")
    text = "".join("".join(part) for output in outputs for part in _texts(output))
    for pattern, instead in re.findall(r"^regex: (.*)\nreplace: (.*)$", told, re.M):
        text = re.sub(pattern, instead, text)
    return text


def _texts(output: dict[str, Any]) -> list[str | list[str]]:
    shown = [d for kind, d in output.get("data", {}).items() if kind[:5] != "image"]
    words = (output.get(key, "") for key in ("name", "text", "evalue"))
    return [*words, *shown]
