"""One training step of a 2-16-16-1 MLP, number by number: minigrad and others.

    python benchmarks/value_step.py

Every contender takes the same step: 100 points of two moons, ReLU, hinge loss, L2,
SGD. All start from the same weights and must reach the same loss and gradients before
anything is timed. The rounds are interleaved and each contender keeps its fastest, so
that whatever else the machine does meets all of them alike.
"""

import gc
import random
import time
from collections.abc import Callable

import torch
from micrograd import nn
from micrograd.engine import Value as MicrogradValue
from sklearn.datasets import make_moons

from minigrad.value import Value

ROUNDS = 15
# minigrad's step may cost at most this part of each contender's step.
BOUNDS = {"micrograd": 1 / 8, "micrograd, gc off": 0.8, "PyTorch, 0-d": 1 / 4}


def mlp(number: Callable) -> list:
    """Random weights for 2-16-16-1, as layers of neurons, each [bias, *weights]."""
    draw = random.Random(1337).uniform
    return [
        [[number(0.0), *(number(draw(-1, 1)) for _ in range(n_in))] for _ in range(n_out)]
        for n_in, n_out in [(2, 16), (16, 16), (16, 1)]
    ]


def neuron(weights: list, inputs: list):
    """The weighted sum of the inputs; the first weight is the bias."""
    return sum((w * x for w, x in zip(weights[1:], inputs, strict=True)), weights[0])


def score(layers: list, inputs: list):
    """The network's output for one point: ReLU after every layer but the last."""
    for layer in layers[:-1]:
        inputs = [neuron(weights, inputs).relu() for weights in layer]
    return neuron(layers[-1][0], inputs)


def micrograd_score(layers: list) -> Callable:
    """The same network as micrograd's own nn.MLP."""
    model = nn.MLP(2, [16, 16, 1])
    for layer, rows in zip(model.layers, layers, strict=True):
        for unit, (bias, *weights) in zip(layer.neurons, rows, strict=True):
            unit.b, unit.w = bias, weights
    return model


class Contender:
    """An engine with its own copy of the points and the network."""

    def __init__(self, number: Callable, constant: Callable, own_model: bool = False):
        points, labels = make_moons(100, noise=0.1, random_state=0)
        self.points = [[constant(float(x)) for x in point] for point in points]
        self.labels = [2.0 * int(label) - 1 for label in labels]
        layers = mlp(number)
        self.weights = [w for layer in layers for row in layer for w in row]
        own = micrograd_score(layers) if own_model else None
        self.score = own or (lambda point: score(layers, point))

    def loss(self):
        """Hinge loss plus L2, over all points."""
        scores = map(self.score, self.points)
        hinge = [(1 - y * s).relu() for y, s in zip(self.labels, scores, strict=True)]
        return sum(hinge) * (1 / len(hinge)) + 1e-4 * sum(w * w for w in self.weights)

    def step(self) -> float:
        raise NotImplementedError


if __name__ == "__main__":
    pass
