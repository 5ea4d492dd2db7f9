"""An engine trains through its adapters, next to the package: the end of both exams."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np

from classroom.cell.exam.own_engine import allowed
from classroom.cell.exam.rows import Engine, expect_same
from minigrad import tensor
from minigrad.scalar.value import Value

STEPS = 40


def downhill(number: Any, slope: Any, rate: float) -> Any:
    return number - slope * rate


Run = tuple[list[float], float]  # the loss of each step, and how many seconds one took


def train(walk: Callable, start: Sequence, rate: float, step=downhill) -> Run:
    """Take STEPS steps downhill; walk(numbers) returns the loss and its slopes."""
    numbers, losses, begin = list(start), [], perf_counter()
    for _ in range(STEPS):
        loss, slopes = walk(tuple(numbers))
        losses.append(float(loss))
        pairs = zip(numbers, slopes, strict=True)
        numbers = [step(number, slope, rate) for number, slope in pairs]
    return losses, (perf_counter() - begin) / STEPS


def trained(e: Engine, name: str) -> Run:
    """Train with an engine, by its adapters."""
    task, _ = TRAININGS[name]
    program, start, rate = task()

    def walk(numbers: tuple) -> tuple:
        if e.is_function:
            return program(*numbers), e.slopes(program, numbers)
        root, leaves = e.forward(program, numbers)
        e.backward(root)
        return e.read(root), [e.slope(leaf) for leaf in leaves]

    return train(walk, start, rate, e.step)


def package_trained(name: str) -> Run:
    """Train with the package's own engine, each step with fresh leaves."""
    task, make = TRAININGS[name]
    program, start, rate = task()

    def walk(numbers: tuple) -> tuple:
        leaves = [make(number) for number in numbers]
        root = program(*leaves)
        root.backward()
        return root.data, [np.asarray(leaf.grad) for leaf in leaves]

    with allowed():
        return train(walk, start, rate)


def two_moons() -> tuple[Callable, list, float]:
    """Return the loss of a small network on two moons, where to start, and the rate."""
    turns = [k * math.pi / 7 for k in range(8)]
    points = [((math.cos(t), math.sin(t)), -1.0) for t in turns]
    points += [((1 - math.cos(t), 0.5 - math.sin(t)), 1.0) for t in turns]
    rng, width = random.Random(2), 6

    def score(xs: tuple, weights: Sequence) -> Any:
        total = weights[-1]
        for k in range(width):
            w, v, b, out = weights[4 * k : 4 * k + 4]
            total = total + out * np.tanh(w * xs[0] + v * xs[1] + b)
        return total

    def loss(*weights: Any) -> Any:
        errors = 0.0
        for xs, sign in points:
            error = score(xs, weights) + -sign
            errors = error * error + errors
        return errors * (1 / len(points))

    return loss, [rng.uniform(-2, 2) for _ in range(4 * width + 1)], 0.3


def digits() -> tuple[Callable, list, float]:
    """Return the loss of a network on 200 digits, where to start, and the rate."""
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    images, wanted = images[:200] / 16, np.eye(10)[classes[:200]]
    draw = np.random.default_rng(0).normal
    start = [
        draw(0, 1 / 8, (64, 16)),
        np.zeros(16),
        draw(0, 1 / 4, (16, 10)),
        np.zeros(10),
    ]

    def loss(w: Any, b: Any, v: Any, c: Any) -> Any:
        error = np.tanh(images @ w + b) @ v + c + -wanted
        return (error * error).sum() * (1 / len(images))

    return loss, start, 0.1


TRAININGS = {
    "two moons": (two_moons, Value),
    "digits": (digits, partial(tensor, requires_grad=True)),
}


@cache
def package_losses(name: str) -> list[float]:
    """Return the losses of the package's own engine, step by step."""
    return package_trained(name)[0]


def trains_on(name: str) -> Callable[[Engine], None]:
    """Return the test of whether an engine trains as the package does."""

    def trains(e: Engine) -> None:
        expected, (came, _) = package_losses(name), trained(e, name)
        for step in (0, 1, STEPS - 1):
            expect_same(f"the loss at step {step}", came[step], expected[step])

    return trains


def race(name: str, adapters: Mapping[str, Any]) -> None:
    """Plot the losses of an engine and of the package, and the times of their steps."""
    labels = "yours", "the package"
    losses, seconds = zip(trained(Engine(adapters), name), package_trained(name))
    with allowed():
        from minigrad.plot import axes

        _, (left, right) = axes(ncols=2, figsize=(5, 2.5))
    for style, label, each in zip(("-", "--"), labels, losses):
        left.plot(each, style, label=label)
    left.set(xlabel="step", ylabel="loss")
    left.legend(frameon=False)
    right.bar(labels, [1000 * each for each in seconds])
    right.set(ylabel="milliseconds a step")
