"""Function: an operation whose backward you write yourself."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.graph.node import Node
from minigrad.graph.recording import no_grad, recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import to_dtype
from minigrad.rules.node_names import renamed
from minigrad.rules.op import Op, edge


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
        targets = [edge(x) for x in args]
        ctx = Context(tuple(target is not None for target in targets))
        with no_grad():
            result = cls.forward(ctx, *args)
        if not any(targets) or not recording.on:
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        made = Call(cls, ctx, args, outputs).record(targets, args, outputs)
        return tuple(made) if isinstance(result, tuple) else made[0]


class Call:
    """One call of a Function: what its node has for an op."""

    settings = frozenset(["saved"])  # freed only if there is an array in it

    def __init__(self, function: type, ctx: Context, args: tuple, outputs: tuple):
        self.name, self.function = f"{function.__name__}Backward", function
        self.ctx = ctx
        self.dtypes = [x.dtype if isinstance(x, Tensor) else None for x in args]
        kinds = [(x.shape, x.dtype) if isinstance(x, Tensor) else None for x in outputs]
        self.kinds = kinds  # of the zeros for an output that is not used
        places = {id(x): i for i, x in enumerate(outputs)}
        # where each saved tensor came from: an edge, or which output it is
        self.sources = [edge(x) or places.get(id(x)) for x in ctx.saved_tensors]

    def record(self, targets: list, args: tuple, outputs: tuple) -> list:
        """Return the outputs as results of one node, which leads to the arguments."""
        saved = [None if x is None else x.array for x in self.ctx.saved_tensors]
        self.ctx.saved_tensors = ()  # from now on the node has them
        shape = outputs[0].shape if len(outputs) == 1 else None
        node = Node(self, targets, {"saved": saved}, shape)
        made = [own_memory(x, args + outputs[:i]) for i, x in enumerate(outputs)]
        for i, out in enumerate(made):
            if isinstance(out, Tensor) and out.is_floating_point():
                out.edge = output_of(node, i, out.shape)
        return made

    def shares(self, node: Node, g: Any, wanted: set | None) -> Iterator[tuple]:
        """Yield each target of the node, and its share: what backward returns."""
        ctx = copy.copy(self.ctx)
        pairs = zip(node.saved["saved"], self.sources)
        ctx.saved_tensors = tuple(linked(x, source, node) for x, source in pairs)
        shares = self.checked(self.function.backward(ctx, *self.gradients(g)))
        for target, share in zip(node.targets, shares):
            if target and share is not None and (wanted is None or target in wanted):
                yield target, share if recording.on else share.array

    def gradients(self, g: Any) -> list[Tensor | None]:
        """Return what has come for each output, as Tensors; zeros for the others."""
        if not isinstance(g, tuple):
            return [g if isinstance(g, Tensor) else Tensor(g)]
        found = [kind and Tensor(np.zeros(*kind)) for kind in self.kinds]
        for i, part in g:
            found[i] = found[i] + part
        return found

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


def own_memory(x: Any, others: tuple) -> Any:
    """Return an output as a new Tensor: a copy if it shares memory with another one."""
    if not isinstance(x, Tensor):
        return x
    arrays = [other.array for other in others if isinstance(other, Tensor)]
    shared = any(np.may_share_memory(x.array, array) for array in arrays)
    return Tensor(x.array.copy() if shared else x.array)


class Parts(tuple):
    """Gradients of several outputs: pairs of an index and what came; + joins them."""

    shape = None


part = Op("Part", lambda a, index: a[index], a=lambda g, index: Parts([(index, g)]))


def output_of(node: Node, index: int, shape: tuple) -> Node:
    """Return the node of one output: `node` itself, unless there are several."""
    if node.shape is not None:
        return node
    return Node(renamed(part, node.name()), [node], {"index": index}, shape)
