"""Function: An operation whose backward you write yourself."""

import copy

import numpy as np

from minigrad import errors
from minigrad.graph.node import Node
from minigrad.graph.recording import no_grad, recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import to_dtype
from minigrad.rules.op import edge, linked


class Context:
    """The `ctx` in which forward keeps what backward needs."""

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad, self.saved_tensors = needs_input_grad, ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs as `saved_tensors`, under the engine's watch."""
        if not all(isinstance(x, Tensor | None) for x in tensors):
            raise errors.not_to_save()
        self.saved_tensors = tensors


class Function:
    """An operation of your own in two static methods, called with `Name.apply(...)`.

    forward(ctx, *args) returns one tensor. backward(ctx, g) gets the gradient of that
    tensor, and returns one gradient or None for each of args.
    """

    @classmethod
    def apply(cls, *args):
        """Run forward, and record all of it as one node."""
        parents = [edge(x) for x in args]
        ctx = Context(tuple(parent is not None for parent in parents))
        with no_grad():
            output = cls.forward(ctx, *args)
        if not isinstance(output, Tensor):
            raise errors.no_output(cls.__name__, output)
        if not any(parents) or not recording.on:
            return output
        return Call(cls, ctx).record(parents, args, output)


class Call:
    """One call of a Function. Its node uses it as its op."""

    options = frozenset(["saved"])  # freed only if there is an array in it

    def __init__(self, function: type, ctx: Context):
        self.name, self.function = f"{function.__name__}Backward", function
        self.ctx = ctx

    def record(self, parents: list, args: tuple, output: Tensor) -> Tensor:
        """Return the output as the result of a node that leads to the arguments."""
        self.dtypes = [x.dtype if isinstance(x, Tensor) else None for x in args]
        # where each saved tensor came from: its edge, True for the output, or False
        self.sources = [edge(x) or x is output for x in self.ctx.saved_tensors]
        saved = [None if x is None else x.array for x in self.ctx.saved_tensors]
        self.ctx.saved_tensors = ()  # from now on the node has them
        made = own_memory(output, args)
        if made.is_floating_point():
            made.edge = Node(self, parents, {"saved": saved}, made.shape)
        return made

    def input_gradients(self, node: Node, g, wanted: set | None):
        """Yield each parent of the node with its share, which backward returns."""
        g = g if isinstance(g, Tensor) else Tensor(g)
        shares = self.checked(self.function.backward(self.context(node), g))
        for parent, share in zip(node.parents, shares):
            if parent and share is not None and (wanted is None or parent in wanted):
                yield parent, share if recording.on else share.array

    def context(self, node: Node) -> Context:
        """Return a copy of ctx with the values that the node saved, now as tensors."""
        ctx = copy.copy(self.ctx)
        pairs = zip(node.saved["saved"], self.sources)
        ctx.saved_tensors = tuple(linked(x, source, node) for x, source in pairs)
        return ctx

    def checked(self, shares) -> list[Tensor | None]:
        """Return a list with a gradient for each argument, or raise an error.

        There may be more at the end that are None, for arguments left out in the call.
        """
        shares = [*shares] if isinstance(shares, tuple | list) else [shares]
        more = [share for share in shares[len(self.dtypes) :] if share is not None]
        if more or len(shares) < len(self.dtypes):
            raise errors.wrong_count(self.name, len(self.dtypes), len(shares))
        for share in shares:
            if not isinstance(share, Tensor | None):
                raise errors.not_a_tensor(f"{self.name}, a gradient", share)
        return [s if s is None else to_dtype(s, d) for s, d in zip(shares, self.dtypes)]


def own_memory(output: Tensor, args: tuple) -> Tensor:
    """Return a new Tensor, with a copied array if it shares an argument's memory."""
    arrays = [x.array for x in args if isinstance(x, Tensor)]
    shared = any(np.may_share_memory(output.array, array) for array in arrays)
    return Tensor(output.array.copy() if shared else output.array)
