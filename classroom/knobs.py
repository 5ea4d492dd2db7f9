"""The name by which lessons draw a graph whose leaves a slider moves."""

from collections.abc import Callable, Sequence

from minigrad.drawing.describe import Box, graph_of, number
from minigrad.drawing.dot import dot
from minigrad.drawing.draw import Drawing, mark_passed
from minigrad.scalar.value import Value


def draw_knob(f: Callable[..., Value], **numbers: float | Sequence) -> Drawing:
    """Draw the graph of f, a function of Values, while a slider moves its arguments.

    An argument that is a list is moved through its numbers, one argument after the
    other. While another one moves, it is the number in the middle of its list.
    """
    knobs = {name: x for name, x in numbers.items() if isinstance(x, Sequence)}
    if not knobs:
        raise TypeError("draw_knob: give the numbers of one argument or more as a list")
    rest = numbers | {name: x[len(x) // 2] for name, x in knobs.items()}
    places = [(name, rest | {name: x}) for name, xs in knobs.items() for x in xs]
    captions, frames = zip(*(at_place(f, *place) for place in places))
    sources = []
    for nodes in frames:  # an `if` in f may make another graph, of another size
        alike = [each for each in frames if len(each) == len(nodes)]
        # `dot` draws the first, leaves room for all, and takes gradients from the last
        sources.append(dot([nodes, *alike, nodes], 0))
    moved = f"The value of {' and '.join(knobs)}"
    return Drawing("\n".join(captions), sources, captions, moved)


def at_place(f: Callable, name: str, numbers: dict) -> tuple[str, list[Box]]:
    """Return what f makes of these numbers: in a sentence, and as nodes."""
    leaves = {each: Value(x) for each, x in numbers.items()}
    result, leaf = f(**leaves), leaves[name]
    nodes = graph_of(result, {**leaves, "result": result})
    mark_passed(nodes)
    told = f"{name} = {number(leaf.data)}: the result is {number(result.data)}"
    if result.grad:  # f has walked back
        told += f", and moves {number(leaf.grad)} times as far as {name}"
    return f"{told}.", nodes
