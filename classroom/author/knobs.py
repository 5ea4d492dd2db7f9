"""Formulas under a slider, where no kernel runs; None stands for the first page."""

from collections.abc import Callable
from typing import Any

from minigrad.drawing.describe import Node, graph_of, number
from minigrad.drawing.dot import dot
from minigrad.drawing.draw import mark_passed
from minigrad.drawing.graphviz_svg import slider
from minigrad.scalar.value import Value


def steps(first: int, last: int) -> list[float]:
    """Return numbers that are half a unit apart."""
    return [step / 2 for step in range(2 * first, 2 * last + 1)]


KNOBS: dict[int | None, tuple[Callable, dict[str, Any]]] = {
    None: (
        lambda w, x, b, y: (w * x + b - y) ** 2,
        {"w": steps(-1, 4), "x": 3.0, "b": 1.0, "y": 5.0},
    ),
    3: (lambda w, x, b: w * x + b, {"w": steps(0, 4), "x": steps(1, 5), "b": 1.0}),
    4: (
        lambda w, x, b: (w * x + b).tanh(),
        {"w": steps(-2, 3), "x": 2.0, "b": steps(-3, 2)},
    ),
    5: (lambda a: (lambda b: b + 2 * b)(a * a), {"a": steps(-2, 4)}),
}
WORDS = {
    3: r"""The first graph again, $w \cdot x + b$, with $w$ on a slider, and after it
$x$. Two arrows lead into Mul, and at each stands, in orange, first its slope. Whose
changes when $w$ does, and whose when $x$ does? (What the slope is multiplied with comes
in the next chapter.)""",
    4: r"""A neuron, $\tanh(w \cdot x + b)$, with $w$ on a slider, and after it $b$.
Where does it pass next to nothing back, and what is its result there?""",
    5: """The diamond of this chapter, with $a$ on a slider. Add up what comes back to
$b$ along its two arrows, and then to $a$ along the other two: is it $6a$, at 0 too?""",
}
SECTION = "## Turn a knob\n\n{}\n\n```{{raw}} html\n<div class=film>{}</div>\n```"


def knob(chapter: int | None) -> str:
    """Return a chapter's formula under its slider, as HTML.

    The slider moves one leaf after the other, through all of its numbers; while another
    one moves it rests at their middle.
    """
    formula, leaves = KNOBS[chapter]
    moved = {name: x for name, x in leaves.items() if isinstance(x, list)}
    rest = leaves | {name: x[len(x) // 2] for name, x in moved.items()}
    places = [(name, rest | {name: x}) for name in moved for x in moved[name]]
    captions, frames = zip(*(frame(formula, *place) for place in places))
    # `dot` draws the first, leaves room for all, and takes gradients from the last
    sources = [dot([nodes, *frames, nodes], 0) for nodes in frames]
    return slider(sources, captions, f"The value of {' and '.join(moved)}")


def frame(f: Callable, name: str, numbers: dict) -> tuple[str, list[Node]]:
    """Return what f does with these numbers: in a sentence, and as nodes."""
    leaves = {each: Value(x) for each, x in numbers.items()}
    result = f(**leaves)
    result.backward()
    nodes = graph_of(result, {**leaves, "result": result})
    mark_passed(nodes)
    x, slope = leaves[name], number(leaves[name].grad)
    at = f"{name} = {number(x.data)}: the result is {number(result.data)}"
    return f"{at}, and moves {slope} times as far as {name}.", nodes


def section(number: int) -> str:
    """Return the section of a lesson with its knob, in Markdown."""
    return SECTION.format(WORDS[number], knob(number))
