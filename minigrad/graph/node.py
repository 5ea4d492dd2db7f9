"""The nodes of the graph, one for each recorded operation and one for each leaf."""

import weakref

from minigrad import errors
from minigrad.array.dtypes import ARRAYS
from minigrad.graph.saved_values import numbers, written_after

# Names with one of these endings get no "Backward0" at the end
AS_IT_IS = ("Backward", "Backward1", "CopySlices")


class Node:
    """A recorded operation, which `tensor.grad_fn` shows.

    `parents` has for each argument the node that its share of the gradient goes to,
    or None. `saved` maps names to the values that the formulas of `op` need.
    """

    __slots__ = ["op", "parents", "saved", "shape", "number", "hooks", "__weakref__"]

    def __init__(self, op, parents, saved, shape):
        self.op, self.parents, self.saved, self.shape = op, parents, saved, shape
        self.number = next(numbers)  # nodes that use the result get larger ones
        self.hooks = ()

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self) -> str:
        """Return the name that PyTorch gives such a node, such as MulBackward0."""
        name = self.op.name
        return name if name.endswith(AS_IT_IS) else f"{name}Backward0"

    @property
    def next_functions(self) -> tuple:
        """A pair (parent, 0) for each argument, where a constant's parent is None."""
        return tuple((parent, 0) for parent in self.parents)

    def input_gradients(self, g, wanted: set | None):
        """Yield each parent in `wanted` (all if None) with its share of g."""
        self.check()
        yield from self.op.input_gradients(self, g, wanted)

    def check(self) -> None:
        """Raise RuntimeError if a saved value was freed, or written to after saving."""
        if self.saved is None:
            raise errors.freed(self.name())
        if written_after(self.number, list(self.saved.values())):
            raise errors.stale(self.name())

    def free(self) -> None:
        """Let go of what was saved, unless it is options alone, such as an axis."""
        names = self.saved.keys() - self.op.options
        if names or has_array(list(self.saved.values())):
            self.saved = None


class AccumulateGrad:
    """Where a gradient ends: what arrives here is added to the leaf's `grad`."""

    __slots__ = ["leaf", "shape", "number", "hooks", "__weakref__"]
    parents = next_functions = ()

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


def has_array(value) -> bool:
    """Return whether a value is an array, or a list or tuple with one in it."""
    if isinstance(value, list | tuple):
        return any(map(has_array, value))
    return isinstance(value, ARRAYS)
