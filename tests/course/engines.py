"""Engines of many shapes, each behind the adapters of chapters 6, 10 and 15."""

import math

import numpy as np
import pytest

OPERATORS = {"add": lambda x, y: x + y, "multiply": lambda x, y: x * y}
OPERATORS["step"] = lambda number, slope, rate: number - rate * slope


def objects(make):
    """Adapters of numbers with `data`, `grad` and `backward`."""

    def change(leaf, number):
        leaf.data = number

    def clear(leaf):
        leaf.grad = 0.0

    adapters = {"make": make, "read": lambda x: x.data, "gradient": lambda x: x.grad}
    adapters |= {"backward": lambda root: root.backward(), "tanh": lambda x: x.tanh()}
    return OPERATORS | adapters | {"clear": clear, "change": change}


class Noted:
    """A number of a function that is run: its place in the notes of this run."""

    def __init__(self, data, notes, edges=()):
        self.data, self.notes, self.place = data, notes, len(notes)
        notes.append(edges)

    def combine(self, other, data, slopes):
        places = self.place, getattr(other, "place", None)
        return Noted(data, self.notes, [*zip(places, slopes)])

    def __add__(self, other):
        data = self.data + getattr(other, "data", other)
        return self.combine(other, data, (1.0, 1.0))

    def __mul__(self, other):
        number = getattr(other, "data", other)
        return self.combine(other, self.data * number, (number, self.data))

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        y = math.tanh(self.data)
        return self.combine(None, y, (1 - y * y,))


def slopes_of(f, *numbers):
    """The function that takes a function: all slopes of f at these numbers."""
    notes = []
    leaves = [Noted(number, notes) for number in numbers]
    blame = {f(*leaves).place: 1.0}
    for place in reversed(range(len(notes))):
        for parent, slope in notes[place]:
            blame[parent] = blame.get(parent, 0.0) + slope * blame.get(place, 0.0)
    return [blame.get(leaf.place, 0.0) for leaf in leaves]


def function():
    tanh = {"tanh": lambda x: x.tanh() if isinstance(x, Noted) else math.tanh(x)}
    return OPERATORS | tanh | {"grad_of": slopes_of}


def micrograd():
    Value = pytest.importorskip("micrograd.engine").Value

    def tanh(x):
        def share():
            x.grad += (1 - y.data**2) * y.grad

        y = Value(math.tanh(x.data), (x,), "tanh")
        y._backward = share
        return y

    return objects(Value) | {"tanh": tanh}


def pytorch():
    return tensors(pytest.importorskip("torch"))


def tensors(torch):
    """Adapters of PyTorch's tensors, or of the package's, which have the same names."""

    def known(x):
        return torch.from_numpy(x) if isinstance(x, np.ndarray) else x

    def change(leaf, numbers):
        with torch.no_grad():
            leaf.copy_(torch.tensor(numbers))

    def quietly(work):
        with torch.no_grad():
            return work()

    def second(f, numbers):
        x = torch.tensor(numbers, requires_grad=True)
        (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)[0].numpy()

    def train(loss, numbers, rate, steps):
        leaves = [make(x) for x in numbers]
        for _ in range(steps):
            loss(*leaves).backward()
            with torch.no_grad():
                for leaf in leaves:
                    leaf -= rate * leaf.grad
                    leaf.grad = None
        return [leaf.detach().numpy() for leaf in leaves]

    def make(x):
        kind = None if isinstance(x, np.ndarray) else torch.float64
        return torch.tensor(x, dtype=kind, requires_grad=True)

    return OPERATORS | {
        "make": make,
        "read": lambda x: x.detach().numpy(),
        "gradient": lambda x: None if x.grad is None else x.grad.numpy(),
        "backward": lambda root, v=None: root.backward(known(v)),
        "add": lambda x, y: known(x) + known(y),
        "multiply": lambda x, y: known(x) * known(y),
        "matmul": lambda x, y: known(x) @ known(y),
        "add_up": lambda x, axis=None: x.sum() if axis is None else x.sum(axis),
        "tanh": lambda x: x.tanh(),
        "clear": lambda leaf: setattr(leaf, "grad", None),
        "change": change,
        "quietly": quietly,
        "second": second,
        "train": train,
    }
