"""Lets `draw` draw PyTorch's own tensors: import this module, then draw(torch_tensor).

Nothing else in minigrad needs PyTorch. Its graph has the words that ours has:
`grad_fn`, `next_functions`, `name()`. A node keeps what its formula names under
`_saved_self`, `_saved_other`, ..., and the shape of each result in `_input_metadata`.
"""

import re
from typing import Any

from minigrad.drawing.description import Node, describe, identity, members, memory
from minigrad.drawing.tensors import FEW, Forgotten, members_of_module, nested

try:
    import torch
    from torch.autograd import graph
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "To draw PyTorch's graphs, PyTorch has to be there, and this Python lacks it. "
        "In a notebook `%pip install torch` installs it; then restart the kernel.",
        name=missing.name,
    ) from None

# What PyTorch calls the arguments of a node that has so many, one after the other.
ARGUMENTS = {
    2: [("self",), ("other", "mat2", "vec", "tensor", "exponent", "target")],
    3: [("self", "input"), ("mat1", "batch1", "weight"), ("mat2", "batch2", "bias")],
}


def shown(tensor: torch.Tensor) -> str:
    """Return a few numbers as they are, and of more their shape."""
    few = 0 < tensor.numel() <= FEW and not tensor.is_meta
    return nested(tensor.tolist()) if few else str(tuple(tensor.shape))


@describe.register
def _(tensor: torch.Tensor) -> Node:
    node = Node("", None, "constant", [])
    if tensor.requires_grad:
        node = describe(graph.get_gradient_edge(tensor))
    node.value = shown(tensor)
    if tensor.is_leaf or tensor.retains_grad:  # of others PyTorch warns
        node.grad = None if tensor.grad is None else shown(tensor.grad)
    return node


@describe.register
def _(edge: graph.GradientEdge) -> Node:
    node = edge.node
    if hasattr(node, "variable"):  # an AccumulateGrad
        leaf = node.variable
        grad = None if leaf.grad is None else shown(leaf.grad)
        return Node(shown(leaf), grad, "", [])
    op = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
    shape = str(tuple(node._input_metadata[edge.output_nr].shape))
    return Node(shape, None, op, [(x, None) for x in arguments(node)])


@describe.register
def _(node: graph.Node) -> Node:
    return describe(graph.GradientEdge(node, 0))


def arguments(node: graph.Node) -> list[Any]:
    """Return what the graph knows of the arguments: edges, and constants.

    Operations on two tensors need both. Of more, such as a layer's weight and bias, one
    that is neither linked to nor saved may never have been given.
    """
    targets, found = node.next_functions, []
    names = ARGUMENTS.get(len(targets), [()] * len(targets))
    for (target, index), known_as in zip(targets, names):
        values = [saved(node, name) for name in known_as]
        constants = [value for value in values if isinstance(value, torch.Tensor)]
        if target is not None:
            found.append(graph.GradientEdge(target, index))
        elif constants:
            found.append(constants[0])
        elif len(targets) <= 2:
            found.append(Forgotten())
    exponent = saved(node, "exponent")
    if isinstance(exponent, int | float):  # a number has no edge
        found.append(torch.tensor(exponent))
    return found


def saved(node: graph.Node, name: str) -> Any:
    """Return what `node` has saved under a name; None if that is gone or changed."""
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


# PyTorch makes a Python object of a node at each look, and forgets it again. What stays
# is the node's dictionary of notes, and the tensor of an AccumulateGrad.


@identity.register
def _(tensor: torch.Tensor) -> Any:
    if tensor.grad_fn is None:
        return vars(tensor)
    return identity(graph.get_gradient_edge(tensor))


@identity.register
def _(edge: graph.GradientEdge) -> Any:
    if hasattr(edge.node, "variable"):
        return vars(edge.node.variable)
    return edge.node.metadata.setdefault(f"output {edge.output_nr}", object())


@identity.register
def _(node: graph.Node) -> Any:
    return identity(graph.GradientEdge(node, 0))


@memory.register
def _(tensor: torch.Tensor) -> Any:
    return tensor.untyped_storage() if tensor.layout is torch.strided else tensor


members.register(torch.nn.Module, members_of_module)
