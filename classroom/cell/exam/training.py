"""An engine trains through its adapters, next to the package: the end of both exams."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np

from classroom.cell.exam.own_engine import allowed
from classroom.cell.exam.rows import Engine, Wrong, expect_same
from minigrad import tensor
from minigrad.scalar.value import Value

STEPS = 40
SEEN = 500  # digits to learn from
Numbers = list[Any]  # single numbers, or arrays


def step_by_step(e: Engine, program: Callable, numbers: Numbers, rate, steps: int):
    """Take steps downhill with an engine, each by its adapter `step`."""
    for _ in range(steps):
        pairs = zip(numbers, e.slopes(program, tuple(numbers)), strict=True)
        numbers = [e.step(number, slope, rate) for number, slope in pairs]
    return numbers


def by_its_own_loop(e: Engine, program: Callable, numbers: Numbers, rate, steps: int):
    """Take steps downhill with an engine, all by its adapter `train`."""
    came = e.train(e.of_its_own(program), deepcopy(numbers), rate, steps)
    fits = isinstance(came, list | tuple)
    found, wanted = [*map(np.shape, came if fits else [])], [*map(np.shape, numbers)]
    if found != wanted:
        shapes = f"a list with arrays of the shapes {wanted}"
        raise Wrong("what `train` returns", str(found) if fits else came, shapes)
    return [*came]


def package_step(make: Callable, program: Callable, numbers: Numbers, rate) -> Numbers:
    """Take a step downhill with the package's own engine, with fresh leaves."""
    leaves = [make(number) for number in numbers]
    program(*leaves).backward()
    return [x - rate * np.asarray(leaf.grad) for x, leaf in zip(numbers, leaves)]


def losses_of(program: Callable, numbers: Numbers, go: Callable) -> tuple[list, float]:
    """Return the loss before each of STEPS steps, and how many seconds one takes.

    `go(numbers)` returns the numbers after a step.
    """
    losses, seconds = [], 0.0
    for _ in range(STEPS):
        losses.append(float(program(*numbers)))
        begin = perf_counter()
        numbers = go(numbers)
        seconds += perf_counter() - begin
    return losses, seconds / STEPS


def package_run(name: str) -> tuple[list, float]:
    task, make, _ = TRAININGS[name]
    program, start, rate = task()
    with allowed():
        return losses_of(program, start, lambda x: package_step(make, program, x, rate))


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

    return loss, [rng.uniform(-2, 2) for _ in range(4 * width + 1)], 0.15


def scores(images: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
    """Return a small network's ten scores for each image."""
    return np.tanh(images @ w + b) @ v + c


@cache
def all_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return images as rows of 64 numbers from 0 to 1, and which digits they are."""
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    return images / 16, classes


def digits() -> tuple[Callable, list, float]:
    """Return the loss of a network on SEEN digits, where to start, and the rate."""
    images, classes = (each[:SEEN] for each in all_digits())
    wanted, draw = np.eye(10)[classes], np.random.default_rng(0).normal
    start = [
        draw(0, 1 / 8, (64, 16)),
        np.zeros(16),
        draw(0, 1 / 16, (16, 10)),
        np.zeros(10),
    ]

    def loss(*weights: Any) -> Any:
        error = scores(images, *weights) + -wanted
        return (error * error).sum() * (1 / SEEN)

    return loss, start, 0.15


def read_digits(adapters: Mapping[str, Any]) -> None:
    """Print how many digits that it has not seen an engine reads after 200 steps."""
    numbers = by_its_own_loop(Engine(adapters), *digits(), steps=200)
    images, classes = (each[SEEN:] for each in all_digits())
    share = (scores(images, *numbers).argmax(1) == classes).mean()
    new = f"{len(classes):,} digits that it has not seen"
    print(f"After 200 steps, your engine reads {share:.0%} of {new}.")


TRAININGS = {
    "two moons": (two_moons, Value, step_by_step),
    "digits": (digits, partial(tensor, requires_grad=True), by_its_own_loop),
}


@cache
def package_losses(name: str) -> list[float]:
    """Return the losses of the package's own engine, step by step."""
    return package_run(name)[0]


def trains_on(name: str) -> Callable[[Engine], None]:
    """Return the test of whether an engine trains as the package does."""

    def trains(e: Engine) -> None:
        task, _, train = TRAININGS[name]
        program, start, rate = task()
        for steps in (1, 2, 30):
            came = float(program(*train(e, program, start, rate, steps)))
            expected = package_losses(name)[steps]
            expect_same(f"the loss after step {steps}", came, expected)

    return trains


def race(name: str, adapters: Mapping[str, Any]) -> None:
    """Plot the losses of an engine and of the package, and the times of their steps."""
    task, _, train = TRAININGS[name]
    (program, start, rate), engine = task(), Engine(adapters)
    own = losses_of(program, start, lambda x: train(engine, program, x, rate, 1))
    labels = "yours", "the package"
    losses, seconds = zip(own, package_run(name))
    with allowed():
        from minigrad.plot import axes

        _, (left, right) = axes(ncols=2, figsize=(5, 2.5))
    for style, label, each in zip(("-", "--"), labels, losses):
        left.plot(each, style, label=label)
    left.set(xlabel="step", ylabel="loss")
    left.legend(frameon=False)
    right.bar(labels, [1000 * each for each in seconds])
    right.set(ylabel="milliseconds a step")
