"""A network as a graph of its modules: each call of one is folded into one box.

Which module made a node does not stand in the graph. So the network runs once on the
input, with hooks that note which nodes were made during each call; nodes are numbered
in the order in which they are made. Frozen parameters are recorded, too, so that the
picture has what backward will not visit: it is grayed out.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from minigrad.drawing.description import Node, describe, graph_of
from minigrad.drawing.tensors import Forgotten
from minigrad.graph.node import AccumulateGrad
from minigrad.graph.recording import enable_grad
from minigrad.graph.saved_values import numbers
from minigrad.graph.tensor import Tensor, kind
from minigrad.nn import Module
from minigrad.rules.op import alias
from minigrad.tensors import creation


def module_graph(
    model: Module, inputs: tuple, variables: Mapping[str, Any]
) -> list[Node]:
    """Return the nodes of model(*inputs), labelled; nothing of the model changes.

    A module that another one calls is within the other's box. Raises TypeError unless
    the model returns one Tensor that was computed from inputs or parameters.
    """
    tensors = [*model.parameters(), *(x for x in inputs if isinstance(x, Tensor))]
    fold = Fold({id(x) for x in tensors if not x.requires_grad})
    entries = {id(x): entry(x) for x in inputs if isinstance(x, Tensor)}
    with rehearsal(model):
        out = fold.run(model, [entries.get(id(x), x) for x in inputs])
        if not isinstance(out, Tensor) or out.edge is None:
            raise TypeError(
                f"draw(model, x) wants one Tensor as result; got {kind(out)}"
            )
        given = list(entries.values())
        names = dict(model.named_parameters()) | dict(variables)
        names = {name: entries.get(id(x), x) for name, x in names.items()}
        names |= {"input": given[0] if len(given) == 1 else given}
        root = names["output"] = fold.box(out.edge)
        return grayed(graph_of(root, names, fold.describe))


def entry(x: Tensor) -> Tensor:
    """Return what stands for an input: it is recorded, whatever its dtype."""
    return Tensor(x.array, AccumulateGrad(x))


@contextmanager
def rehearsal(model: Module) -> Iterator[None]:
    """Record everything; afterwards all is as it was, the random numbers too."""
    edges = [(parameter, parameter.edge) for parameter in model.parameters()]
    arrays = [(buffer, buffer.array) for buffer in model.buffers()]
    source = creation.generator().bit_generator
    state = source.state
    try:
        for parameter, _ in edges:
            parameter.edge = AccumulateGrad(parameter)
        for buffer, array in arrays:
            buffer.array = array.copy()
        with enable_grad():
            yield
    finally:
        source.state = state
        for parameter, edge in edges:
            parameter.edge = edge
        for buffer, array in arrays:
            buffer.array = array


@dataclass(eq=False)
class Call:
    """One call of a module; the nodes made during it have numbers in its range."""

    name: str
    module: Module
    start: int
    stop: int = 0
    given: tuple = ()
    returned: tuple = ()

    def made(self, edge: Any) -> bool:
        """Return whether `edge` belongs to a node that was made during the call."""
        return self.start < edge.number < self.stop

    def used(self) -> list[Any]:
        """Return the edges of all that it used, its arguments first, each once."""
        used, seen, to_visit = dict.fromkeys(edges_of(self.given)), set(), []
        to_visit += edges_of(self.returned)
        while to_visit:
            edge = to_visit.pop()
            if not self.made(edge):
                used[edge] = None
            elif edge not in seen:
                seen.add(edge)
                to_visit += [x for x in reversed(edge.targets) if x is not None]
        return list(used)


def edges_of(values: tuple) -> list[Any]:
    """Return the edges of the tensors among `values` that have one."""
    tensors = [x for x in values if isinstance(x, Tensor)]
    return [x.edge for x in tensors if x.edge is not None]


class Fold:
    """Which nodes are in which box, and which boxes no gradient will come to."""

    def __init__(self, frozen: set[int]):
        self.frozen = frozen  # the ids of the tensors that do not require grad
        self.calls: list[Call] = []
        self.depth = 0  # of the calls that are running

    def run(self, model: Module, inputs: list) -> Any:
        """Return model(*inputs), noting the calls of its parts."""
        hooks = []
        for name, part in list(model.named_modules())[1:]:
            hooks.append(part.register_forward_pre_hook(partial(self.before, name)))
            hooks.append(part.register_forward_hook(self.after))
        try:
            return model(*inputs)
        finally:
            for hook in hooks:
                hook.remove()

    def before(self, name: str, module: Module, given: tuple) -> None:
        """Note the start of a call."""
        if not self.depth:
            self.calls.append(Call(name, module, next(numbers), given=given))
        self.depth += 1

    def after(self, module: Module, given: tuple, out: Any) -> Any:
        """Note the end of a call, which makes a node even if it returns its input."""
        self.depth -= 1
        if self.depth:
            return None
        outs = out if isinstance(out, tuple) else (out,)
        outs = tuple(alias(x) if isinstance(x, Tensor) else x for x in outs)
        self.calls[-1].stop, self.calls[-1].returned = next(numbers), outs
        return outs if isinstance(out, tuple) else outs[0]

    def box(self, value: Any) -> Any:
        """Return the call that made a node, or the value itself."""
        if isinstance(value, Tensor | Call | Forgotten):
            return value
        return next((call for call in self.calls if call.made(value)), value)

    def describe(self, value: Any) -> Node:
        """Return the Node of a call, or of what was computed outside of all."""
        if isinstance(value, Call):
            return self.describe_call(value)
        node = describe(value)
        node.edges = [(self.box(parent), None) for parent, _ in node.edges]
        if id(getattr(value, "variable", None)) in self.frozen:
            node.op, node.grad = "constant", None
        return node

    def describe_call(self, call: Call) -> Node:
        """Return the Node of a call: what it used, and how much in it can learn."""
        own = list(call.module.parameters())
        inside = {parameter.edge for parameter in own}
        used = dict.fromkeys(self.box(x) for x in call.used() if x not in inside)
        shapes = ", ".join(str(x.shape) for x in call.returned if isinstance(x, Tensor))
        op = f"{call.name}: {kind(call.module)}"
        node = Node(shapes, None, op, [(parent, None) for parent in used])
        if own:
            node.learns = any(id(parameter) not in self.frozen for parameter in own)
            node.about = self.count(own)
        return node

    def count(self, parameters: list[Tensor]) -> str:
        """Return how many numbers there are to learn, and how many of them cannot."""
        total = sum(p.array.size for p in parameters)
        fixed = sum(p.array.size for p in parameters if id(p) in self.frozen)
        some = f"{fixed:,} frozen" if fixed < total else "frozen"
        return f"{total:,} parameters" + (f", {some}" if fixed else "")


def grayed(nodes: list[Node]) -> list[Node]:
    """Mark what no gradient will come to: nothing before it, or in it, can learn."""
    for node in nodes:
        learns = node.learns or node.kind == "leaf"
        node.idle = not learns and all(parent.idle for parent, _ in node.edges)
        node.inline = node.kind == "result" and node is not nodes[-1]
    return nodes
