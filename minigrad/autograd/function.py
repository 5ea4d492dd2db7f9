"""Function: an operation whose backward you write yourself."""

import copy
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from minigrad.array.arguments import no_gradient
from minigrad.graph.hooks import wrapped
from minigrad.graph.node import Node
from minigrad.graph.recording import no_grad, recording
from minigrad.graph.saved_values import storage
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op, to_dtype


class Context:
    """What forward hands to backward: `ctx`; keep in it what backward needs."""

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad, self.saved_tensors = needs_input_grad, ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs as `saved_tensors`, under the engine's watch."""
        if not all(isinstance(x, Tensor | None) for x in tensors):
            raise TypeError(
                "save_for_backward can only save Tensors: keep anything else as an "
                "attribute, ctx.name = ..."
            )
        self.saved_tensors = tensors


def unwritten(ctx: Context, *args: Any) -> None:
    """Stand where a Function lacks its forward or its backward."""
    raise NotImplementedError("You must write forward(ctx, ...) and backward(ctx, ...)")


class Function:
    """An operation of your own, in two static methods; call it by `Name.apply(...)`.

    forward(ctx, *args) returns a result or a tuple; backward(ctx, *gradients) gets one
    gradient for each of these, and returns one for each of args, or None.
    If there is a setup_context(ctx, args, result), too, forward gets no ctx.
    """

    forward = backward = staticmethod(unwritten)
    setup_context = None

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward unrecorded, and record all of it as one node."""
        ctx = Context(tuple(getattr(x, "requires_grad", False) for x in args))
        with no_grad():
            result = cls.computed(ctx, args)
        if not any(ctx.needs_input_grad) or not recording.get():
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        made = Custom(cls, ctx, args, outputs).record(args, outputs)
        return made if isinstance(result, tuple) else made[0]

    @classmethod
    def computed(cls, ctx: Context, args: tuple) -> Any:
        """Return what forward does, with a ctx or beside a setup_context."""
        if cls.setup_context is None:
            return cls.forward(ctx, *args)
        result = cls.forward(*args)
        cls.setup_context(ctx, args, result)
        return result


class Custom:
    """One call of a Function: what its node has for an op, and for formulas."""

    def __init__(self, function: type, ctx: Context, args: tuple, outputs: tuple):
        self.name, self.frees = f"{function.__name__}Backward", bool(ctx.saved_tensors)
        self.function, self.ctx = function, ctx
        self.dtypes = [x.dtype if isinstance(x, Tensor) else None for x in args]
        self.outputs = [zeros_for(x) for x in outputs]
        places, saved = {id(x): i for i, x in enumerate(outputs)}, ctx.saved_tensors
        self.sources = [getattr(x, "edge", None) or places.get(id(x)) for x in saved]

    def __len__(self) -> int:
        return len(self.dtypes)

    def record(self, args: tuple, outputs: tuple) -> tuple:
        """Return the outputs as results of one node, which leads to the arguments."""
        targets = tuple(getattr(x, "edge", None) for x in args)
        saved = tuple(getattr(x, "array", None) for x in self.ctx.saved_tensors)
        self.ctx.saved_tensors = ()  # from now on the node has them
        saved = tuple(saved if target else () for target in targets)
        shape = getattr(outputs[0], "shape", None) if len(outputs) == 1 else None
        node = Node(self, self, targets, saved, shape)
        self.node = weakref.ref(node)
        made = tuple(own_memory(x, args) for x in outputs)
        for i, out in enumerate(made):
            if isinstance(out, Tensor) and out.is_floating_point():
                out.edge = output_of(node, i, out.shape)
        return made

    def __iter__(self) -> Iterator[Callable]:
        """Yield a formula for each argument; in one walk all share one backward."""
        shares: list[Tensor] = []

        def share(g, *saved, i):
            if not shares:
                ctx = copy.copy(self.ctx)
                ctx.saved_tensors = tuple(map(self.linked, saved, self.sources))
                parts = g if isinstance(g, Parts) else {0: g}
                given = filled(map(parts.get, range(len(self.outputs))), self.outputs)
                shares.extend(self.checked(self.function.backward(ctx, *given)))
            return shares[i] if recording.get() else getattr(shares[i], "array", None)

        for i in range(len(self)):
            yield partial(share, i=i)

    def checked(self, shares: Any) -> list[Tensor | None]:
        """Return one gradient for each argument; raise if that is not what came."""
        shares = [*shares] if isinstance(shares, tuple | list) else [shares]
        while len(shares) > len(self) and shares[-1] is None:
            shares.pop()
        if len(shares) != len(self):
            raise RuntimeError(
                f"function {self.name} returned an incorrect number of gradients "
                f"(expected {len(self)}, got {len(shares)})"
            )
        for i, (share, dtype) in enumerate(zip(shares, self.dtypes)):
            if share is not None and not (dtype and isinstance(share, Tensor)):
                raise no_gradient(self.name, i, share)
            shares[i] = None if share is None else to_dtype(share, dtype)
        return shares

    def linked(self, array: Any, source: Any) -> Tensor | None:
        """Return a saved array as its leaf, or a Tensor that leads to what made it."""
        if array is None:
            return None
        if isinstance(source, int):
            source = output_of(self.node(), source, array.shape)
        leaf = getattr(source, "variable", None)
        is_leaf = leaf is not None and leaf.array is array
        return leaf if is_leaf else Tensor(array, source)

    def lifted(self, node: Node, make: Callable) -> tuple:
        """Return formulas, and saved values: linked() makes Tensors of them."""
        return node.formulas, node.saved


def own_memory(x: Any, args: tuple) -> Any:
    """Return an output as a new Tensor, with memory apart from the arguments'."""
    if not isinstance(x, Tensor):
        return x
    owners = [id(storage(arg.array)) for arg in args if isinstance(arg, Tensor)]
    return Tensor(x.array.copy() if id(storage(x.array)) in owners else x.array)


def zeros_for(x: Any) -> Callable:
    """Return what makes zeros like the tensor x, without holding on to it."""
    return partial(np.zeros, x.shape, x.dtype) if isinstance(x, Tensor) else type(None)


def filled(gradients: Iterable, zeros: list[Callable]) -> list[Tensor | None]:
    """Return gradients as Tensors, with zeros for those of Tensors that are None."""
    return [wrapped(new() if g is None else g) for g, new in zip(gradients, zeros)]


class Parts(dict):
    """The gradients, by index, of those of several outputs that have got one."""

    shape = None

    def __add__(self, other: "Parts") -> "Parts":
        both = {i: self[i] + other[i] for i in self.keys() & other.keys()}
        return Parts(self | other | both)


part = Op("Part", lambda a, index: a[index], a=lambda g, index: Parts({index: g}))


def output_of(node: Node, index: int, shape: tuple) -> Node:
    """Return the node of one output: `node` itself, unless there are several."""
    if node.shape is not None:
        return node
    op = copy.copy(part)
    op.name = node.name()
    return Node(op, op.formulas, (node,), ((index,),), shape)
