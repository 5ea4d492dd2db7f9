"""Pictures of graphs: which value feeds which operation, and how blame runs back.

    draw(loss)                  with the names that your variables have
    draw(loss, w=w, b=b)        with names that you give
    draw_backward(loss)         the backward pass, one step a frame, under a slider
    draw(model, x)              what a network does with x, each module in one box
    draw_nodes(loss)            only what `grad_fn` and `next_functions` tell

A blue box is a leaf, a dashed grey one a constant, a rounded box an operation, and a
plain box its result. Arrows run forward and carry the local slope; after `backward`,
dashed orange arrows run back, each with `local · upstream = product`. Arrows between
Tensors carry nothing, since their slopes are matrices. Of a network, grey is what no
gradient comes to, and frozen parameters.
"""

import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad import draw_tensor  # noqa: F401, so that draw knows Tensors
from minigrad.draw_graph import Node, graph_of, number
from minigrad.draw_module import module_graph
from minigrad.nn import Module
from minigrad.render import CannotRender, image, slider, to_svg

WIDE = 9.0  # inches that a row of boxes may take; a longer one becomes a column
INK, GREY, BLUE, ORANGE = "#333333", "#6B6B6B", "#0072B2", "#B84A00"
FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11", "fontcolor": INK}
GRAPH = {"rankdir": "LR", "ranksep": "0.17", "nodesep": "0.2", "bgcolor": "white"}
BOX = FONT | {"shape": "record", "color": INK, "height": "0.3", "margin": "0.06,0.03"}
ARROW = {"color": INK, "arrowsize": "0.6"}
WORDS = {"shape": "plaintext", "fontsize": "10", "width": "0", "height": "0"}
KINDS = {
    "leaf": {"style": "filled", "fillcolor": "#D6E8F5", "color": BLUE},
    "constant": {"style": "dashed", "color": GREY, "fontcolor": GREY},
    "result": {"style": "filled", "fillcolor": "white"},
}
ROUND = {"style": "rounded,filled", "width": "0.5"}
OPERATION = ROUND | {"fillcolor": "#F0F0F0", "color": GREY}
GREYED = {"style": "rounded,dashed", "color": GREY, "fontcolor": GREY}
GRADIENT = {"fillcolor": "#FFF1E5", "color": ORANGE}
NOW = {"fillcolor": "#FFE2CC", "color": ORANGE, "penwidth": "2"}
BACK = {"dir": "back", "style": "dashed", "color": ORANGE, "fontcolor": ORANGE}
HIDDEN = {"style": "invis"}  # it takes the same room, so that all frames are alike


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


def escape(text: str) -> str:
    """Guard what Graphviz would take for an entity, or for the fields of a record."""
    safe = re.sub(r"([\\{}|<>])", r"\\\1", text.replace("&", "&amp;"))
    return safe.replace("\n", r"\n")


def width(text: str) -> float:
    """Return the inches that `text` needs in a wide font; Korean letters count twice.

    Graphviz cannot know which font a browser will take.
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return 0.085 * (len(text) + wide) + 0.12


def dot(nodes: list[Node], moment: Moment, film: list[Moment]) -> str:
    """Return one moment in DOT, laid out like all others of its film."""
    import graphviz

    tensors, upright = have_no_slopes(nodes), is_long(nodes)
    shape = GRAPH | {"rankdir": "TB"} if upright else GRAPH
    graph = graphviz.Digraph(graph_attr=shape, node_attr=BOX, edge_attr=ARROW)
    now = moment.passed[-1] if moment.passed and len(film) > 1 else None
    for node in nodes:
        look = NOW if node is now else {}
        rows = [escape(row) for row in node.rows(moment.grads[node.place])]
        label = "|".join(
            f"<{port}> {row}" for port, row in zip("vg", rows, strict=False)
        )
        texts = "\n".join(row for m in film for row in node.rows(m.grads[node.place]))
        room = {"width": f"{max(map(width, texts.splitlines())):.2f}"}
        kind = "constant" if node.idle else node.kind
        graph.node(f"n{node.place}", label, **KINDS[kind] | room | look)
        if node.kind == "result":
            grey = GREYED if node.idle or node.learns is False else {}
            graph.node(f"op{node.place}", made_by(node), **OPERATION | grey | look)
            if tensors:
                add_links(graph, node, moment.passed or [], "ns" if upright else "we")
            else:
                add_arrows(graph, node, moment, film[-1].grads[node.place])
    return graph.source


def made_by(node: Node) -> str:
    """Return the text of an operation's box; a long name is broken at a capital."""
    words = re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", node.op) if len(node.op) > 18 else []
    half = len(words) // 2
    name = "".join(words[:half]) + "\n" + "".join(words[half:]) if half else node.op
    return escape("\n".join(filter(None, [name, node.about.replace(", ", "\n")])))


