"""Graphs in DOT, the language of Graphviz: the places and looks of boxes and arrows.

A graph runs across the page, or down the page if it is too wide for a small window.
Only arrows between Values carry slopes and shares.
"""

import re
import unicodedata
from collections import Counter

from minigrad.drawing.describe import LAST_HEAT, NO_HEAT, Box, number

# A picture has no background, so that a dark page shows through. Words on the page have
# a middle tone, which is readable on white and on black. Words in boxes are in ink.
INK, GRAY, BLUE, ORANGE, PINK = ["#333333", "#767676", "#0072B2", "#BD570F", "#D6006C"]
FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11", "fontcolor": INK}
GRAPH = {"ranksep": "0.14", "nodesep": "0.2", "bgcolor": "transparent"}
BOX = FONT | {"shape": "record", "color": INK, "height": "0.3", "margin": "0.06,0.03"}
ARROW = {"color": GRAY, "arrowsize": "0.6"}
WORDS = {"shape": "plaintext", "fontsize": "10", "fontcolor": GRAY, "height": "0"}
KINDS = {
    "leaf": {"style": "filled", "fillcolor": "#D6E8F5", "color": BLUE},
    "constant": {"style": "dashed", "color": GRAY, "fontcolor": GRAY},
    "result": {"style": "filled", "fillcolor": "white"},
}
OPERATION = {"style": "rounded,filled", "fillcolor": "#F0F0F0", "color": GRAY}
GRAYED = {"style": "rounded,dashed", "color": GRAY, "fontcolor": GRAY}
NOW = {"fillcolor": "#FFE2CC", "color": ORANGE, "penwidth": "2"}
BACK = {"dir": "back", "style": "dashed", "color": ORANGE, "fontcolor": ORANGE}
WRONG = {"color": PINK, "fontcolor": PINK, "penwidth": "2", "margin": "0.14,0.05"}
CUT = {"dir": "none", "style": "dotted", "penwidth": "1.5", "minlen": "2"}
CUT |= {"color": GRAY, "fontsize": "16"}
DOTTED = {"style": "dotted"}
HIDDEN = {"style": "invis"}  # takes the same room, so that all frames are alike
WIDE, GAP = 14.5, 0.4  # inches: all boxes in a row, and between two of them
LONG, STEP = 9.8, 1.4  # inches: Values one after the other, and an operation


def dot(frames: list, step=-1, folded=False, bare=False, below: str = "") -> str:
    """Return one frame, a list of Nodes, in DOT. All frames are laid out alike.

    `below` has words to show below the graph.

    If `folded`, results have no box of their own, and the operations show their shapes.
    If `bare`, there are no results at all, and arrows run the way backward goes.
    """
    nodes = frames[step]
    results = [node for node in nodes if node.kind == "result"]
    tensors = not any(slope is not None for node in nodes for _, slope in node.edges)
    boxes = [node.fields for node in nodes] + [fields_of(node) for node in results]
    down = folded or tensors and sum(GAP + widest(box) for box in boxes) > WIDE
    across: dict[Box, float] = {}
    for node in frames[-1] * (not tensors):
        before = [across[parent] + STEP for parent, _ in node.edges]
        across[node] = widest(node.fields) + max(before, default=0.0)
    down = down or max(across.values(), default=0.0) > LONG
    flat = down and not tensors  # a grad beside its number: half as high
    inline = results if bare else results[:-1] if folded else []
    layout = Layout(nodes, down, flat, inline)
    layout.graph.attr("graph", label=below, **FONT | {"fontcolor": GRAY})
    for versions in zip(*frames, strict=True):
        node, look = versions[step], NOW if versions[step].turn else {}
        if node not in layout.inline:
            room = max(widest(version.fields, flat) for version in versions)
            looks = KINDS["constant" if node.idle else node.kind] | look
            looks |= WRONG | {"fontcolor": INK} if None in node.mistakes else {}
            layout.box(layout.names[node], node.fields, looks, room, flat)
        if node.kind == "result":
            layout.operation(node, look, versions[-1].grad, BACK if bare else {})
        for origin, _ in node.edges * (node.kind == "constant"):
            tail, head = layout.names[origin], f"{layout.names[node]}:v"
            layout.arrow(tail, head, "\N{BLACK SCISSORS}", **CUT)
    return layout.graph.source


