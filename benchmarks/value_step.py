"""One training step of a 2-16-16-1 MLP, one number at a time: minigrad and others.

Run it from the root of the repository: python benchmarks/value_step.py
"""

import gc
import random
import time
from collections.abc import Callable
from itertools import pairwise

import torch
from micrograd.engine import Value as MicrogradValue
from micrograd.nn import MLP
from sklearn.datasets import make_moons

from minigrad.scalar.value import Value

ROUNDS, STEPS = 6, 4
# What minigrad's step may cost at most, as a part of what theirs costs.
BOUNDS = {"micrograd": 1 / 8, "micrograd, gc off": 0.8, "PyTorch, 0-d tensors": 1 / 4}
POINTS, CLASSES = make_moons(100, noise=0.1, random_state=0)
LABELS = [2.0 * int(c) - 1 for c in CLASSES]


def network(number: Callable) -> list:
    """The same random 2-16-16-1 for all: layers of neurons, each [bias, *weights]."""
    uniform = random.Random(1337).uniform
    return [
        [[number(0.0), *(number(uniform(-1, 1)) for _ in range(m))] for _ in range(n)]
        for m, n in [(2, 16), (16, 16), (16, 1)]
    ]


def weighted_sum(neuron: list, inputs: list):
    """The neuron's answer before ReLU."""
    bias, *weights = neuron
    return sum((w * x for w, x in zip(weights, inputs, strict=True)), bias)


def plain_model(layers: list) -> Callable:
    """The network for minigrad and PyTorch, written as micrograd writes its own."""

    def model(inputs):
        for layer in layers[:-1]:
            inputs = [weighted_sum(neuron, inputs).relu() for neuron in layer]
        return weighted_sum(layers[-1][0], inputs)

    return model


def micrograd_model(layers: list) -> Callable:
    """micrograd's own nn.MLP, with the given parameters."""
    model = MLP(2, [16, 16, 1])
    for own_layer, layer in zip(model.layers, layers, strict=True):
        for own_neuron, (bias, *weights) in zip(own_layer.neurons, layer, strict=True):
            own_neuron.b, own_neuron.w = bias, weights
    return model


class Contender:
    """An engine with its own copy of the network and the points."""

    def __init__(self, parameter, constant, make_model=plain_model, collect=True):
        layers = network(parameter)
        self.model = make_model(layers)
        self.parameters = [p for layer in layers for neuron in layer for p in neuron]
        self.points = [[constant(float(x)) for x in point] for point in POINTS]
        self.collect = collect

    def loss(self):
        """The hinge loss over all points, plus L2."""
        scores = [self.model(point) for point in self.points]
        hinge = [(1 - y * s).relu() for y, s in zip(LABELS, scores, strict=True)]
        return sum(hinge) * (1 / len(hinge)) + 1e-4 * sum(
            p * p for p in self.parameters
        )

    def step(self):
        """Forward, backward, SGD; return the loss."""
        loss = self.loss()
        for p in self.parameters:
            p.grad = None if isinstance(p, torch.Tensor) else 0.0
        loss.backward()
        for p in self.parameters:
            p.data -= 0.01 * p.grad
        return loss

    def turn(self) -> list[float]:
        """The CPU seconds of a few steps in a row: later ones meet earlier garbage."""
        gc.collect()
        if not self.collect:
            gc.disable()
        ticks = [time.process_time()]
        for _ in range(STEPS):
            loss = self.step()  # noqa: F841  (a loop's loss lives until the next one)
            ticks.append(time.process_time())
        gc.enable()
        return [after - before for before, after in pairwise(ticks)]


def torch_number(requires_grad: bool) -> Callable:
    """Make zero-dimensional float64 tensors."""
    return lambda x: torch.tensor(x, dtype=torch.float64, requires_grad=requires_grad)


def assert_same(contenders: dict[str, Contender]) -> None:
    """After a first step, all losses and all gradients agree."""
    results = [
        [float(c.step().data), *(float(p.grad) for p in c.parameters)]
        for c in contenders.values()
    ]
    for result in results[1:]:
        torch.testing.assert_close(torch.tensor(result), torch.tensor(results[0]))


def main() -> None:
    """Let the contenders take turns, then print how they compare."""
    torch.set_num_threads(1)
    contenders = {
        "minigrad": Contender(Value, Value),
        "micrograd": Contender(MicrogradValue, MicrogradValue, micrograd_model),
        "micrograd, gc off": Contender(
            MicrogradValue, MicrogradValue, micrograd_model, collect=False
        ),
        "PyTorch, 0-d tensors": Contender(torch_number(True), torch_number(False)),
    }
    assert_same(contenders)
    gc.collect()
    gc.freeze()  # PyTorch's 200,000 objects are nobody's garbage: do not search them
    turns = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            turns[name].append(contender.turn())
    report({name: fastest(steps) for name, steps in turns.items()})


def fastest(turns: list[list[float]]) -> float:
    """The mean over a turn's steps, each as fast as it was in any round."""
    return sum(map(min, zip(*turns, strict=True))) / STEPS


def report(seconds: dict[str, float]) -> None:
    """Print each time, minigrad's part of it, and the part that is allowed."""
    ours = seconds["minigrad"]
    print(f"{'':22}{'ms a step':>10}{'minigrad is':>13}{'bound':>8}")
    print(f"{'minigrad':22}{ours * 1e3:10.0f}")
    for name, bound in BOUNDS.items():
        ratio = ours / seconds[name]
        verdict = "" if ratio <= bound else "  MISSED"
        print(f"{name:22}{seconds[name] * 1e3:10.0f}{ratio:13.3f}{bound:8.3f}{verdict}")


if __name__ == "__main__":
    main()
