"""Each chapter in turn, and a folder in which the commands of a learner can run."""

import pytest

from classroom import ROOT
from tests.course.sources import SLUGS, parsed


@pytest.fixture(params=SLUGS)
def chapter(request):
    """Each chapter in turn."""
    return parsed(request.param)


@pytest.fixture
def course(tmp_path):
    """A course in a folder of its own, with copies of these files; nothing is begun."""
    for name in ("minigrad", "tests", "classroom", "chapters", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "exercises").mkdir()
    return tmp_path
