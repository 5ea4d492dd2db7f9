"""A network of neurons, one number at a time, and its training."""

import random
from collections.abc import Sequence
from itertools import pairwise

from minigrad.scalar.value import Value


class Neuron:
    """A weighted sum of its inputs, plus a bias."""

    def __init__(self, inputs: int, rng: random.Random):
        self.weights = [Value(rng.uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0.0)

    def __call__(self, xs: Sequence) -> Value:
        weighed = [w * x for w, x in zip(self.weights, xs, strict=True)]
        return sum(weighed, self.bias)

    def parameters(self) -> list[Value]:
        return [*self.weights, self.bias]


class Layer:
    """Neurons side by side, each with all the inputs."""

    def __init__(self, inputs: int, outputs: int, rng: random.Random):
        self.neurons = [Neuron(inputs, rng) for _ in range(outputs)]

    def __call__(self, xs: Sequence) -> list[Value]:
        return [neuron(xs) for neuron in self.neurons]

    def parameters(self) -> list[Value]:
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP:
    """A multilayer perceptron whose bend is tanh: MLP([2, 16, 16, 1], rng)."""

    def __init__(self, sizes: Sequence[int], rng: random.Random):
        self.layers = [Layer(m, n, rng) for m, n in pairwise(sizes)]

    def __call__(self, xs: Sequence) -> list[Value]:
        first, *others = self.layers
        ys = first(xs)
        for layer in others:
            ys = layer([y.tanh() for y in ys])
        return ys

    def parameters(self) -> list[Value]:
        return [p for layer in self.layers for p in layer.parameters()]


def hinge_loss(scores: Sequence[Value], signs: Sequence[float]) -> Value:
    """Return the mean of max(0, 1 - sign * score), where each sign is 1 or -1."""
    losses = [(1 - y * s).relu() for s, y in zip(scores, signs, strict=True)]
    return sum(losses) / len(losses)


class SGD:
    """Takes steps against the gradient, with the formulas of torch.optim.SGD."""

    def __init__(self, parameters: Sequence[Value], rate: float, momentum: float = 0.0):
        self.parameters, self.rate, self.momentum = parameters, rate, momentum
        self.velocities = [0.0] * len(parameters)

    def zero_grad(self) -> None:
        """Forget the gradients of the last step, because backward only adds to them."""
        for p in self.parameters:
            p.grad = 0.0

    def step(self) -> None:
        """Move each parameter one step."""
        for i, p in enumerate(self.parameters):
            self.velocities[i] = self.momentum * self.velocities[i] + p.grad
            p.data -= self.rate * self.velocities[i]
