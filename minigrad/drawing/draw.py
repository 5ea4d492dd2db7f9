"""Pictures of graphs: which value feeds which operation, and how blame runs back.

    draw(loss)                  with the names that your variables have
    draw(loss, w=w, b=b)        with names that you give
    draw(loss, saved=True)      and with what each operation keeps for backward
    draw_backward(loss)         the backward pass, one step a frame, under a slider
    draw(model, x)              what a network does with x, each module in one box
    draw_nodes(loss)            only what `grad_fn` and `next_functions` show

A blue box is a leaf, a dashed gray one a constant, a rounded box an operation, and a
plain box its result. Arrows run forward and carry the local slope. After `backward`,
dashed orange arrows run back, each with `local · upstream = share`. Arrows between
Tensors carry nothing, since their slopes are matrices. Scissors mark the place between
a constant and the variable that `detach()` cut it off from. In a network, parts that
are frozen, or that no gradient reaches, are dashed.
"""
# ruff: noqa: I001

import copy
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from types import FrameType

import numpy as np

from minigrad.drawing.describe import NO_HEAT, Box, constant, graph_of, heat_of
from minigrad.drawing.describe import identity, memory_of, number, saved_by, shown
from minigrad.drawing.dot import dot, product
from minigrad.drawing.graphviz_svg import image, slider
from minigrad.drawing.module_graph import module_graph
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.graph.walk import sum_to
from minigrad.scalar.value import Value


class Drawing:
    """A picture that shows itself in a notebook, and as text elsewhere.

    `source` is the picture in DOT, the language of Graphviz. If there are several
    pictures, `source` is the last. They have captions, and a slider for the thing that
    `knob` names.
    """

    def __init__(self, text: str, sources: list, captions: Sequence = (), knob=""):
        self._text, self._captions, self._knob = text, captions, knob
        self.sources, self.source = sources, sources[-1]

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        try:
            if self._captions:
                html = slider(self.sources, self._captions, self._knob)
            else:
                html = image(self.source, self._text.replace("\n", "; "))
        except Exception as reason:  # no Graphviz, or no memory: the text has all
            return {"text/plain": f"{self._text}\n\nNo picture: {reason}"}
        return {"text/html": html, "text/plain": self._text}


def draw(root, /, *inputs, saved: bool = False, **names) -> Drawing:
    """Draw everything that `root` depends on, or model(x) with draw(model, x).

    Boxes are labelled with `names`, or with the caller's variables if there are none.
    With `saved`, each operation on Tensors names the arrays that its node keeps for
    backward. Raises TypeError for objects that cannot be drawn. If the graph is too
    large, the picture says so.
    """
    names, found = names or variables_of(sys._getframe(1)), {}
    if inputs and saved:
        raise TypeError("saved=True is for results: draw(model(x), saved=True)")
    if inputs:
        nodes = module_graph(root, inputs, names)
    else:
        nodes = graph_of(root, names, found=found)
    mark_passed(nodes)
    kept = note_saved(root, found) if saved else ""
    text = "\n".join(filter(None, [text_of(nodes), kept]))
    return Drawing(text, [dot([nodes], folded=bool(inputs), below=kept)])


def draw_backward(root, /, **names) -> Drawing:
    """Draw the backward pass from `root` step by step, without changing any grad.

    It needs a Value, or a Tensor of one number. No hook is called.
    """
    if not isinstance(root, Value | Tensor):
        raise TypeError(f"draw_backward shows a Value or a Tensor, not {type(root)}")
    found: dict = {}
    nodes = graph_of(root, names or variables_of(sys._getframe(1)), found=found)
    if not nodes[-1].edges:  # nothing to pass on
        return Drawing(text_of(nodes), [dot([nodes])])
    turns = backward(root, nodes, found)
    captions, frames = zip(*((caption, copy.deepcopy(nodes)) for caption in turns))
    for versions in zip(*frames, strict=True):  # leave room for later numbers
        full = max((version.heat for version in versions), key=len)
        for version in versions:
            version.heat = version.heat or [NO_HEAT * len(line) for line in full]
    sources = [dot(frames, step) for step in range(len(frames))]
    return Drawing("\n".join(captions), sources, captions, "Step of the backward pass")


def note_saved(root, found: dict) -> str:
    """Note at each operation what its node keeps for backward. Return the total."""
    root = getattr(root, "grad_fn", root)
    reached, memory = [root] if hasattr(root, "next_functions") else [], {}
    for node in reached:
        parents = {parent for parent, _ in node.next_functions if parent}
        reached += parents - {*reached}
        values = saved_by(node)
        told = [f"{name} {x.nbytes:,} B" for name, x in values or []]
        memory |= dict(memory_of(x) for _, x in values or [])
        if parents and id(identity(node)) in found:
            nothing = "nothing any more" if values is None else "nothing"
            found[id(identity(node))].note = f"keeps {', '.join(told) or nothing}"
    return f"kept for backward: {sum(memory.values()):,} B"


