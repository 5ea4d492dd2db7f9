"""Tensor: an array that knows what made it, under the names that PyTorch uses."""

import warnings
import weakref
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.array.dtypes import RANK, ones
from minigrad.array.protocols import ArrayLike, held
from minigrad.graph import saved_values
from minigrad.graph.node import AccumulateGrad, Node
from minigrad.graph.recording import set_grad_enabled
from minigrad.graph.walk import walk


class Tensor(ArrayLike):
    """An array, and where it came from.

    `edge` is where its gradient goes: the Node that made it, or the AccumulateGrad of
    a leaf that requires grad, or None.
    """

    __slots__ = ["array", "edge", "_grad", "source", "rewritten", "__weakref__"]

    def __init__(self, data: Any, edge: Node | AccumulateGrad | None = None):
        known = type(data) is np.ndarray and data.dtype in RANK
        self.array = data if known else held(data)
        self.edge, self._grad, self.source, self.rewritten = edge, None, None, 0

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.grad_fn is not None and not value:
            raise errors.no_leaf(self.grad_fn.name())
        if value and not self.is_floating_point():
            raise errors.no_floats(self.dtype)
        if value != self.requires_grad:
            self.edge = AccumulateGrad(self) if value else None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        return None if isinstance(self.edge, AccumulateGrad) else self.edge

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.grad_fn is None

    @property
    def grad(self) -> "Tensor | None":
        """What backward() has added up so far, of the same shape as the tensor."""
        if self._grad is None and not (self.is_leaf or self.retains_grad):
            warnings.warn(errors.NOT_A_LEAF, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None and (value.shape, value.dtype) != (self.shape, self.dtype):
            raise RuntimeError(f"grad is {value.dtype}{value.shape}, unlike the tensor")
        self._grad = value

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Set `requires_grad`, and return the tensor."""
        self.requires_grad = requires_grad
        return self

    def detach(self) -> "Tensor":
        """Return a tensor on the same memory that no gradient flows through."""
        return Tensor(self.array)

    @property
    def data(self) -> "Tensor":
        """The same memory, not recorded: like detach()."""
        return Tensor(self.array)

    @data.setter
    def data(self, value: "Tensor") -> None:
        if self.requires_grad and not value.is_floating_point():
            raise errors.no_floats(value.dtype)
        self.array = value.array
        if self.is_leaf and self.requires_grad:
            self.edge.shape = self.shape

    def backward(
        self, gradient=None, retain_graph=None, create_graph=False, inputs=None
    ) -> None:
        """Add d(self)/d(leaf) to the grad of each leaf, or only of `inputs`.

        `gradient`, of this tensor's shape, is 1 for a single number.
        Raises RuntimeError if there is nothing to go back through, or no longer.
        """
        inputs = [inputs] if isinstance(inputs, Tensor) else inputs
        collect([self], [gradient], inputs, retain_graph, create_graph)

    def retain_grad(self) -> None:
        """Keep the gradient of a result in its `grad`, too, as if it were a leaf."""
        if self.edge is None:
            raise RuntimeError("can't retain_grad on Tensor with requires_grad=False")
        if self.is_leaf or self.retains_grad:
            return
        me = weakref.ref(self)

        def keep(g):
            if me() is not None:
                accumulate(me(), g)
            return g

        self.edge.hooks += (keep,)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this result."""
        hooks = self.grad_fn.hooks if self.grad_fn else ()
        return any(hook.__name__ == "keep" for hook in hooks)

    # Memory that is shared, and written to

    @property
    def _version(self) -> int:
        return saved_values.version(self.array)

    @property
    def _base(self) -> "Tensor | None":
        """The tensor whose memory a view shows; None for one that is no view."""
        return None if self.source is None else self.source[0]

    def note_base(self, source: "Tensor") -> None:
        """Remember whose memory this is a view of, and since when, if it is one."""
        if saved_values.storage(self.array) is saved_values.storage(source.array):
            base = source if source._base is None else source._base
            self.source = base, next(saved_values.numbers)

    def check_view(self) -> None:
        """Raise RuntimeError if this view's base was written to, recorded, since."""
        if self.source is not None and self.source[0].rewritten > self.source[1]:
            raise errors.stale_view()


def walk_back(outputs, gradients, inputs=None, retain_graph=None, create_graph=False):
    """Carry gradients from `outputs` back; return what reached the ends, by node."""
    ends = {x.edge for x in inputs or ()}
    if None in ends or (inputs is not None and not inputs):
        raise RuntimeError("inputs: each has to require grad, and there must be one")
    roots: dict = {}
    retain_graph = create_graph if retain_graph is None else retain_graph
    with set_grad_enabled(create_graph), np.errstate(all="ignore"):
        for output, gradient in zip(outputs, gradients, strict=True):
            g = first_gradient(output, gradient)
            g = g if create_graph else g.array
            roots[output.edge] = roots[output.edge] + g if output.edge in roots else g
        return walk(roots, ends, retain_graph)


def first_gradient(output: Tensor, gradient: Tensor | None) -> Tensor:
    """Return the gradient that a walk back from `output` starts with."""
    output.check_view()
    if output.edge is None:
        raise errors.no_graph()
    if gradient is None:
        if output.array.size != 1:
            raise errors.no_scalar(output.shape)
        return Tensor(ones(output.array.shape, output.array))
    if not isinstance(gradient, Tensor):
        raise errors.not_a_tensor("gradient", gradient)
    if gradient.shape != output.shape:
        raise errors.mismatch(gradient, output)
    return gradient.type_as(output)


def collect(outputs, gradients, inputs, retain_graph, create_graph) -> None:
    """Walk back, and add what arrives to the grad of the leaves, or of `inputs`."""
    for x in inputs or ():
        x.retain_grad()  # if it is a result
    ends = walk_back(outputs, gradients, inputs, retain_graph, create_graph)
    for node, g in ends.items():
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf.requires_grad:
            accumulate(leaf, g)


def accumulate(leaf: Tensor, g: Tensor | np.ndarray) -> None:
    """Add g to the leaf's grad: in place, unless either is part of a graph."""
    if leaf._grad is None:
        recorded = isinstance(g, Tensor)
        leaf._grad = g.clone() if recorded else Tensor(g.astype(leaf.dtype))
    elif isinstance(g, Tensor) or leaf._grad.requires_grad:
        leaf._grad = leaf._grad + g
    else:
        saved_values.wrote(leaf._grad.array)
        leaf._grad.array += g
