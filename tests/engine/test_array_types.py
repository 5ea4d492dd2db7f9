"""The rule table works on other arrays than NumPy's, if they speak its protocols."""

import math

import numpy as np
import pytest

import minigrad
from minigrad.static.tracing import trace
from tests.engine.elsewhere import Elsewhere
from tests.engine.reference.compute import cases, evaluated, tensors_of

# Their masks are made by NumPy
NOT_ELSEWHERE = {case for case in cases() if "is_causal=True" in case}


def results_and_gradients(case, tensors, place=lambda array: array):
    """Return what a case computes, and the gradients for weights 1, 2, 3 ..."""
    results = evaluated(case, minigrad, tensors)
    leaves = [x for x in tensors.values() if x.requires_grad]
    flowing = [y for y in results if y.requires_grad]
    weights = [
        minigrad.Tensor(np.ones_like(y.array) * place(ramp(y.shape))) for y in flowing
    ]
    if flowing:
        grads = minigrad.autograd.grad(flowing, leaves, weights, allow_unused=True)
        results += [g for g in grads if g is not None]
    return results


def ramp(shape):
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 4


def numbers(tensor):
    return getattr(tensor.array, "numbers", tensor.array)


@pytest.mark.parametrize("case", [c for c in cases() if c not in NOT_ELSEWHERE])
def test_an_operation_takes_arrays_that_are_elsewhere(case):
    here, there = tensors_of(case, minigrad), tensors_of(case, minigrad)
    for tensor in there.values():
        tensor.array = Elsewhere(tensor.array)
    expected = results_and_gradients(case, here)
    found = results_and_gradients(case, there, Elsewhere)
    for mine, theirs in zip(found, expected, strict=True):
        assert isinstance(mine.array, Elsewhere)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(numbers(mine), numbers(theirs))


@pytest.mark.parametrize("case", cases())
def test_a_trace_of_an_operation_computes_the_same_of_other_numbers(case):
    tensors = tensors_of(case, minigrad)
    leaves = {k: x for k, x in tensors.items() if x.requires_grad}
    others = {k: x for k, x in tensors.items() if not x.requires_grad}

    def run(*values):
        values = [x.detach().requires_grad_() for x in values]
        return results_and_gradients(case, others | dict(zip(leaves, values)))

    traced = trace(run, *leaves.values())
    for factor in (1.0, 0.5):
        values = [(x * factor).detach() for x in leaves.values()]
        for mine, theirs in zip(traced(*values), run(*values), strict=True):
            np.testing.assert_allclose(mine.array, theirs.array, 1e-12)
