"""Pictures of graphs: which value feeds which operation, and how blame runs back.

    draw(loss)                  with the names that your variables have
    draw(loss, w=w, b=b)        with names that you give
    draw_backward(loss)         the backward pass, one step a frame, under a slider
    draw(model, x)              what a network does with x, each module in one box
    draw_nodes(loss)            only what `grad_fn` and `next_functions` tell

A blue box is a leaf, a dashed gray one a constant, a rounded box an operation, and a
plain box its result. Arrows run forward and carry the local slope; after `backward`,
dashed orange arrows run back, each with `local · upstream = share`. Arrows between
Tensors carry nothing, since their slopes are matrices. Scissors stand between a
constant and the variable that `detach()` cut it off from. Of a network, dashed is what
no gradient comes to, and what is frozen.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad.drawing import static_graphs, tensors  # noqa: F401, so that draw knows them
from minigrad.drawing.description import (
    Node,
    cuts_among,
    describe_node,
    graph_of,
    number,
)
from minigrad.drawing.modules import module_graph
from minigrad.drawing.rendering import CannotRender, image, slider, to_svg
from minigrad.drawing.style import (
    ARROW,
    BACK,
    BOX,
    GRAPH,
    HIDDEN,
    KINDS,
    NOW,
    OPERATION,
    WORDS,
    escape,
    width,
)
from minigrad.drawing.tensor_layout import dot_of_nodes, dot_of_tensors, has_tensors
from minigrad.nn import Module


@dataclass
class Moment:
    """How far a backward pass has come."""

    grads: list[float | str | None]
    passed: list[Node] | None  # results that passed their grad on; None before it all
    caption: str = ""


def product(local: float, upstream: float) -> str:
    """Return what an orange arrow carries."""
    return f"{number(local)} · {number(upstream)} = {number(local * upstream)}"


def variables_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables that code in `frame` can use, its own first."""
    everything = frame.f_locals | (frame.f_globals | frame.f_locals)
    return {k: v for k, v in everything.items() if k.isidentifier() and k[0] != "_"}


def moments(nodes: list[Node]) -> list[Moment]:
    """Return the states of the backward pass from the last node, one for each step."""
    grads, passed = [0.0] * len(nodes), []
    grads[-1] = 1.0
    start = f"Start: the grad of {nodes[-1].label} is 1, all others are 0."
    states = [Moment(grads.copy(), [], start)]
    for node in reversed([node for node in nodes if node.edges]):
        passed.append(node)
        shares = " and ".join(pass_on(node, grads))
        caption = f"Step {len(passed)}: {node.op}, which made {node.label}, passes "
        states.append(Moment(grads.copy(), passed.copy(), f"{caption}{shares}."))
    return states


def pass_on(node: Node, grads: list[float]) -> list[str]:
    """Add to `grads` what node's parents get, and return that in words."""
    words, upstream = [], grads[node.place]
    for parent, slope in node.edges:
        if parent.kind != "constant":
            before = grads[parent.place]
            grads[parent.place] += slope * upstream
            now = f" (now {number(grads[parent.place])})" if before else ""
            words.append(f"{product(slope, upstream)} to {parent.label}{now}")
    return words


def dot(nodes: list[Node], moment: Moment, film: list[Moment]) -> str:
    """Return one moment in DOT, laid out like all others of its film."""
    import graphviz

    graph = graphviz.Digraph(graph_attr=GRAPH, node_attr=BOX, edge_attr=ARROW)
    now = moment.passed[-1] if moment.passed and len(film) > 1 else None
    for node in nodes:
        look = NOW if node is now else {}
        rows = [escape(row) for row in node.rows(moment.grads[node.place])]
        label = "|".join(
            f"<{port}> {row}" for port, row in zip("vg", rows, strict=False)
        )
        texts = "\n".join(row for m in film for row in node.rows(m.grads[node.place]))
        room = {"width": f"{max(map(width, texts.splitlines())):.2f}"}
        graph.node(f"n{node.place}", label, **KINDS[node.kind] | room | look)
        if node.edges:
            graph.node(f"op{node.place}", escape(node.op), **OPERATION | look)
            add_arrows(graph, node, moment, film[-1].grads[node.place])
    return graph.source


def add_arrows(graph: Any, node: Node, moment: Moment, upstream: float) -> None:
    """Add what runs into the operation that made `node`, out of it, and back.

    What an arrow carries is a node of its own, so that no line runs through it.
    """
    op, result, passed = f"op{node.place}", f"n{node.place}", moment.passed
    back = BACK if passed and node in passed else BACK | HIDDEN
    for i, (parent, slope) in enumerate(node.edges):
        tail, words = f"n{parent.place}", f"{op}_{i}"
        if parent.kind == "constant" or passed is not None:
            graph.edge(f"{tail}:v:e", op)
        else:
            graph.node(words, number(slope), **WORDS)
            graph.edge(f"{tail}:v:e", words, dir="none")
            graph.edge(words, op)
        if parent.kind != "constant" and passed is not None:
            text = product(slope, upstream)
            short = text if len(text) < 16 else text.replace(" =", "\n=")
            graph.node(words, short, **WORDS | back)
            graph.edge(f"{tail}:g:e", words, **back)
            graph.edge(words, op, **back | {"dir": "none"})
    graph.edge(op, f"{result}:v:w")
    if passed is not None:
        graph.edge(op, f"{result}:g:w", **back)


