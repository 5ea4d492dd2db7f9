"""The rule table works on symbols, which hold no numbers, and its traces are right."""

import numpy as np
import pytest

import minigrad
from minigrad.static.tracing import trace
from tests.engine.reference.compute import cases, evaluated, tensors_of


def results_and_gradients(case, tensors):
    """Return what a case computes, and the gradients for weights 1, 2, 3 ..."""
    results = evaluated(case, minigrad, tensors)
    leaves = [x for x in tensors.values() if x.requires_grad]
    flowing = [y for y in results if y.requires_grad]
    if flowing:
        ramps = [np.arange(1.0, y.numel() + 1).reshape(y.shape) / 4 for y in flowing]
        weights = [
            minigrad.Tensor(np.ones_like(y.array) * r) for y, r in zip(flowing, ramps)
        ]
        grads = minigrad.autograd.grad(flowing, leaves, weights, allow_unused=True)
        results += [g for g in grads if g is not None]
    return results


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
