"""Function: an operation whose backward you write yourself."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.engine import Node, recording
from minigrad.grad_mode import no_grad
from minigrad.tensor import Tensor, kind


class Context:
    """What forward hands to backward: `ctx`.

    Keep tensors with save_for_backward, anything else as an attribute. In backward
    they are `saved_tensors`; `needs_input_grad` says which gradients are asked for.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Tensor | None, ...] = ()
        self.constant: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors, inputs or outputs, until backward."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument is of "
                    f"type {kind(tensor)}; keep it as an attribute: ctx.name = ..."
                )
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say of outputs that no gradient flows through them."""
        self.constant = tensors


class Function:
    """An operation with two static methods, forward(ctx, ...) and backward(ctx, ...).

    backward gets the gradient of each output and returns one for each argument of
    forward, None where there is none. Call the operation as `Name.apply(...)`.
    """

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Any:
        """Compute the output, or a tuple of outputs."""
        raise NotImplementedError("a Function needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Context, *grad_outputs: Tensor) -> Any:
        """Return the gradient of each argument of forward."""
        raise NotImplementedError("a Function needs a static method backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record it."""
        edges = tuple(a.edge if isinstance(a, Tensor) else None for a in args)
        ctx = Context(tuple(edge is not None for edge in edges))
        with no_grad():
            result = cls.forward(ctx, *args)
        outputs = result if isinstance(result, tuple) else (result,)
        if not any(edges) or not recording.get():
            return result
        made = Custom(cls, ctx, args, outputs).record(edges)
        return made if isinstance(result, tuple) else made[0]


class Custom:
    """One call of a Function, in the part that an Op has for other nodes."""

    def __init__(self, cls: type, ctx: Context, args: tuple, outputs: tuple):
        self.name, self.function, self.ctx = f"{cls.__name__}Backward", cls, ctx
        self.frees = bool(ctx.saved_tensors)
        self.outputs = [(out.shape, out.dtype) for out in outputs]
        self.shapes = [getattr(arg, "shape", ()) for arg in args]
        self.made = [Tensor(out.array) for out in outputs]
        self.fixed = [any(out is c for c in ctx.constant) for out in outputs]
        known = {id(x): i for i, x in enumerate(args) if isinstance(x, Tensor)}
        known |= {id(out): ("y", i) for i, out in enumerate(outputs)}
        self.sources = [known.get(id(saved)) for saved in ctx.saved_tensors]
        self.share: tuple = (None, None)

    def record(self, edges: tuple) -> tuple:
        """Return the outputs with their edges."""
        saved = tuple(s if s is None else s.array for s in self.ctx.saved_tensors)
        self.ctx.saved_tensors = ()
        several = len(self.outputs) > 1
        node = Node(
            self,
            [partial(self.formula, i) for i in range(len(edges))],
            edges,
            tuple(saved if edge else () for edge in edges),
            None if several else self.outputs[0][0],
        )
        made, self.made = self.made, None
        for i, out in enumerate(made):
            if not self.fixed[i]:
                out.edge = output_of(node, i, out.shape) if several else node
        return tuple(made)

    def formula(self, i: int, g: Any, *saved: Any) -> Any:
        """Return the gradient of argument i; backward runs once for all of them."""
        if self.share[0] is not g:
            self.share = g, self.all_shares(g, saved)
        share = self.share[1][i]
        if i == max(k for k, needed in enumerate(self.ctx.needs_input_grad) if needed):
            self.share = None, None
        return share

    def all_shares(self, g: Any, saved: tuple) -> list:
        """Run backward on Tensors; return its gradients in the kind that g has."""
        parts = g.parts if isinstance(g, Parts) else {0: g}
        as_arrays = not isinstance(next(iter(parts.values())), Tensor)
        self.ctx.saved_tensors = tuple(map(as_tensor, saved))
        gradients = [
            as_tensor(parts.get(i, np.zeros(*output)))
            for i, output in enumerate(self.outputs)
        ]
        shares = self.function.backward(self.ctx, *gradients)
        self.ctx.saved_tensors = ()
        shares = list(shares) if isinstance(shares, tuple | list) else [shares]
        self.check(shares)
        for i, share in enumerate(shares):
            if share is None and self.ctx.needs_input_grad[i]:
                shares[i] = Tensor(np.zeros(self.shapes[i], gradients[0].dtype))
        return [s.array if as_arrays and s is not None else s for s in shares]

    def check(self, shares: list) -> None:
        """Raise if these are not one gradient, or None, for each argument."""
        if len(shares) != len(self.shapes):
            raise RuntimeError(
                f"function {self.name} returned an incorrect number of gradients "
                f"(expected {len(self.shapes)}, got {len(shares)})"
            )
        for i, share in enumerate(shares):
            if share is not None and not isinstance(share, Tensor):
                raise TypeError(
                    f"function {self.name}: gradient {i} must be a Tensor or None, "
                    f"not {kind(share)}"
                )

    def lifted(self, node: Node, make: Callable) -> tuple:
        """Return formulas, and saved values as Tensors that lead on."""

        def link(array, source):
            if array is None or source is None:
                return array
            if isinstance(source, int):
                return (
                    make(array, node.targets[source]) if node.targets[source] else array
                )
            several = len(self.outputs) > 1
            return make(
                array, output_of(node, source[1], array.shape) if several else node
            )

        return node.formulas, [
            [link(array, source) for array, source in zip(values, self.sources)]
            for values in node.saved
        ]


def as_tensor(value: Any) -> Any:
    """Return an array as a Tensor, and anything else as it is."""
    return Tensor(value) if isinstance(value, np.ndarray) else value


class Parts:
    """The gradients of those of several outputs that have got one."""

    shape = None

    def __init__(self, parts: dict):
        self.parts = parts

    def __add__(self, other: "Parts") -> "Parts":
        both = dict(self.parts)
        for i, g in other.parts.items():
            both[i] = both[i] + g if i in both else g
        return Parts(both)


class Output:
    """What an Op is for other nodes, for one of several outputs."""

    frees = False

    def __init__(self, name: str, index: int):
        self.name, self.index = name, index

    def lifted(self, node: Node, make: Callable) -> tuple:
        """Nothing is saved, so nothing is to be linked."""
        return node.formulas, node.saved


def output_of(node: Node, index: int, shape: tuple) -> Node:
    """Return the node of one of several outputs; it leads to the operation's node."""
    to_parts = lambda g: Parts({index: g})  # noqa: E731
    return Node(Output(node.name(), index), (to_parts,), (node,), ((),), shape)
