"""A network as a graph of its modules: each call of one is folded into one box.

Which module made a node does not stand in the graph. So a copy of the network runs once
on the input, and at the end of each module's `forward` the graph starts anew, with a
node that stands for the call. What is computed outside of its parts is drawn as usual.
"""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from minigrad.drawing.describe import Node, describe, graph_of
from minigrad.errors import kind
from minigrad.graph.node import AccumulateGrad
from minigrad.graph.recording import enable_grad
from minigrad.graph.tensor import Tensor
from minigrad.nn import Module
from minigrad.tensors import creation


def module_graph(model: Module, inputs: tuple, variables: dict) -> list[Node]:
    """Return the nodes of model(*inputs), labelled; nothing of the model changes.

    A module that another one calls is within the other's box. Raises TypeError unless
    the model returns one Tensor that was computed from inputs or parameters.
    """
    entries = {id(x): entry(x) for x in inputs if isinstance(x, Tensor)}
    fold, source = Fold(model), creation.generator().bit_generator
    state = source.state
    try:
        with enable_grad():
            out = fold.model(*(entries.get(id(x), x) for x in inputs))
    finally:
        source.state = state  # so that the random numbers to come are the same
    if not isinstance(out, Tensor) or out.edge is None:
        raise TypeError(f"draw(model, x) wants one Tensor as result; got {kind(out)}")
    given, names = list(entries.values()), dict(model.named_parameters()) | variables
    names = {name: entries.get(id(x), x) for name, x in names.items()}
    names["input"] = given[0] if len(given) == 1 else given
    root = names["output"] = fold.calls.get(out.edge, out.edge)
    nodes = graph_of(root, names, fold.tell)
    for node in nodes:
        node.idle = node.idle and all(parent.idle for parent, _ in node.edges)
    return nodes


def entry(x: Tensor) -> Tensor:
    """Return what stands for a tensor: a recorded leaf, whatever the dtype."""
    return Tensor(x.array, AccumulateGrad(x))


class Fold:
    """A model's twin, and the calls of its parts by the node of their result.

    Copied are the modules and their buffers; all else, the parameters too, is shared.
    """

    def __init__(self, model: Module):
        own = [item for part in model.modules() for item in vars(part).items()]
        kept = {id(x): x for name, x in own if name not in ("_modules", "_buffers")}
        self.model, self.calls = copy.deepcopy(model, kept), {}
        self.depth = 0  # of the calls that are running
        for name, part in list(self.model.named_modules())[1:]:
            vars(part)["forward"] = partial(self.call, name, part, part.forward)

    def call(self, name: str, part: Module, forward: Callable, *args, **kwargs) -> Any:
        """Return forward(*args, **kwargs), with a new graph if no other call runs."""
        self.depth += 1
        out = forward(*args, **kwargs)
        self.depth -= 1
        if self.depth:
            return out
        outs = out if isinstance(out, tuple) else (out,)
        with enable_grad():  # a clone may be written to, which a leaf may not
            outs = [entry(x).clone() if isinstance(x, Tensor) else x for x in outs]
        given = dict.fromkeys(edges_of([*args, *kwargs.values()]))
        node = describe_call(f"{name}: {kind(part)}", part, outs)
        node.edges = [(self.calls.get(edge, edge), None) for edge in given]
        self.calls |= dict.fromkeys(edges_of(outs), node)
        return tuple(outs) if isinstance(out, tuple) else outs[0]

    def tell(self, value: Any) -> Node:
        """Return the Node of a call, or of what was computed outside of all."""
        node = describe(value)
        node.edges = [(self.calls.get(x, x), None) for x, _ in node.edges]
        leaf = getattr(value, "variable", None)
        if leaf is not None and not leaf.requires_grad:  # an input, most often
            node.op = "constant"
        node.idle = node.kind != "leaf"
        return node


def edges_of(values: list) -> list:
    """Return the edges of those tensors among `values` that have one."""
    tensors = [x for x in values if isinstance(x, Tensor)]
    return [x.edge for x in tensors if x.edge is not None]


def describe_call(op: str, part: Module, outs: list) -> Node:
    """Return the Node of a call: its shapes, and how much in the part can learn."""
    sizes = [(p.array.size, p.requires_grad) for p in part.parameters()]
    total = sum(size for size, _ in sizes)
    learning = sum(size for size, learns in sizes if learns)
    note = f"{total:,} parameters" if total else ""
    if learning < total:
        note += f", {total - learning:,} frozen" if learning else ", frozen"
    shapes = ", ".join(str(x.shape) for x in outs if isinstance(x, Tensor))
    frozen = bool(total) and not learning
    return Node(shapes, op=op, note=note, frozen=frozen, idle=not learning)
