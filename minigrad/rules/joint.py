"""Gradients that PyTorch computes in one function, and that depend on all it is given.

The backward of a convolution is such a function: of the gradient, the input and the
weight. With create_graph each of its results requires grad if one of the three does,
though it may not move with it: the slope of relu does not move with its input. A
formula leads only to what it names; `join` ties it to the others, by zeros.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.array.dtypes import zeros
from minigrad.graph.node import Node
from minigrad.rules.op import Op
from minigrad.rules.pointwise import relu


def zero(a):
    """Return 0, whatever the numbers are."""
    return np.zeros((), a.dtype)


flat = Op(  # PyTorch's gradient is zeros
    "Zero", zero, a=lambda g, shape: np.broadcast_to(np.zeros_like(g), shape)
)
unused = Op("Zero", zero, a=lambda g: None)  # PyTorch's is None


def join(op: Op, *given: str, tie: Op = flat) -> None:
    """Tie each gradient of `op` to those arguments that PyTorch's backward is given."""
    apart = op.lifted

    def lifted(node: Node, make: Callable) -> tuple:
        formulas, saved = apart(node, make)
        pairs = zip(op.arguments, node.targets)
        ends = [to for name, to in pairs if to and name in given]

        def joined(formula: Callable, g: Any, *values: Any) -> Any:
            nothing = (tie(make(zeros(to.shape, g.array), to)) for to in ends)
            return sum(nothing, formula(g, *values))

        return [partial(joined, formula) for formula in formulas], saved

    op.lifted = lifted


same = Op("Alias", lambda a: a, a=lambda g: g)  # for functions of several operations
join(same, "a")
join(relu, "a")
