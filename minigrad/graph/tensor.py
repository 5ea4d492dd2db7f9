"""Tensor: an array that knows what made it, under the names that PyTorch uses."""

import sys
import warnings
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import ones
from minigrad.array.ownership import ALONE
from minigrad.graph import saved_values
from minigrad.graph.array_protocols import ArrayLike, held
from minigrad.graph.node import AccumulateGrad, Node
from minigrad.graph.recording import recording
from minigrad.graph.walk import run_backward

np.seterr(all="ignore")  # log(0) is -inf and 0 / 0 nan, without a word, as in PyTorch


class Tensor(ArrayLike):
    """An array, and where it came from.

    `edge` is where its gradient goes: the Node that made it, or the AccumulateGrad of
    a leaf that requires grad, or None. What can be done with a tensor is added to the
    class in methods.py; views.py and hooks.py add one thing each.
    """

    __slots__ = ["array", "edge", "end", "_grad", "source", "views", "__weakref__"]

    def __init__(self, data: Any, edge: Node | AccumulateGrad | None = None):
        self.array = data if type(data) is ndarray else held(data, edge)
        self.edge = edge
        self._grad = None

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value != self.requires_grad:
            check_may_switch(self)
            if value:  # off and on again: the same end
                self.end = getattr(self, "end", None) or AccumulateGrad(self)
                self.end.shape = self.array.shape
            self.edge = self.end if value else None

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
        warn_of_result(self)
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"grad must be a Tensor or None, not {kind(value)}")
        if value is not None and value.shape != self.shape:
            raise RuntimeError(
                f"assigned grad has shape {value.shape}, the tensor {self.shape}"
            )
        if value is not None and value.dtype != self.dtype:
            raise RuntimeError(
                f"assigned grad has dtype {value.dtype}, the tensor {self.dtype}"
            )
        self._grad = value

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Set `requires_grad`, and return the tensor."""
        self.requires_grad = requires_grad
        return self

    def detach(self) -> "Tensor":
        """Return a tensor on the same memory that no gradient flows through."""
        return Tensor(self.array)

    def detach_(self) -> "Tensor":
        """Cut this tensor itself off from what made it; a view refuses."""
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self.edge = None
        return self

    @property
    def data(self) -> "Tensor":
        """The same memory, not recorded: like detach()."""
        return Tensor(self.array)

    @data.setter
    def data(self, value: "Tensor") -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"data must be a Tensor, not {kind(value)}")
        if self.requires_grad and not value.is_floating_point():
            raise RuntimeError(f"what requires grad holds floats, not {value.dtype}")
        self.array = value.array
        if self.is_leaf and self.requires_grad:
            self.edge.shape = self.shape

    @property
    def _version(self) -> int:
        return saved_values.version(self.array)

    def backward(
        self,
        gradient: "Tensor | None" = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: "Tensor | Sequence[Tensor] | None" = None,
    ) -> None:
        """Add d(self)/d(leaf) to the grad of each leaf, or only of `inputs`.

        `gradient`, of this tensor's shape, is 1 for a single number.
        Raises RuntimeError if there is nothing to go back through, or no longer.
        """
        collect([self], [gradient], retain_graph, create_graph, inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of a result in its `grad`, too, as if it were a leaf."""
        if self.edge is None:
            raise RuntimeError(
                "can't retain_grad on Tensor that has requires_grad=False"
            )
        if self.grad_fn is None or self.retains_grad:
            return
        me = weakref.ref(self)

        def keep(g):
            if me() is not None:
                accumulate(me(), copied(g, me()))
            return g

        self.edge.hooks = [*(self.edge.hooks or ()), keep]

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this result."""
        hooks = (self.grad_fn and self.grad_fn.hooks) or ()
        return any(hook.__name__ == "keep" for hook in hooks)


def check_may_switch(tensor: Tensor) -> None:
    """Raise RuntimeError unless `requires_grad` of this tensor may be changed."""
    if tensor.grad_fn is not None:
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables; this one "
            f"was computed by {tensor.grad_fn.name()}. Use detach() to cut it off."
        )
    if tensor.array.dtype.kind != "f":
        raise RuntimeError(
            f"only Tensors of floating point dtype can require gradients, and this "
            f"one is {tensor.dtype}. Make it float() first."
        )


def warn_of_result(tensor: Tensor) -> None:
    """Warn whoever asks a result for a gradient that it does not retain."""
    if tensor._grad is None and not (tensor.is_leaf or tensor.retains_grad):
        warnings.warn(
            "The .grad of a Tensor that is not a leaf is being accessed: only leaves "
            "get one in backward(). Call retain_grad() on a result before.",
            stacklevel=3,
        )


def kind(value: Any) -> str:
    """Return what to call the type of a value in a message."""
    return type(value).__name__


def walk_back(outputs, gradients, inputs=None, retain_graph=None, create_graph=False):
    """Carry gradients from `outputs` back; return what reached the ends, by node."""
    if inputs is not None and not inputs:
        raise RuntimeError("inputs cannot be empty: say what to get the gradients of")
    roots, edges = {}, {tensor.edge for tensor in inputs or ()}
    if None in edges:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if len(outputs) != len(gradients):
        raise RuntimeError(f"got {len(outputs)} tensors, {len(gradients)} gradients")
    for output, g in zip(outputs, gradients):
        g = first_gradient(output, g)
        g = g if create_graph else g.array
        roots[output.edge] = roots[output.edge] + g if output.edge in roots else g
    retain = create_graph if retain_graph is None else retain_graph
    before = recording.set(create_graph)
    try:
        return run_backward(roots, edges, retain, Tensor if create_graph else None)
    finally:
        recording.reset(before)


def collect(outputs, gradients, retain_graph, create_graph, inputs) -> None:
    """Walk back, and add what arrives to the grad of the leaves, or of `inputs`."""
    inputs = [inputs] if isinstance(inputs, Tensor) else inputs and list(inputs)
    wanted = {tensor.edge: tensor for tensor in inputs or ()}
    for tensor in inputs or ():
        if tensor.edge:
            tensor.retain_grad()  # as PyTorch does, for this walk and later ones
    ends = walk_back(outputs, gradients, inputs, retain_graph, create_graph)
    while ends:
        node, g = ends.popitem()
        leaf = wanted[node] if wanted else node.leaf()
        mine = sys.getrefcount(g) == ALONE and type(g) is ndarray and g.base is None
        if leaf is not None and leaf.edge and not (wanted and leaf.retains_grad):
            if not mine or g.dtype is not leaf.array.dtype:
                g = copied(g, leaf)
            accumulate(leaf, g)


def first_gradient(output: Tensor, gradient: Tensor | None) -> Tensor:
    """Return the gradient that a walk back from `output` starts with."""
    if output.edge is None:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: "
            "all that it comes from has requires_grad=False, or it was made in no_grad"
        )
    if gradient is None and output.array.size != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs; this one has "
            f"shape {output.shape}. Give backward() a gradient of that shape."
        )
    if gradient is None:
        return Tensor(ones(output.array.shape, output.array))
    check_gradient(output, gradient)
    return gradient.type_as(output)


def check_gradient(output: Tensor, gradient: Tensor) -> None:
    """Raise unless `gradient` can be one of `output`."""
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {kind(gradient)}"
        )
    if gradient.shape != output.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {gradient.shape} and "
            f"output has a shape of {output.shape}"
        )


def copied(g: Tensor | ndarray, leaf: Tensor) -> Tensor | ndarray:
    """Return a copy of `g`, which nobody else holds, of the leaf's dtype."""
    if isinstance(g, Tensor):
        return Tensor(g.array.copy(), g.edge)
    return g.astype(leaf.array.dtype)


def accumulate(leaf: Tensor, g: Tensor | ndarray) -> None:
    """Add g to the leaf's grad: in place, unless either is part of a graph."""
    if leaf._grad is None:
        leaf._grad = g if isinstance(g, Tensor) else Tensor(g)
    elif isinstance(g, Tensor) or leaf._grad.requires_grad:
        leaf._grad = leaf._grad + g
    else:
        saved_values.wrote(leaf._grad.array)
        leaf._grad.array += g
