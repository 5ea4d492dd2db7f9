"""What a picture tells of a static graph: its steps, none of which has numbers yet."""

from typing import Any

import numpy as np

from minigrad.drawing.description import Node, describe, identity
from minigrad.drawing.tensors import shown
from minigrad.static.steps import Step
from minigrad.static.symbolic_arrays import Symbol


@describe.register
def _(symbol: Symbol) -> Node:
    return describe(symbol.step)


@identity.register
def _(symbol: Symbol) -> Any:
    return symbol.step


@describe.register
def _(step: Step) -> Node:
    if step.call == "constant":
        array = isinstance(step.value, np.ndarray)
        return Node(
            shown(step.value) if array else str(step.value), None, "constant", []
        )
    op = "" if step.call == "variable" else step.call.removeprefix("ndarray.")
    shape = "" if step.shape is None else str(step.shape)
    edges = [(argument, None) for argument in step.arguments]
    return Node(shape, None, op, edges, step.name)
