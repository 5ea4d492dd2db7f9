"""The network of Values: its gradients and steps, compared with PyTorch's."""

import random

import pytest

from minigrad.scalar.finite_differences import numerical_gradient
from minigrad.scalar.neuron import MLP, SGD, hinge_loss
from minigrad.scalar.value import Value

POINTS = [[0.5, -1.0], [1.5, 0.25], [-0.75, 0.5]]
SIGNS = [1, -1, 1]


def loss_of(model):
    return hinge_loss([model(point)[0] for point in POINTS], SIGNS)


def test_gradients_are_what_finite_differences_give():
    model = MLP([2, 4, 3, 1], random.Random(1))
    parameters = model.parameters()
    start = [p.data for p in parameters]
    loss_of(model).backward()
    slopes = [p.grad for p in parameters]

    def loss_at(*numbers):
        for p, number in zip(parameters, numbers, strict=True):
            p.data = number
        return loss_of(model).data

    assert any(slopes)
    assert slopes == pytest.approx(numerical_gradient(loss_at, start), abs=1e-7)


def test_leaving_out_zero_grad_is_momentum_1():
    def places(momentum, clear):
        w = Value(1.0)
        sgd = SGD([w], rate=0.005, momentum=momentum)
        for _ in range(100):
            if clear:
                sgd.zero_grad()
            (w**2).backward()
            sgd.step()
            yield w.data

    assert list(places(0.0, clear=False)) == pytest.approx(list(places(1.0, True)))
