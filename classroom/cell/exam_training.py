"""An engine trains, through its adapters, beside the package: the end of both exams."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from classroom.cell.exam import Engine, expect_same
from minigrad import no_grad, tensor
from minigrad.scalar.value import Value

STEPS = 40


def downhill(number: Any, slope: Any, rate: float) -> Any:
    return number - slope * rate


@dataclass(frozen=True)
class Training:
    """The loss of each step, and how many seconds a step took."""

    losses: list[float]
    seconds: float


def train(e: Engine, loss: Callable, start: Sequence, rate: float) -> Training:
    """Take STEPS steps downhill from `start`, each with fresh leaves."""
    numbers, losses, begin = list(start), [], perf_counter()
    for _ in range(STEPS):
        if e.is_function:
            losses.append(float(loss(*numbers)))
            found = e.slopes(loss, tuple(numbers))
        else:
            root, leaves = e.forward(loss, tuple(numbers))
            e.backward(root)
            losses.append(float(e.read(root)))
            found = [e.slope(leaf) for leaf in leaves]
        pairs = zip(numbers, found, strict=True)
        numbers = [e.step(number, slope, rate) for number, slope in pairs]
    return Training(losses, (perf_counter() - begin) / STEPS)


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


def _clear(leaf: Any) -> None:
    leaf.grad = 0.0 if isinstance(leaf, Value) else None


OF_VALUES = Engine(
    {
        "make": Value,
        "read": lambda x: x.data,
        "gradient": lambda x: x.grad,
        "backward": lambda root: root.backward(),
        "add": lambda x, y: x + y,
        "multiply": lambda x, y: x * y,
        "tanh": lambda x: x.tanh(),
        "clear": _clear,
        "change": lambda leaf, number: setattr(leaf, "data", number),
        "step": downhill,
    }
)


def _no_grad(work: Callable) -> Any:
    with no_grad():
        return work()


def _second(f: Callable, numbers: np.ndarray) -> np.ndarray:
    x = tensor(numbers, requires_grad=True)
    f(x).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    first.sum().backward()
    return x.grad.numpy()


def _operand(x: Any) -> Any:
    return tensor(x) if isinstance(x, np.ndarray) else x


OF_TENSORS = Engine(
    {
        "make": lambda numbers: tensor(numbers, requires_grad=True),
        "read": lambda x: x.detach().numpy(),
        "gradient": lambda x: None if x.grad is None else x.grad.numpy(),
        "backward": lambda root, v=None: root.backward(_operand(v)),
        "add": lambda x, y: _operand(x) + _operand(y),
        "multiply": lambda x, y: _operand(x) * _operand(y),
        "matmul": lambda x, y: _operand(x) @ _operand(y),
        "tanh": lambda x: x.tanh(),
        "add_up": lambda x, axis=None: x.sum() if axis is None else x.sum(axis),
        "clear": _clear,
        "change": lambda x, numbers: _no_grad(lambda: x.copy_(tensor(numbers))),
        "quietly": _no_grad,
        "step": downhill,
        "second": _second,
    }
)
TRAININGS = {"two moons": (two_moons, OF_VALUES), "digits": (digits, OF_TENSORS)}


@cache
def package_losses(name: str) -> list[float]:
    """Return the losses of the package's own engine, step by step."""
    task, package = TRAININGS[name]
    return train(package, *task()).losses


def trains_on(name: str) -> Callable[[Engine], None]:
    """Make the question whether an engine trains as the package does."""

    def trains(e: Engine) -> None:
        task, _ = TRAININGS[name]
        expected = package_losses(name)
        came = train(e, *task()).losses
        for step in (0, 1, STEPS - 1):
            expect_same(f"the loss at step {step}", came[step], expected[step])

    return trains


def race(name: str, adapters: Mapping[str, Any]) -> None:
    """Plot the losses of an engine and of the package, and what a step takes them."""
    from minigrad.plot import axes

    task, package = TRAININGS[name]
    runs = {
        "yours": train(Engine(adapters), *task()),
        "the package": train(package, *task()),
    }
    _, (left, right) = axes(ncols=2, figsize=(5, 2.5))
    for style, (label, run) in zip(("-", "--"), runs.items()):
        left.plot(run.losses, style, label=label)
    left.set(xlabel="step", ylabel="loss")
    left.legend(frameon=False)
    right.bar(list(runs), [1000 * run.seconds for run in runs.values()])
    right.set(ylabel="milliseconds a step")
