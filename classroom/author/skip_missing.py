"""A pytest plugin for nbval: skips notebooks that need a missing package."""

import pytest

from classroom import ROOT
from classroom.author.chapters import Chapter


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each cell of a chapter that requires something which is missing."""
    for item in items:
        folder = ROOT / "chapters" / item.path.stem
        if folder.is_dir() and (missing := Chapter(folder).missing):
            reason = f"{item.path.stem} needs {missing}, which is not installed"
            item.add_marker(pytest.mark.skip(reason=reason))
