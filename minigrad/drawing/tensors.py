"""What a picture tells of Tensors: all that their graph still knows.

The graph links to nodes, not to results: of a result that nobody holds any more it
knows the shape alone. A constant is known as long as a formula has it saved.
"""

import re
from collections.abc import Iterable
from typing import Any

from numpy import ndarray

from minigrad.drawing.description import (
    Node,
    describe,
    identity,
    members,
    memory,
    number,
)
from minigrad.graph import node as graph_node
from minigrad.graph.saved_values import storage
from minigrad.graph.tensor import Tensor
from minigrad.nn import Module

FEW = 4  # numbers that are shown; of more, the shape


def shown(array: ndarray) -> str:
    """Return a few numbers as they are, and of more their shape."""
    return nested(array.tolist()) if 0 < array.size <= FEW else str(array.shape)


def nested(values: Any) -> str:
    """Return lists of numbers as text, with four digits each."""
    if isinstance(values, list):
        return f"[{', '.join(map(nested, values))}]"
    return number(values) if isinstance(values, float) else str(values)


@describe.register
def _(tensor: Tensor) -> Node:
    if not isinstance(tensor.array, ndarray):  # a symbol in a static graph
        return describe(tensor.array)
    node = Node("", None, "constant", [])
    if tensor.edge is not None:
        node = describe(tensor.edge)
    node.value = shown(tensor.array)
    node.grad = None if tensor._grad is None else shown(tensor._grad.array)
    return node


@describe.register
def _(end: graph_node.AccumulateGrad) -> Node:
    leaf = end.variable
    if leaf is None:
        return Node(str(end.shape), None, "", [])
    grad = None if leaf.grad is None else shown(leaf.grad.array)
    return Node(shown(leaf.array), grad, "", [])


@describe.register
def _(node: graph_node.Node) -> Node:
    op = re.sub(r"Backward\d*$", "", node.name())
    shape = "(...)" if node.shape is None else str(node.shape)  # of several outputs
    return Node(shape, None, op, [(x, None) for x in arguments(node)])


class Forgotten:
    """A constant that no formula has saved, or no longer."""


@describe.register
def _(constant: Forgotten) -> Node:
    return Node("constant", None, "constant", [])


def arguments(node: graph_node.Node) -> list[Any]:
    """Return what the graph knows of the arguments: nodes, and constants.

    Operations on two tensors need both. Of more, such as a layer's weight and bias, one
    that is neither linked to nor saved may never have been given.
    """
    if len(node.targets) != len(getattr(node.op, "arguments", ())):  # lists among them
        return [target for target in node.targets if target is not None]
    known, found = saved_arguments(node), []
    for target, name in zip(node.targets, node.op.arguments):
        if target is not None:
            found.append(target)
        elif isinstance(known.get(name), ndarray):
            found.append(Tensor(known[name]))
        elif len(node.targets) <= 2:
            found.append(Forgotten())
    return found


def saved_arguments(node: graph_node.Node) -> dict[str, Any]:
    """Return what the formulas of `node` have saved, by name; nothing once it is gone.

    An operation with a plain composition has saved all its arguments besides.
    """
    known, saved = {}, node.saved or ()
    for names, values in zip(node.op.names, saved):
        known |= zip(names, values or ())
    if node.op.plain and saved:
        known |= zip(node.op.parameters, saved[-1])
    return known


@identity.register
def _(tensor: Tensor) -> Any:
    if not isinstance(tensor.array, ndarray):
        return identity(tensor.array)
    return tensor.array if tensor.edge is None else tensor.edge


@memory.register
def _(tensor: Tensor) -> ndarray:
    return storage(tensor.array)


@members.register
def members_of_module(module: Module) -> Iterable[tuple[str, Any]]:
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [("", module), *((f".{name}", tensor) for name, tensor in tensors)]
