"""What a picture tells of Tensors: all that their graph still knows.

The graph links to nodes, not to results: of a result that nobody holds any more it
knows the shape alone. A constant is known as long as a formula has it saved. A static
graph has no numbers at all: its steps have names and shapes.
"""

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from numpy import ndarray

from minigrad.drawing.describe import (
    Node,
    describe,
    identity,
    known,
    members,
    memory,
    number,
)
from minigrad.graph import node as graph_node
from minigrad.graph.saved_values import storage
from minigrad.graph.tensor import Tensor
from minigrad.nn import Module
from minigrad.static.steps import Step

FEW = 4  # numbers that are shown; of more, the shape


def shown(array: Any) -> str:
    """Return a few numbers as they are, and of more their shape."""
    few = 0 < math.prod(array.shape) <= FEW
    return number(array.tolist()) if few else str(tuple(array.shape))


def with_numbers(node: Node, tensor: Any) -> Node:
    """Return the node with what a tensor, ours or PyTorch's, itself knows."""
    keeps_grad = tensor.is_leaf or tensor.retains_grad  # asked for another's, both warn
    grad = tensor.grad if keeps_grad else None
    node.value, node.grad = shown(tensor), None if grad is None else shown(grad)
    return node


def operation(node: Any) -> str:
    """Return what a node computes: Mul for MulBackward0."""
    return re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])


@describe.register
def _(tensor: Tensor) -> Node:
    if not isinstance(tensor.array, ndarray):
        return describe(tensor.array.step)
    node = Node("", op="constant") if tensor.edge is None else describe(tensor.edge)
    return with_numbers(node, tensor)


@describe.register
def _(end: graph_node.AccumulateGrad) -> Node:
    node = Node(str(end.shape))
    return node if end.variable is None else with_numbers(node, end.variable)


@describe.register
def _(node: graph_node.Node) -> Node:
    shape = "(...)" if node.shape is None else str(node.shape)  # of several outputs
    return Node(shape, op=operation(node), edges=arguments(node))


@describe.register
def _(step: Step) -> Node:
    if step.call == "constant":
        array = isinstance(step.value, ndarray)
        return Node(shown(step.value) if array else str(step.value), op="constant")
    op = "" if step.call == "variable" else step.call.removeprefix("ndarray.")
    shape = "" if step.shape is None else str(step.shape)
    edges = [(argument, None) for argument in step.arguments]
    return Node(shape, op=op, edges=edges, label=step.name)


def arguments(node: graph_node.Node) -> list[tuple[Any, None]]:
    """Return edges to the arguments: nodes, and constants that a formula has saved."""
    names = getattr(node.op, "formulas", ())
    if len(names) != len(node.targets):  # a list of tensors is one argument
        return [(target, None) for target in node.targets if target is not None]
    arrays = [(node.saved or {}).get(name) for name in names]
    constants = [Tensor(x) if isinstance(x, ndarray) else None for x in arrays]
    return known(zip(node.targets, constants))


@identity.register
def _(tensor: Tensor) -> Any:
    if not isinstance(tensor.array, ndarray):
        return tensor.array.step
    return tensor.array if tensor.edge is None else tensor.edge


memory.register(Tensor, lambda tensor: storage(tensor.array))


@members.register
def members_of_module(module: Module) -> Iterable[tuple[str, Any]]:
    with suppress(AttributeError):  # an __init__ did not call super().__init__()
        tensors = [*module.named_parameters(), *module.named_buffers()]
        return [(f".{name}", tensor) for name, tensor in tensors]
    return []
