"""Programs that give the same results in minigrad as in PyTorch."""

import functools
import json

import numpy as np
import pytest

import minigrad
from tests.engine.reference.compute import HERE, programs, ran

STORED = json.loads((HERE / "programs.json").read_text(encoding="utf-8"))


def assert_equal(mine, theirs):
    if isinstance(theirs, list):
        for pair in zip(mine, theirs, strict=True):
            assert_equal(*pair)
    elif isinstance(theirs, dict):
        assert mine["shape"] == theirs["shape"]
        assert mine.get("dtype") == theirs.get("dtype")
        numbers = (np.array(x["numbers"], float) for x in (mine, theirs))
        tolerance = 1e-9 if mine.get("dtype") == "float64" else 1e-5
        np.testing.assert_allclose(*numbers, tolerance, tolerance / 10)
    else:
        assert mine == theirs


@pytest.mark.parametrize("heading", programs())
def test_a_program_gives_what_it_gives_in_pytorch(heading):
    found = ran(programs()[heading], minigrad, minigrad.autograd.checkpoint)
    assert_equal(found, STORED[heading])


@pytest.mark.filterwarnings("ignore")
def test_what_is_stored_of_programs_is_what_pytorch_finds():
    torch = pytest.importorskip("torch")
    from torch.utils.checkpoint import checkpoint

    checkpoint, differ = functools.partial(checkpoint, use_reentrant=True), []
    assert list(STORED) == list(programs()), "run python tests/engine/reference/make.py"
    for heading, program in programs().items():
        try:
            assert_equal(ran(program, torch, checkpoint), STORED[heading])
        except AssertionError as error:
            differ.append(f"{heading}: {error}")
    assert not differ, "\n".join(differ)
