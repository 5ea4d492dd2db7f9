"""Graphs of Tensors, of modules and of nodes, in DOT: their arrows carry nothing.

Unlike a graph of Values, one that would be too wide to read runs down the page.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from minigrad.drawing.description import Node
from minigrad.drawing.style import (
    ARROW,
    BACK,
    BOX,
    CUT,
    GRAPH,
    GRAY,
    GRAYED,
    KINDS,
    OPERATION,
    ROUND,
    SCISSORS,
    WORDS,
    escape,
    width,
)

WIDE = 9.0  # inches that a row of boxes may take
LONG = 18  # letters of an operation's name that stand in one line


def dot_of_tensors(nodes: list[Node]) -> str:
    """Return a graph of Tensors, or of modules, which always runs down the page."""
    folded = any(node.inline for node in nodes)
    graph = new_graph(folded or length(nodes, room_for) > WIDE)
    passed = passed_on(nodes)
    for node in nodes:
        if not node.inline:
            look = KINDS["constant" if node.idle else node.kind]
            add_box(graph, f"n{node.place}", node.rows(node.grad), look)
        if node.kind == "result":
            gray = GRAYED if node.idle or node.learns is False else {}
            add_box(graph, f"op{node.place}", fields_of(node), OPERATION | gray, folded)
            add_links(graph, node, passed)
        elif node.edges:
            add_cut(graph, node)
    return graph.source


def dot_of_nodes(nodes: list[Node]) -> str:
    """Return a graph of nodes: each is where its operation is in one of Tensors."""
    graph = new_graph(length(nodes, lambda node: widest([node.label])) > WIDE)
    looks = KINDS | {"leaf": KINDS["leaf"] | ROUND, "result": OPERATION}
    for node in nodes:
        add_box(graph, f"n{node.place}", [node.label], looks[node.kind])
        for parent, _ in node.edges:
            graph.edge(f"n{parent.place}", f"n{node.place}", **BACK)
    return graph.source


def has_tensors(nodes: list[Node]) -> bool:
    """Return whether it is any of these graphs: they have no slopes."""
    return any(slope is None for node in nodes for _, slope in node.edges)


def passed_on(nodes: list[Node]) -> set[Node]:
    """Return the results that passed a gradient on, as far as one can see.

    A result need not keep its gradient, but something that it was made from has one.
    What only a cut leads to has passed nothing.
    """
    reached, passed = {nodes[-1]}, set()
    for node in reversed(nodes):
        if node in reached and node.kind == "result":
            reached |= {parent for parent, _ in node.edges}
    for node in nodes:
        got = any(parent.grad or parent in passed for parent, _ in node.edges)
        if got and node in reached and node.kind == "result":
            passed.add(node)
    return passed


def fields_of(node: Node) -> list[str]:
    """Return the fields of an operation's box; a long name is broken at a capital."""
    name = node.op
    if len(name) > LONG and not node.about and not node.inline:
        words = re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", name)
        half = len(words) // 2
        name = "\n".join(["".join(words[:half]), "".join(words[half:])]).strip()
    return [name, *filter(None, [node.about]), *[node.value] * node.inline]


def widest(fields: list[str]) -> float:
    """Return the inches that the longest line needs."""
    return max(width(line) for field in fields for line in field.splitlines())


def room_for(node: Node) -> float:
    """Return the inches that a tensor takes in a row, with what made it."""
    made = widest(fields_of(node)) + 0.2 if node.kind == "result" else 0
    return made + widest(node.rows(node.grad))


def length(nodes: list[Node], room: Callable[[Node], float]) -> float:
    """Return the inches that the longest path would take in a row."""
    ends: dict[Node, float] = {}
    for node in nodes:
        before = max((ends[parent] for parent, _ in node.edges), default=0)
        ends[node] = before + 0.2 + room(node)
    return max(ends.values())


def new_graph(upright: bool) -> Any:
    """Return an empty graph that runs down the page, or across it."""
    import graphviz

    shape = GRAPH | {"rankdir": "TB" if upright else "LR"}
    return graphviz.Digraph(graph_attr=shape, node_attr=BOX, edge_attr=ARROW)


def runs_down(graph: Any) -> bool:
    """Return whether the graph runs down the page."""
    return graph.graph_attr["rankdir"] == "TB"


def add_box(
    graph: Any, name: str, fields: list[str], look: dict[str, str], beside: bool = False
) -> None:
    """Add a box with one field below, or beside, the other."""
    label = "|".join(f"<{p}> {escape(f)}" for p, f in zip("vgs", fields, strict=False))
    if runs_down(graph) != beside:  # braces turn the direction
        label = f"{{{label}}}"
    room = sum(map(width, fields)) if beside else widest(fields)
    graph.node(name, label, **look | {"width": f"{room:.2f}"})


def add_links(graph: Any, node: Node, passed: set[Node]) -> None:
    """Add the arrows into the operation that made a tensor, out of it, and back."""
    op, uses = f"op{node.place}", Counter(parent for parent, _ in node.edges)
    for parent, _ in node.edges:
        value, grad = sides(graph, parent, apart=uses[parent] == 1)
        graph.edge(value, op, **{"color": GRAY} if parent.idle else {})
        if node in passed and (parent.grad or parent in passed):
            graph.edge(grad, op, **BACK)
    if not node.inline:
        value, grad = sides(graph, node)
        graph.edge(op, value, **{"color": GRAY} if node.idle else {})
        if node in passed:
            graph.edge(op, grad, **BACK)


def add_cut(graph: Any, node: Node) -> None:
    """Add the line to what a constant was cut off from, with the scissors on it."""
    (origin, _), *_ = node.edges
    box, scissors = f"n{node.place}", f"cut{node.place}"
    graph.node(scissors, SCISSORS, **WORDS | {"fontsize": "16"})
    graph.edge(sides(graph, origin)[0], scissors, **CUT)
    graph.edge(scissors, f"{box}:v", **CUT)


def sides(graph: Any, node: Node, apart: bool = True) -> tuple[str, str]:
    """Return where arrows leave a box, and where they come back to.

    Across the page that can be two rows; arrows at one row would lie on each other.
    """
    if node.inline:
        return f"op{node.place}", f"op{node.place}"
    box = f"n{node.place}"
    rows = apart and node.grad and not runs_down(graph)
    return (f"{box}:v", f"{box}:g") if rows else (box, box)
