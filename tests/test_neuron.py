"""The network of Values: its gradients, its steps, and PyTorch's beside them."""

import math
import random

import pytest

from minigrad.scalar.finite_differences import numerical_gradient
from minigrad.scalar.neuron import MLP, SGD, Layer, Neuron, hinge_loss
from minigrad.scalar.value import Value

POINTS = [[0.5, -1.0], [1.5, 0.25], [-0.75, 0.5]]
SIGNS = [1, -1, 1]


def loss_of(model):
    return hinge_loss([model(point)[0] for point in POINTS], SIGNS)


def test_a_neuron_adds_what_it_weighs():
    neuron = Neuron(2, random.Random(0))
    first, second, bias = neuron.parameters()
    bias.data = 0.5
    assert neuron([2.0, -3.0]).data == first.data * 2 - second.data * 3 + 0.5
    assert all(-1 <= weight.data <= 1 for weight in neuron.weights)


def test_a_neuron_refuses_too_many_inputs():
    with pytest.raises(ValueError, match="zip"):
        Neuron(2, random.Random(0))([1.0, 2.0, 3.0])


def test_a_layer_gives_all_inputs_to_each_neuron():
    layer = Layer(2, 3, random.Random(0))
    outputs = [y.data for y in layer(POINTS[0])]
    assert outputs == [neuron(POINTS[0]).data for neuron in layer.neurons]
    assert len(layer.parameters()) == 3 * (2 + 1)


def test_the_network_of_the_lesson_has_337_parameters():
    parameters = MLP([2, 16, 16, 1], random.Random(0)).parameters()
    assert len(parameters) == len(set(parameters)) == 337


def test_the_same_source_of_chance_makes_the_same_network():
    one, other = (MLP([2, 3, 1], random.Random(5)) for _ in range(2))
    assert one([1.0, 2.0])[0].data == other([1.0, 2.0])[0].data


def test_tanh_stands_between_layers_and_not_at_the_end():
    model = MLP([1, 1, 1], random.Random(0))
    for parameter, number in zip(model.parameters(), [2.0, 0.5, 10.0, -3.0]):
        parameter.data = number
    assert model([0.25])[0].data == 10.0 * math.tanh(1.0) - 3.0


@pytest.mark.parametrize(
    ("scores", "signs", "loss"),
    [([2.0], [1], 0.0), ([2.0], [-1], 3.0), ([0.5, -4.0, 0.0], [1, -1, -1], 0.5)],
)
def test_hinge_loss_is_the_mean_of_what_is_missing(scores, signs, loss):
    assert hinge_loss([Value(score) for score in scores], signs).data == loss


def test_hinge_loss_wants_a_sign_for_each_score():
    with pytest.raises(ValueError, match="zip"):
        hinge_loss([Value(1.0)], [1, -1])


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


def test_zero_grad_clears_what_backward_adds_to():
    model = MLP([2, 3, 1], random.Random(1))
    parameters = model.parameters()
    loss_of(model).backward()
    once = [p.grad for p in parameters]
    loss_of(model).backward()
    assert [p.grad for p in parameters] == pytest.approx([2 * g for g in once])
    SGD(parameters, rate=0.1).zero_grad()
    assert {p.grad for p in parameters} == {0.0}


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
