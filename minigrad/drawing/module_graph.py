"""A network as a graph of its modules, with one box for each call of a module.

The graph does not say which module made a node. So a copy of the network runs once on
the input. At the end of each module's `forward` the graph starts again, with a node
that represents the call. Operations outside of the parts are drawn as usual.
"""

import copy
from collections.abc import Callable
from functools import partial

from minigrad.drawing.describe import Box, describe, graph_of
from minigrad.errors import kind
from minigrad.graph.node import AccumulateGrad
from minigrad.graph.recording import enable_grad
from minigrad.graph.tensor import Tensor
from minigrad.nn import Module


def module_graph(model: Module, inputs: tuple, variables: dict) -> list[Box]:
    """Return the nodes of model(*inputs), labelled. Nothing of the model changes.

    If a module calls another module, the inner one is part of the outer one's box.
    """
    entries = {id(x): entry(x) for x in inputs if isinstance(x, Tensor)}
    fold = Fold(model)
    with enable_grad():
        out = fold.model(*(entries.get(id(x), x) for x in inputs))
    names = dict(model.named_parameters()) | variables
    names = {name: entries.get(id(x), x) for name, x in names.items()}
    given = list(entries.values())
    names["input"] = given[0] if len(given) == 1 else given
    names["output"] = root = fold.made_by(out)
    nodes = graph_of(root, names, fold.tell)
    for node in nodes:
        node.idle = node.idle and all(parent.idle for parent, _ in node.edges)
    return nodes


def entry(x: Tensor) -> Tensor:
    """Return a leaf that shares x's memory and records, even if x holds no floats."""
    return Tensor(x.array, AccumulateGrad(x))


class Fold:
    """A copy of a model. `calls` has the call of a part, by the node of its result.

    The modules and their buffers are copied. Everything else, including the parameters,
    is shared. The copy is in eval mode, so that it takes no random numbers.
    """

    def __init__(self, model: Module):
        own = [item for part in model.modules() for item in vars(part).items()]
        kept = {id(x): x for name, x in own if name not in ("_modules", "_buffers")}
        self.model, self.calls = copy.deepcopy(model, kept).eval(), {}
        for name, part in list(self.model.named_modules())[1:]:
            if hasattr(part, "forward"):  # a ModuleList has none
                vars(part)["forward"] = partial(self.call, name, part, part.forward)

    def call(self, name: str, part: Module, forward: Callable, *args, **kwargs):
        """Return forward(*args, **kwargs), with a new graph.

        The new graph leaves out the calls inside. It continues only from the module's
        own arguments.
        """
        out = forward(*args, **kwargs)
        if not isinstance(out, Tensor):
            return out
        with enable_grad():  # unlike a leaf, a clone may be written to
            new = entry(out).clone()
        given = [x for x in [*args, *kwargs.values()] if getattr(x, "edge", None)]
        origins = dict.fromkeys(map(self.made_by, given))
        size = sum(p.array.size for p in part.parameters())
        learns = any(p.requires_grad for p in part.parameters())
        node = Box(str(out.shape), op=f"{name}: {kind(part)}", idle=not learns)
        node.note = f"{size:,} parameters" + ", frozen" * (not learns) if size else ""
        node.frozen = size > 0 and not learns
        node.edges = [(origin, None) for origin in origins]
        self.calls[new.edge] = node
        return new

    def made_by(self, x):
        """Return the module call that made x, or else its edge, or x if it has none."""
        edge = getattr(x, "edge", None)
        return x if edge is None else self.calls.get(edge, edge)

    def tell(self, value) -> Box:
        """Return the Box of a call, or of an operation outside of all calls."""
        node = describe(value)
        node.edges = [(self.calls.get(x, x), None) for x, _ in node.edges]
        leaf = getattr(value, "variable", None)
        if leaf is not None and not leaf.requires_grad:  # usually an input
            node.op = "constant"
        node.idle = node.kind != "leaf"
        return node
