"""Nodes of the graph: one for each recorded operation, and one for each leaf."""

import weakref
from typing import Any

from minigrad import errors
from minigrad.array.dtypes import ARRAYS
from minigrad.graph.saved_values import numbers, written_after

# How names end that get no 0 behind them
AS_IT_IS = ("Backward", "Backward1", "CopySlices")


class Node:
    """One operation that was recorded; `tensor.grad_fn` shows it.

    `targets` are where the shares of a gradient go: for each argument the node that
    made it, or None. `saved` are the values that the formulas of `op` want, by name.
    """

    __slots__ = ["op", "targets", "saved", "shape", "number", "hooks", "__weakref__"]

    def __init__(self, op, targets, saved, shape):
        self.op, self.targets, self.saved, self.shape = op, targets, saved, shape
        self.number = next(numbers)  # whatever uses the result gets a larger one
        self.hooks = ()

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self) -> str:
        """Return the name that PyTorch gives such a node: MulBackward0."""
        name = self.op.name
        return name if name.endswith(AS_IT_IS) else f"{name}Backward0"

    @property
    def next_functions(self) -> tuple:
        """The nodes that the arguments came from, None for constants, each with a 0."""
        return tuple((target, 0) for target in self.targets)

    def shares(self, g: Any, wanted: set | None):
        """Yield each target that is wanted, and its share of the gradient g."""
        self.check()
        yield from self.op.shares(self, g, wanted)

    def check(self) -> None:
        """Raise RuntimeError if what was saved is gone, or was written to since."""
        if self.saved is None:
            raise errors.freed(self.name())
        if written_after(self.number, list(self.saved.values())):
            raise errors.stale(self.name())

    def free(self) -> None:
        """Let go of what was saved, unless it is settings alone, such as an axis."""
        names = self.saved.keys() - self.op.settings
        if names or has_array(list(self.saved.values())):
            self.saved = None


class AccumulateGrad:
    """Where a gradient ends: what arrives here is added to the leaf's `grad`."""

    __slots__ = ["leaf", "shape", "number", "hooks", "__weakref__"]
    targets = next_functions = ()

    def __init__(self, leaf):
        self.leaf, self.shape = weakref.ref(leaf), leaf.array.shape
        self.number, self.hooks = next(numbers), ()

    def __repr__(self):
        return "<AccumulateGrad>"

    def name(self) -> str:
        """Return PyTorch's name for it."""
        return "AccumulateGrad"

    @property
    def variable(self):
        """The leaf; None if nobody holds it any more."""
        return self.leaf()


def has_array(value: Any) -> bool:
    """Return whether a value is an array, or a list or tuple with one in it."""
    if isinstance(value, list | tuple):
        return any(map(has_array, value))
    return isinstance(value, ARRAYS)
