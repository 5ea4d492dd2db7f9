"""Optimizers; their steps stand beside PyTorch's in tests/reference."""

import copy

import numpy as np
import pytest

import minigrad
from minigrad import optim


def steps(params, optimizer, count):
    """Yield the numbers of all parameters after each step."""
    for _ in range(count):
        optimizer.zero_grad()
        (params[0] * params[1] - 0.1).sin().sum().backward()
        optimizer.step()
        yield [p.tolist() for p in params]


@pytest.mark.parametrize(
    "make",
    [
        lambda params: optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
        lambda params: optim.Adam(params, 0.1, (0.8, 0.9), 1e-6),
        lambda params: optim.AdamW(params),
    ],
)
def test_a_saved_optimizer_goes_on_as_if_never_stopped(make):
    start = [minigrad.arange(3.0) - 1, minigrad.arange(6.0).reshape(2, 3)]
    params, half, rest = ([p.clone().requires_grad_() for p in start] for _ in range(3))
    whole = list(steps(params, make(params), 10))
    first, second = make(half), make(rest)
    for group in second.param_groups:
        group["lr"] = 5.0
    assert list(steps(half, first, 5)) == whole[:5]
    saved = first.state_dict()
    kept = copy.deepcopy(saved)
    for mine, theirs in zip(rest, half):
        mine.detach().copy_(theirs)
    second.load_state_dict(saved)
    assert list(steps(rest, second, 5)) == whole[5:]
    np.testing.assert_equal(saved, kept)