def have_no_slopes(nodes: list[Node]) -> bool:
    """Return whether it is a graph of Tensors."""
    return any(slope is None for node in nodes for _, slope in node.edges)


def is_long(nodes: list[Node]) -> bool:
    """Return whether a row of all boxes would be too small to read on a page."""
    ends: list[float] = []
    for node in nodes:
        room = max(map(width, node.rows(node.grad)))
        if node.kind == "result":
            room += max(map(width, made_by(node).split(r"\n"))) + 0.34  # two arrows
        ends.append(room + max((ends[p.place] for p, _ in node.edges), default=0))
    return have_no_slopes(nodes) and max(ends) > WIDE


def add_links(graph: Any, node: Node, passed: list[Node], sides: str) -> None:
    """Add the arrows around the operation that made a tensor; they carry nothing."""
    op, (into, out) = f"op{node.place}", sides

    def end(other: Node, row: str, side: str) -> str:
        return f"n{other.place}:{row}:{side}"

    for parent, _ in node.edges:
        grey = {"color": GREY} if parent.idle else {}
        graph.edge(end(parent, "v", out), op, **grey)
        if node in passed and (parent.grad or parent in passed):
            graph.edge(end(parent, "g" if parent.grad else "v", out), op, **BACK)
    graph.edge(op, end(node, "v", into), **{"color": GREY} if node.idle else {})
    if node in passed:
        graph.edge(op, end(node, "g" if node.grad else "v", into), **BACK)


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
        told = [n for n in self._nodes if n.kind != "constant" or n is self._nodes[-1]]
        return "\n".join(node.line() for node in told)

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


class NodesDrawing(Drawing):
    """The nodes of a graph by themselves, as backward walks through them."""

    def __repr__(self) -> str:
        names, lines = self._names(), []
        for node in reversed(self._nodes):
            targets = ", ".join(names[parent.place] for parent, _ in node.edges)
            if targets or node is self._nodes[-1]:
                lines.append(f"{names[node.place]} -> {targets}".removesuffix(" -> "))
        return "\n".join(lines)

    def _names(self) -> list[str]:
        """Return a name for each node, with a number where several have the same."""
        names = [words(node).replace("\n", " of ") for node in self._nodes]
        ...

    @property
    def source(self) -> str:
        """The picture in DOT; the root is where it is in the graph of results."""
        import graphviz

        ...


def draw(root: Any, /, **names: Any) -> Drawing:
    """Draw everything that `root` depends on.

    Boxes are labelled with `names`, or without any with the caller's variables. Raises
    TypeError for what cannot be drawn; of too large a graph it shows the size.
    """
    nodes = graph_of(root, names)
    passed = [node for node in nodes if node.edges] if nodes[-1].grad else None
    return Drawing(nodes, [Moment([node.grad for node in nodes], passed)])


def draw_backward(root: Any, /, **names: Any) -> Drawing:
    """Draw the backward pass from `root` step by step; no grad of the graph changes."""
    nodes = graph_of(root, names)
    if not nodes[-1].edges:  # nothing to pass on
        return Drawing(nodes, [Moment([node.grad for node in nodes], None)])
    return BackwardDrawing(nodes, moments(nodes))
