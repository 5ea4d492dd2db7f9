"""minigrad refuses what PyTorch refuses, and says what came and what to do."""

import contextlib

import numpy as np
import pytest

import minigrad
from tests.engine.reference.compute import HERE

LINES = (HERE / "refused.txt").read_text(encoding="utf-8").splitlines()[1:]
REFUSED = [[part.strip() for part in line.rsplit("|", 1)] for line in LINES]
KINDS = (RuntimeError, TypeError, ValueError, LookupError, NotImplementedError)


def value_of(expression, library):
    return eval(expression, {"torch": library, "F": library.nn.functional, "np": np})


@pytest.mark.parametrize(("expression", "word"), REFUSED)
def test_refused_with_a_message_that_helps(expression, word):
    with pytest.raises(KINDS) as caught:
        value_of(expression, minigrad)
    assert word in str(caught.value) and str(caught.value)


def test_pytorch_refuses_it_too():
    torch, accepted = pytest.importorskip("torch"), []
    for expression, _ in REFUSED:
        with contextlib.suppress(*KINDS, AttributeError, AssertionError):
            accepted.append((expression, value_of(expression, torch)))
    assert not accepted


@pytest.mark.parametrize("dtype", ["float16", "int32", "uint8", "complex64", "object"])
def test_other_dtypes_are_refused_at_every_door(dtype):
    array = np.ones(2, dtype)
    doors = [
        minigrad.tensor,
        minigrad.from_numpy,
        minigrad.Tensor,
        lambda a: minigrad.zeros(2, dtype=a.dtype),
        lambda a: minigrad.ones_like(minigrad.ones(2), dtype=a.dtype),
        lambda a: minigrad.ones(2).to(a.dtype),
        lambda a: minigrad.Tensor.exp(minigrad.ones(2) > 0),  # half precision in NumPy
    ]
    for door in doors:
        with pytest.raises(TypeError, match="not .*: convert it with astype"):
            door(array)
