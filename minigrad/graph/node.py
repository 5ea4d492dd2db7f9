"""Nodes of the graph: one for each recorded operation, and one for each leaf."""

import weakref
from collections.abc import Callable

from minigrad.graph import anomaly
from minigrad.graph.saved_values import numbers, written_after

# How names end that get no 0 behind them
AS_IT_IS = ("Backward", "Backward1", "Backward2", "Backward4", "CopySlices")


class Node:
    """One operation that was recorded; `tensor.grad_fn` shows it."""

    __slots__ = ["op", "formulas", "targets", "saved", "shape", "frees"]
    __slots__ += ["number", "hooks", "__weakref__"]

    def __init__(self, op, formulas, targets, saved, shape):
        self.op, self.formulas, self.targets = op, formulas, targets
        self.saved, self.shape, self.frees = saved, shape, op.frees
        self.number = next(numbers)  # whatever uses the result gets a larger one
        self.hooks = None
        if anomaly.on:
            anomaly.remember(self)

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

    def check(self, lift: Callable | None = None) -> None:
        """Raise RuntimeError if what was saved is gone, or was written to since."""
        if self.saved is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time: the first time "
                f"freed what {self.name()} had saved. Call the first backward with "
                "retain_graph=True, or compute the result anew."
            )
        wanted = self.saved if lift else self.saved[: len(self.targets)]
        if written_after(self.number, wanted):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been "
                f"modified by an inplace operation: {self.name()} had saved it. Write "
                "to a clone(), or after backward."
            )


class AccumulateGrad:
    """Where a gradient ends: what arrives here is added to the leaf's `grad`."""

    __slots__ = ["leaf", "shape", "number", "hooks", "__weakref__"]
    targets = formulas = saved = next_functions = ()

    def __init__(self, leaf):
        self.leaf, self.shape = weakref.ref(leaf), leaf.array.shape
        self.number, self.hooks = next(numbers), None

    def __repr__(self):
        return "<AccumulateGrad>"

    def name(self) -> str:
        """Return PyTorch's name for it."""
        return "AccumulateGrad"

    @property
    def variable(self):
        """The leaf; None if nobody holds it any more."""
        return self.leaf()