def draw_nodes(root, /, **names) -> Drawing:
    """Draw the nodes behind a result or a `grad_fn`, as `next_functions` link them.

    PyTorch's nodes can also be drawn, because only `name()` and `next_functions` are
    used.
    """
    root = getattr(root, "grad_fn", root)
    if not hasattr(root, "next_functions"):
        raise TypeError("draw_nodes needs a grad_fn, which a leaf does not have")
    nodes = graph_of(root, names or variables_of(sys._getframe(1)), describe_node)
    for node in nodes:
        leaf = node.kind == "leaf" and not node.label.startswith("#")
        node.value = "" if node.edges else node.note or node.value
        node.value += f"\n{node.label}" * leaf
        node.label, node.note, node.grad = "", "", None
    return Drawing(text_of_nodes(nodes), [dot([nodes], bare=True)])


def variables_of(frame: FrameType) -> dict:
    """Return the variables that code in `frame` can use, its own first."""
    everything = frame.f_locals | (frame.f_globals | frame.f_locals)
    return {k: v for k, v in everything.items() if k.isidentifier() and k[0] != "_"}


def describe_node(node) -> Box:
    """Return the Box of a single `grad_fn`, of minigrad or of PyTorch."""
    name = node.name().rpartition("::")[2]  # in PyTorch, an end has a namespace
    edges = [(parent or constant("None"), None) for parent, _ in node.next_functions]
    return Box("", op=name if edges else "", edges=edges, note="" if edges else name)


def mark_passed(nodes: list[Box]) -> None:
    """Mark the results that passed a gradient on, as far as the graph shows it.

    If a result does not keep its gradient, something that it was made from has one. A
    result that only a cut leads to has passed nothing. A Value's grad is 0 at first. If
    the root's grad is 0, nothing was passed, and these zeros are not shown.
    """
    if nodes[-1].grad == 0:
        for node in nodes:
            node.grad = node.grad or None
        return
    reached = {nodes[-1]}
    for node in reversed(nodes):
        if node in reached and node.kind == "result":
            reached |= {parent for parent, _ in node.edges}
    for node in nodes:
        got = any(x.grad is not None or x.passed for x, _ in node.edges)
        if got and node in reached and node.kind == "result":
            node.passed = True


def backward(root, nodes: list[Box], found: dict) -> Iterator[str]:
    """Carry a gradient back over the nodes, results first, and yield each step."""
    last, of_values = nodes[-1], isinstance(root, Value)
    for node in nodes:
        start = 0.0 if of_values else "not yet"
        node.grad = None if node.kind == "constant" else start
        node.passed = False if node.kind == "result" else None
    last.grad = 1.0
    yield f"Start: the grad of {last.label} is 1."
    given, makers = {last: 1.0}, {}
    if not of_values:
        root.item()  # raises an error for several numbers, or none
        given, makers = {last: np.ones_like(root.array)}, {last: root.edge}
    turns = (node for node in nodes[::-1] if node.kind == "result" and node in given)
    for step, node in enumerate(turns, 1):
        node.passed = node.turn = True
        passed = []
        for to, share, words in shares_of(node, given[node], makers, found):
            now = " (now {})" if to in given else ""
            given[to] = to.grad = share + given.get(to, 0)
            if makers:
                to.grad, to.heat = shown(given[to]), heat_of(given[to])
            passed.append(f"{words} to {to.label}{now.format(number(to.grad))}")
        who = f"{node.op}, which made {node.label}, is given {number(node.grad)}"
        yield f"Step {step}: {who} and passes {' and '.join(passed)}."
        node.turn = False


def shares_of(node: Box, g, makers: dict, found: dict) -> Iterator[tuple]:
    """Yield the Box of each argument of a result, its share of g, and words."""
    if node not in makers:  # of Values
        for parent, slope in node.edges:
            if parent.kind != "constant":
                yield parent, slope * g, product(slope, g)
        return
    before, recording.on = recording.on, False
    try:
        with np.errstate(all="ignore"):
            pairs = list(makers[node].input_gradients(g, None))
    finally:
        recording.on = before
    for to, share in pairs:
        if share.shape != to.shape:
            share = sum_to(share, to.shape, node.op)
        makers[found[id(to)]] = to
        yield found[id(to)], share, shown(share)


def text_of(nodes: list[Box]) -> str:
    """Return a line for each node. A bare constant is in the line of its result."""
    told = [node for node in nodes if node.label or node.edges] or nodes
    return "\n".join(node.line() for node in told)


def text_of_nodes(nodes: list[Box]) -> str:
    """Return a line for each node and its links, root first. Equal names get #1, #2."""
    names = {n: n.op if n.edges else n.value.replace("\n", " of ") for n in nodes[::-1]}
    often, met = Counter(names.values()), Counter()
    for node, name in names.items():
        if often[name] > 1 and node.kind != "constant":
            met[name] += 1
            names[node] = f"{name} #{met[name]}"
    links = {n: ", ".join(names[parent] for parent, _ in n.edges) for n in names}
    lines = [f"{names[node]} -> {to}" for node, to in links.items() if to]
    return "\n".join(lines) or names[nodes[-1]]