class Layout:
    """A graph in DOT that runs down the page, or across it."""

    def __init__(self, nodes: list[Box], down: bool, flat: bool, inline: list[Box]):
        import graphviz

        self.down, self.rows, self.inline = down, flat or not down, inline
        self.made = {node: f"op{i}" for i, node in enumerate(nodes)}
        self.names = {node: f"n{i}" for i, node in enumerate(nodes)}
        self.names |= {node: self.made[node] for node in inline}
        self.graph = graphviz.Digraph(graph_attr=GRAPH, node_attr=BOX, edge_attr=ARROW)
        self.graph.graph_attr["rankdir"] = "TB" if down else "LR"

    def box(self, name: str, fields: list, look: dict, room=0.0, flat=False) -> None:
        """Add a box whose fields are stacked, or side by side if `flat`."""
        parts = [f"<{p}> {escape(f)}" for p, f in zip("vgs", fields, strict=False)]
        turns = 2 if self.down == flat else 1  # braces turn the direction
        label = "{" * turns + "|".join(parts) + "}" * turns
        room = max(room, widest(fields, flat))
        self.graph.node(name, label, **look, width=f"{room:.2f}")

    def arrow(self, tail: str, head: str, words: str, **look: str) -> None:
        """Add an arrow. Its words are a node, so that no line runs through them.

        The node is as wide as they are in a wide font. So no line ends next to them,
        where it would look like a minus sign.
        """
        if not words:
            self.graph.edge(tail, head, **look)
            return
        middle = f"{tail} {head} {len(self.graph.body)}".replace(":", " ")
        plain, back = look | {"dir": "none"}, look.get("dir") == "back"
        self.graph.node(middle, words, **WORDS | look, width=f"{widest([words]):.2f}")
        self.graph.edge(tail, middle, **look if back else plain)
        self.graph.edge(middle, head, **plain if back else look)

    def operation(self, node: Box, look: dict, upstream, arrows: dict) -> None:
        """Add the operation of a node, its arrows in and out, and the arrows back."""
        op = self.made[node]
        gray = GRAYED if node.idle or node.frozen else {}
        fields = fields_of(node, node in self.inline)
        self.box(op, fields, OPERATION | gray | look, flat=bool(self.inline))
        back = BACK if node.passed else BACK | HIDDEN
        uses = Counter(parent for parent, _ in node.edges)
        for place, (parent, slope) in enumerate(node.edges):
            tail, origin = self.sides(parent, slope is not None or uses[parent] == 1)
            learns = slope is not None and parent.kind != "constant"
            words = number(slope) if learns and node.passed is None else ""
            words = node.mistakes.get(place, words)
            way = arrows | (DOTTED if parent.idle else {})
            # The arrows of leaves cross: longer ones can be told apart
            way |= {"minlen": "2"} if words and self.down and not parent.edges else {}
            self.arrow(tail, op, words, **WRONG if place in node.mistakes else way)
            if node.passed is not None and (parent.grad is not None or parent.passed):
                share = product(slope, upstream, "\n "[self.down]) if learns else ""
                self.arrow(origin, op, share, **back)
        if node not in self.inline:
            value, grad = self.sides(node)
            self.graph.edge(op, value, **DOTTED if node.idle else {})
            if node.passed is not None:
                self.graph.edge(op, grad, **back)

    def sides(self, node: Box, apart: bool = True) -> tuple[str, str]:
        """Return where arrows leave a box, and where they come back to.

        Those are two fields, unless two arrows would overlap, or the fields are stacked
        in a graph that runs down the page.
        """
        name = self.names[node]
        rows = apart and node.grad is not None and self.rows
        return (f"{name}:v", f"{name}:g") if rows else (name, name)


def product(local: float, upstream: float, gap: str = " ") -> str:
    """Return the label of an orange arrow: local · upstream = product."""
    return f"{number(local)} · {number(upstream)}{gap}= {number(local * upstream)}"


def fields_of(node: Box, inline: bool = False) -> list[str]:
    """Return the fields of an operation's box."""
    return [node.op, *filter(None, [node.note, node.value * inline])]


def escape(text: str) -> str:
    """Escape the characters with a meaning in the label of a Graphviz record."""
    safe = re.sub(r"([\\{}|<>])", r"\\\1", text.replace("&", "&amp;"))
    return safe.replace("\n", r"\n")


def widest(fields: list[str], flat: bool = False) -> float:
    """Return the inches that the longest line needs, or that all need if `flat`."""
    lines = [line for field in fields for line in field.splitlines() or [""]]
    return (sum if flat else max)(map(width, lines))


def width(text: str) -> float:
    """Return the inches that `text` needs in a wide font. Korean letters count twice.

    Graphviz cannot know which font a browser will take.
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    wide += sum(NO_HEAT <= letter < LAST_HEAT for letter in text)
    wide += 0.6 * sum(letter in "mwMW" for letter in text)
    return 0.085 * (len(text) + wide) + 0.12
