"""Lets `draw` draw PyTorch's own tensors, after `import minigrad.drawing.pytorch`.

Nothing else in minigrad needs PyTorch. Its graph uses the same words as ours:
`grad_fn`, `next_functions`, `name()`. A node keeps the values that its formula names
under `_saved_self`, `_saved_other`, ..., and the shape of each result in
`_input_metadata`.
"""

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.autograd.graph import Node as GraphNode

from minigrad.drawing import describe as ours

# PyTorch's names for the arguments of a node, by how many it has.
ARGUMENTS = {
    2: [("self",), ("other", "mat2", "vec", "tensor", "exponent", "target")],
    3: [("self", "input"), ("mat1", "batch1", "weight"), ("mat2", "batch2", "bias")],
}


@ours.describe.register
def _(tensor: torch.Tensor) -> ours.Box:
    edge = get_gradient_edge(tensor) if tensor.requires_grad else ours.constant("")
    return ours.with_numbers(ours.describe(edge), tensor)


@ours.describe.register
def _(edge: GradientEdge) -> ours.Box:
    node = edge.node
    if hasattr(node, "variable"):  # an AccumulateGrad
        return ours.with_numbers(ours.Box(""), node.variable)
    shape = str(tuple(node._input_metadata[edge.output_nr].shape))
    return ours.Box(shape, op=ours.operation(node), edges=arguments(node))


def arguments(node: GraphNode) -> list[tuple]:
    """Return edges to the arguments: nodes, and constants that PyTorch has saved."""
    names = ARGUMENTS.get(len(node.next_functions), [()] * len(node.next_functions))
    kept, found = dict(ours.saved_by(node) or []), []
    for (target, index), known_as in zip(node.next_functions, names):
        constants = [kept[name] for name in known_as if name in kept]
        came_from = target and GradientEdge(target, index)
        found.append((came_from, constants[0] if constants else None))
    if node.name() == "PowBackward0":  # its exponent is a number, which has no edge
        found.append((None, torch.tensor(node._saved_exponent)))
    return ours.known(found)


@ours.saved_by.register
def _(node: GraphNode) -> list[tuple] | None:
    names = [name for name in dir(node) if name.startswith("_saved_")]
    try:
        values = [(name[7:], getattr(node, name)) for name in names]
    except RuntimeError:
        return None
    lists = [(name, x if isinstance(x, tuple | list) else [x]) for name, x in values]
    return [(n, x) for n, some in lists for x in some if isinstance(x, torch.Tensor)]


@ours.memory_of.register
def _(tensor: torch.Tensor) -> tuple[int, int]:
    memory = tensor.untyped_storage()
    return memory.data_ptr(), memory.nbytes()


# PyTorch makes a new Python object whenever a node is asked for. Only the node's
# dictionary of notes and the tensor of an AccumulateGrad stay the same.


@ours.identity.register
def _(edge: GradientEdge):
    if hasattr(edge.node, "variable"):
        return vars(edge.node.variable)
    return edge.node.metadata.setdefault(f"output {edge.output_nr}", object())


@ours.identity.register
def _(tensor: torch.Tensor):
    return vars(tensor) if tensor.is_leaf else ours.identity(get_gradient_edge(tensor))


ours.describe.register(GraphNode, lambda node: ours.describe(GradientEdge(node, 0)))
ours.identity.register(GraphNode, lambda node: ours.identity(GradientEdge(node, 0)))
