"""Function: an operation whose backward you write yourself."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.graph.node import Node
from minigrad.graph.recording import no_grad, recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.node_names import renamed
from minigrad.rules.op import Op, edge, to_dtype


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


class Function:
    """An operation of your own, in two static methods; call it by `Name.apply(...)`.

    forward(ctx, *args) returns a result or a tuple; backward(ctx, *gradients) gets one
    gradient for each of these, and returns one for each of args, or None.
    """

    forward: Callable
    backward: Callable

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward unrecorded, and record all of it as one node."""
        ctx = Context(tuple(edge(x) is not None for x in args))
        with no_grad():
            result = cls.forward(ctx, *args)
        if not any(ctx.needs_input_grad) or not recording.on:
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        made = Call(cls, ctx, args, outputs).record(args, outputs)
        return made if isinstance(result, tuple) else made[0]


class Call:
    """One call of a Function: what its node has for an op."""

    settings = frozenset(["saved"])  # freed only if there is an array in it

    def __init__(self, function: type, ctx: Context, args: tuple, outputs: tuple):
        self.name, self.function = f"{function.__name__}Backward", function
        self.ctx = ctx
        self.dtypes = [x.dtype if isinstance(x, Tensor) else None for x in args]
        tensors = {i: x for i, x in enumerate(outputs) if isinstance(x, Tensor)}
        self.blanks = {i: (x.shape, x.dtype) for i, x in tensors.items()}
        self.count = len(outputs)
        places = {id(x): i for i, x in tensors.items()}
        if len(places) < len(tensors):
            raise RuntimeError(f"{self.name} returns one output twice: clone() it")
        # where each saved tensor came from: an edge, or which output it is
        self.sources = [edge(x) or places.get(id(x)) for x in ctx.saved_tensors]

    def record(self, args: tuple, outputs: tuple) -> tuple:
        """Return the outputs as results of one node, which leads to the arguments."""
        saved = [None if x is None else x.array for x in self.ctx.saved_tensors]
        self.ctx.saved_tensors = ()  # from now on the node has them
        shape = outputs[0].shape if len(outputs) == 1 else None
        node = Node(self, list(map(edge, args)), {"saved": saved}, shape)
        made = tuple(own_memory(x, args) for x in outputs)
        for i, out in enumerate(made):
            if isinstance(out, Tensor) and out.is_floating_point():
                out.edge = output_of(node, i, out.shape)
        return made

    def shares(self, node: Node, g: Any, wanted: set | None) -> Iterator[tuple]:
        """Yield each target of the node, and its share: what backward returns."""
        ctx = copy.copy(self.ctx)
        pairs = zip(node.saved["saved"], self.sources)
        ctx.saved_tensors = tuple(linked(x, source, node) for x, source in pairs)
        parts = g if isinstance(g, Parts) else {0: g}
        recorded = any(isinstance(part, Tensor) for part in parts.values())
        zeros = {i: Tensor(np.zeros(*blank)) for i, blank in self.blanks.items()}
        known = zeros | {i: wrapped(part) for i, part in parts.items()}
        gradients = [known.get(i) for i in range(self.count)]
        shares = self.checked(self.function.backward(ctx, *gradients))
        for target, share in zip(node.targets, shares):
            if target and share is not None and (wanted is None or target in wanted):
                yield target, share if recorded else share.array

    def checked(self, shares: Any) -> list[Tensor | None]:
        """Return one gradient for each argument; raise if that is not what came."""
        shares = [*shares] if isinstance(shares, tuple | list) else [shares]
        if len(shares) != len(self.dtypes):
            raise errors.wrong_count(self.name, len(self.dtypes), len(shares))
        for share in shares:
            if not isinstance(share, Tensor | None):
                raise errors.not_a_tensor(f"{self.name}, a gradient", share)
        return [s if s is None else to_dtype(s, d) for s, d in zip(shares, self.dtypes)]


def linked(array: Any, source: Any, node: Node) -> Tensor | None:
    """Return a saved array as its leaf, or a Tensor that leads to what made it."""
    if array is None:
        return None
    if isinstance(source, int):
        source = output_of(node, source, array.shape)
    leaf = getattr(source, "variable", None)
    if leaf is not None and leaf.array is array:
        return leaf
    return Tensor(array, source)


def own_memory(x: Any, args: tuple) -> Any:
    """Return an output as a new Tensor: a copy if it shares an argument's memory."""
    if not isinstance(x, Tensor):
        return x
    arrays = [arg.array for arg in args if isinstance(arg, Tensor)]
    shared = any(np.may_share_memory(x.array, array) for array in arrays)
    return Tensor(x.array.copy() if shared else x.array)


def wrapped(g: Any) -> Tensor:
    """Return a gradient as a Tensor."""
    return g if isinstance(g, Tensor) else Tensor(g)


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
    return Node(renamed(part, node.name()), [node], {"index": index}, shape)