class Drawing:
    """A picture that shows itself in a notebook, and as text elsewhere."""

    def __init__(self, nodes: list[Node], film: list[Moment]):
        self._nodes, self._film = nodes, film

    def __repr__(self) -> str:
        *others, root = self._nodes
        told = [node for node in others if node.kind != "constant" or node.is_named]
        return "\n".join(node.line() for node in [*told, root])

    @property
    def source(self) -> str:
        """The picture in DOT, the language of Graphviz."""
        return dot(self._nodes, self._film[-1], self._film)

    def save(self, path: str | Path) -> None:
        """Write the picture to an .svg file; raises CannotRender without Graphviz."""
        if Path(path).suffix != ".svg":
            raise ValueError(f"a drawing is saved as .svg; {path} ends otherwise")
        Path(path).write_text(to_svg(self.source), encoding="utf-8")

    def _html(self) -> str:
        return image(self.source, repr(self).replace("\n", "; "))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        try:
            return {"text/html": self._html(), "text/plain": repr(self)}
        except (CannotRender, ImportError) as reason:
            return {"text/plain": f"{self!r}\n\n{reason}"}


class BackwardDrawing(Drawing):
    """The frames of a backward pass under a slider; the last one is its picture."""

    def __repr__(self) -> str:
        return "\n".join(moment.caption for moment in self._film)

    def _html(self) -> str:
        sources = [dot(self._nodes, moment, self._film) for moment in self._film]
        return slider(sources, [moment.caption for moment in self._film])


class TensorDrawing(Drawing):
    """A graph of Tensors, or of a network's modules."""

    def __init__(self, nodes: list[Node]):
        super().__init__(nodes, [])

    @property
    def source(self) -> str:
        """The picture in DOT."""
        return dot_of_tensors(self._nodes)


class NodesDrawing(TensorDrawing):
    """The nodes of a graph by themselves, linked as backward walks through them."""

    def __repr__(self) -> str:
        root_first = self._nodes[::-1]
        often, met, names = Counter(n.label for n in root_first), Counter(), {}
        for node in root_first:
            names[node] = node.label.replace("\n", " of ")
            if often[node.label] > 1 and node.kind != "constant":
                met[node.label] += 1
                names[node] += f" #{met[node.label]}"
        links = [", ".join(names[p] for p, _ in node.edges) for node in root_first]
        lines = [f"{names[n]} -> {to}" for n, to in zip(root_first, links) if to]
        return "\n".join(lines) or names[root_first[0]]

    @property
    def source(self) -> str:
        """The picture in DOT."""
        return dot_of_nodes(self._nodes)


def draw(root: Any, /, *inputs: Any, **names: Any) -> Drawing:
    """Draw everything that `root` depends on; or model(x), by draw(model, x).

    Boxes are labelled with `names`, or without any with the caller's variables. Raises
    TypeError for what cannot be drawn; of too large a graph it shows the size.
    """
    variables = names or variables_of(sys._getframe(1))
    if isinstance(root, Module) and inputs:
        nodes = module_graph(root, inputs, variables)
    elif isinstance(root, Module) or inputs:
        raise TypeError("draw shows what a module does with an input: draw(model, x)")
    else:
        nodes = graph_of(root, variables, cuts_among(variables))
    if has_tensors(nodes):
        return TensorDrawing(nodes)
    passed = [node for node in nodes if node.edges] if nodes[-1].grad else None
    return Drawing(nodes, [Moment([node.grad for node in nodes], passed)])


def draw_backward(root: Any, /, **names: Any) -> Drawing:
    """Draw the backward pass from `root` step by step; no grad of the graph changes."""
    nodes = graph_of(root, names or variables_of(sys._getframe(1)))
    if has_tensors(nodes):
        raise TypeError("draw_backward shows Values; draw shows a Tensor's gradients")
    if not nodes[-1].edges:  # nothing to pass on
        return Drawing(nodes, [Moment([node.grad for node in nodes], None)])
    return BackwardDrawing(nodes, moments(nodes))


def draw_nodes(root: Any, /, **names: Any) -> Drawing:
    """Draw the nodes behind a result, or a `grad_fn`, as `next_functions` link them.

    PyTorch's can be drawn, too: only `name()` and `next_functions` are used.
    """
    root = getattr(root, "grad_fn", root)
    if not hasattr(root, "next_functions"):
        raise TypeError(
            "draw_nodes shows what has a grad_fn: a leaf or a number has none"
        )
    nodes = graph_of(root, names or variables_of(sys._getframe(1)), describe_node)
    for node in nodes:
        if node.kind == "leaf" and node.label[0] != "#":
            node.label = f"{node.about}\n{node.label}"
        elif node.kind != "constant":
            node.label = node.about
    return NodesDrawing(nodes)
