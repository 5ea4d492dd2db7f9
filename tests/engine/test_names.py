"""Every name is where PyTorch has it."""

from operator import attrgetter

import pytest

import minigrad
from tests.engine.reference.compute import HERE

LINES = (HERE / "names.txt").read_text("utf-8").splitlines()[1:]
PLACES = {place: names.split() for place, names in (line.split(": ") for line in LINES)}
OPERATIONS = PLACES.pop("torch")


@pytest.mark.parametrize("library", ["minigrad", "torch"])
def test_both_libraries_have_each_name_in_its_place(library):
    library = pytest.importorskip(library)
    for place, names in PLACES.items():
        module = attrgetter(place)(library)
        assert not [name for name in names if not hasattr(module, name)], place
    for name in OPERATIONS:
        assert hasattr(library, name) or hasattr(library.Tensor, name), name


def test_no_operation_is_where_pytorch_has_none():
    torch = pytest.importorskip("torch")
    for mine, theirs in (minigrad, torch), (minigrad.Tensor, torch.Tensor):
        names = [name for name in OPERATIONS if hasattr(mine, name)]
        assert not [name for name in names if not hasattr(theirs, name)]
