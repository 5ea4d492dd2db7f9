"""Tensor: an array that knows what made it, under the names that PyTorch uses."""

import copy
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import RANK, as_array, ones
from minigrad.array.protocols import ArrayLike
from minigrad.graph import saved_values
from minigrad.graph.node import AccumulateGrad, Node
from minigrad.graph.recording import recording
from minigrad.graph.walk import walk

if TYPE_CHECKING:
    from minigrad.tensors.methods import Methods
else:
    Methods = object  # tensors/methods.py gives them to the class when it is loaded


class Tensor(ArrayLike, Methods):
    """An array, and where it came from.

    `edge` is where its gradient goes: the Node that made it, or the AccumulateGrad of
    a leaf that requires grad, or None.
    """

    __slots__ = ["array", "edge", "_grad", "source", "rewritten", "__weakref__"]

    def __init__(self, data: Any, edge: Node | AccumulateGrad | None = None):
        known = type(data) is ndarray and data.dtype in RANK
        self.array = data if known else held(data)
        self.edge, self._grad, self.source = edge, None, None

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value != self.requires_grad:
            check_may_switch(self)
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
            warnings.warn(
                "The .grad of a Tensor that is not a leaf is being accessed: only "
                "leaves get one in backward(). Call retain_grad() on a result before.",
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None and (value.shape, value.dtype) != (self.shape, self.dtype):
            raise RuntimeError(
                f"assigned grad is {value.dtype} of shape {value.shape}, the tensor "
                f"{self.dtype} of shape {self.shape}"
            )
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

    def shows_memory_of(self, other: "Tensor") -> None:
        """Remember whose memory this is a view of, and since when."""
        if saved_values.storage(self.array) is saved_values.storage(other.array):
            base = other if other._base is None else other._base
            self.source = base, next(saved_values.numbers)

    @property
    def _base(self) -> "Tensor | None":
        """The tensor whose memory a view shows; None for one that is no view."""
        return None if self.source is None else self.source[0]

    def check_view(self) -> None:
        """Raise RuntimeError if this view's base was written to, recorded, since."""
        base, number = self.source
        if getattr(base, "rewritten", 0) > number:
            raise RuntimeError(
                "this view was made before its base was modified by an inplace "
                "operation that autograd recorded, and knows nothing of it. Take the "
                "view anew."
            )

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
                accumulate(me(), g)
            return g

        self.edge.hooks += (keep,)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this result."""
        hooks = self.grad_fn.hooks if self.grad_fn else ()
        return any(hook.__name__ == "keep" for hook in hooks)

    def register_hook(self, hook: Callable) -> "Handle":
        """Call hook(gradient) once the whole gradient of this tensor is known.

        What the hook returns, if not None, takes the gradient's place. The handle's
        remove() takes the hook off again.
        """
        if self.edge is None:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient"
            )

        def run(g):
            result = hook(g if isinstance(g, Tensor) else Tensor(g))
            if result is None:
                return g
            if result.shape != g.shape:
                raise RuntimeError(
                    f"hook has changed the gradient's shape {g.shape} to {result.shape}"
                )
            return result if isinstance(g, Tensor) else result.array

        return Handle(self.edge, run)

    def __deepcopy__(self, memo: dict) -> "Tensor":
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support "
                "the deepcopy protocol; clone() or detach() this one."
            )
        twin = rebuilt(type(self), self.array.copy(), self.requires_grad)
        memo[id(self)] = twin
        twin._grad = copy.deepcopy(self._grad, memo)
        return twin

    def __reduce__(self):
        return rebuilt, (type(self), self.array, self.requires_grad)


class Handle:
    """A hook on a node: it sees the gradient that the node gets; remove() ends that."""

    def __init__(self, node: Node | AccumulateGrad, hook: Callable):
        self.node, self.hook = weakref.ref(node), hook
        # what retain_grad() keeps is what all other hooks have made of the gradient
        node.hooks = tuple(sorted((*node.hooks, hook), key=is_last))

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        node = self.node()
        if node is not None:
            node.hooks = tuple(hook for hook in node.hooks if hook is not self.hook)


def is_last(hook: Callable) -> bool:
    """Return whether a hook is retain_grad's."""
    return hook.__name__ == "keep"


def rebuilt(cls: type, array: ndarray, requires_grad: bool) -> Tensor:
    """Return what was copied or unpickled as a leaf."""
    twin = cls.__new__(cls)
    Tensor.__init__(twin, array)
    twin.requires_grad = requires_grad
    return twin


def held(data: Any) -> ndarray:
    """Return what a Tensor is to hold as an array; numbers are for tensor()."""
    if type(data) in (list, tuple, bool, int, float):
        raise TypeError(
            "Tensor(...) takes an array, no numbers and no sizes: write "
            "minigrad.tensor([1.0, 2.0]), or minigrad.empty(2, 3)"
        )
    return as_array(data)


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


def kind(value: Any) -> str:
    """Return what to call the type of a value in a message."""
    return type(value).__name__


def walk_back(outputs, gradients, inputs=None, retain_graph=None, create_graph=False):
    """Carry gradients from `outputs` back; return what reached the ends, by node."""
    if inputs is not None and not inputs:
        raise RuntimeError("inputs cannot be empty: say what to get the gradients of")
    ends = {tensor.edge for tensor in inputs or ()}
    if None in ends:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    roots: dict = {}
    for output, gradient in zip(outputs, gradients, strict=True):
        g = first_gradient(output, gradient)
        g = g if create_graph else g.array
        roots[output.edge] = roots[output.edge] + g if output.edge in roots else g
    retain = create_graph if retain_graph is None else retain_graph
    before, recording.on = recording.on, create_graph
    try:
        with np.errstate(all="ignore"):
            return walk(roots, ends, retain)
    finally:
        recording.on = before


def collect(outputs, gradients, retain_graph, create_graph, inputs) -> None:
    """Walk back, and add what arrives to the grad of the leaves, or of `inputs`."""
    inputs = [inputs] if isinstance(inputs, Tensor) else inputs
    for x in inputs or ():
        x.retain_grad()  # if it is a result
    ends = walk_back(outputs, gradients, inputs, retain_graph, create_graph)
    for node, g in ends.items():
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf.requires_grad:
            accumulate(leaf, g)


def accumulate(leaf: Tensor, g: Tensor | ndarray) -> None:
    """Add g to the leaf's grad: in place, unless either is part of a graph."""
    if leaf._grad is None:
        leaf._grad = (
            g.clone() if isinstance(g, Tensor) else Tensor(g.astype(leaf.dtype))
        )
    elif isinstance(g, Tensor) or leaf._grad.requires_grad:
        leaf._grad = leaf._grad + g
    else:
        saved_values.wrote(leaf._grad.array)
        leaf._grad.array += g


def first_gradient(output: Tensor, gradient: Tensor | None) -> Tensor:
    """Return the gradient that a walk back from `output` starts with."""
    if output.source is not None:
        output.check_view()
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
