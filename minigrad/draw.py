"""Pictures of graphs: which value feeds which operation, and how blame runs back.

    draw(loss)                  with the names that your variables have
    draw(loss, w=w, b=b)        with names that you give
    draw_backward(loss)         the backward pass, one step a frame, under a slider

A blue box is a leaf, a dashed grey one a constant, a rounded box an operation, and a
plain box its result. Arrows run forward and carry the local slope; after `backward`,
dashed orange arrows run back, each with `local · upstream = product`.
"""

import functools
import re
import sys
import textwrap
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad.render import CannotRender, image, slider, to_svg
from minigrad.value import Value

READABLE = 80  # values in one picture
COUNTABLE = 100_000  # values that are counted at once

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
NOW = {"fillcolor": "#FFE2CC", "color": ORANGE, "penwidth": "2"}
BACK = {"dir": "back", "style": "dashed", "color": ORANGE, "fontcolor": ORANGE}
HIDDEN = {"style": "invis"}  # it takes the same room, so that all frames are alike


@dataclass
class Node:
    """What a picture tells of one value, whichever engine the value comes from."""

    value: str
    grad: float
    op: str  # what made it; "constant" for a constant, "" for a leaf
    edges: list[tuple[Any, float]]  # a (parent, local slope) pair for each use
    label: str = ""
    place: int = 0  # in the list of the graph's nodes

    @property
    def kind(self) -> str:
        """Which of KINDS the node is."""
        return "result" if self.edges else self.op or "leaf"

    def rows(self, grad: float) -> list[str]:
        """Return the rows of the node's box when its grad is `grad`."""
        if self.kind == "constant":
            return [self.label]
        return [f"{self.label} = {self.value}", f"grad {number(grad)}"]

    def line(self) -> str:
        """Return the node as text, such as `c = Mul(a, b) = 6, grad 1`."""
        made = f"{self.op}({', '.join(parent.label for parent, _ in self.edges)})"
        first, *rest = self.rows(self.grad)
        name = f"{self.label} = {made}{first.removeprefix(self.label)}"
        return ", ".join([name if self.edges else first, *rest])


@dataclass
class Moment:
    """How far a backward pass has come."""

    grads: list[float]
    passed: list[Node] | None  # results that passed their grad on; None before it all
    caption: str = ""


@functools.singledispatch
def describe(value: Any) -> Node:
    """Return the Node of `value`; each kind that can be drawn registers a version."""
    kind = type(value).__name__
    raise TypeError(f"draw shows a Value and all that it was made from; got {kind}")


@describe.register
def _(value: Value) -> Node:
    return Node(number(value.data), value.grad, value.op, value.edges)


def number(x: float) -> str:
    """Return x with four significant digits, as many as are the same everywhere."""
    return f"{x + 0.0:.4g}"  # -0.0 + 0.0 is 0.0


def product(local: float, upstream: float) -> str:
    """Return what an orange arrow carries."""
    return f"{number(local)} · {number(upstream)} = {number(local * upstream)}"


def size(root: Any) -> int:
    """Count the values that `root` depends on, itself too, as far as COUNTABLE."""
    seen, to_visit = {id(root)}, [root]
    while to_visit and len(seen) < COUNTABLE:
        for parent, _ in describe(to_visit.pop()).edges:
            if id(parent) not in seen:
                seen.add(id(parent))
                to_visit.append(parent)
    return len(seen)


def walk(root: Any) -> dict[int, Node]:
    """Return the node of everything that `root` depends on, by id, parents first."""
    found: dict[int, Node] = {}
    seen, to_visit = set(), [(root, None)]
    while to_visit:
        value, node = to_visit.pop()
        if node:  # by now its parents are found
            node.edges = [(found[id(parent)], slope) for parent, slope in node.edges]
            node.place = len(found)
            found[id(value)] = node
        elif id(value) not in seen:
            seen.add(id(value))
            node = describe(value)
            to_visit.append((value, node))
            to_visit += [(parent, None) for parent, _ in reversed(node.edges)]
    return found


def put_labels(found: dict[int, Node], variables: Mapping[str, Any]) -> None:
    """Label nodes with their first variable, a list's items as w[0], the rest as #1."""
    for name, value in variables.items():
        items = enumerate(value) if isinstance(value, list | tuple) else ()
        for label, item in [(name, value), *((f"{name}[{i}]", x) for i, x in items)]:
            node = found.get(id(item))
            if node and not node.label:
                node.label = label
    unnamed = 0
    for node in found.values():
        if node.kind == "constant":
            node.label = node.value
        elif not node.label:
            unnamed += 1
            node.label = f"#{unnamed}"


def graph_of(root: Any, names: dict[str, Any]) -> list[Node]:
    """Return root's nodes, labelled; of too large a graph, one that says what to do.

    Without `names`, labels are found in the frame that called the caller of this.
    """
    if (count := size(root)) > READABLE:
        more = " or more" if count >= COUNTABLE else ""
        advice = (
            f"This graph has {count:,}{more} values; no more than {READABLE} can be "
            "read. Draw a part: one neuron, one data point's loss, a value on the way."
        )
        return [Node("", 0.0, "constant", [], textwrap.fill(advice, 60))]
    found = walk(root)
    put_labels(found, names or variables_of(sys._getframe(2)))
    return list(found.values())


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
