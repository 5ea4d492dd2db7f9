"""A knob to turn where no kernel runs: one formula, drawn for many numbers.

explore(f, "w", [0, 1, 2, 3], x=3)     f(w, x), under a slider that moves w
"""

from collections.abc import Callable, Sequence

from minigrad.drawing.describe import Node, graph_of, number
from minigrad.drawing.layout import dot
from minigrad.drawing.pictures import Drawing, mark_passed
from minigrad.scalar.value import Value


def explore(f: Callable, name: str, numbers: Sequence, **others: float) -> Drawing:
    """Draw f and its slopes under a slider, which moves one leaf through numbers.

    `f` takes Values by name, and returns one; its graph has to be the same for all.
    """
    steps = [frame(f, {name: x} | others, name) for x in numbers]
    captions, frames = zip(*steps, strict=True)
    # `dot` draws the first, leaves room for all, and takes gradients from the last
    sources = [dot([nodes, *frames, nodes], 0) for nodes in frames]
    return Drawing("\n".join(captions), sources, captions, knob=f"The value of {name}")


def frame(f: Callable, numbers: dict, name: str) -> tuple[str, list[Node]]:
    """Return what f does with these numbers: in a sentence, and as nodes."""
    leaves = {each: Value(x) for each, x in numbers.items()}
    result = f(**leaves)
    result.backward()
    nodes = graph_of(result, {**leaves, "result": result})
    mark_passed(nodes)
    x, slope = leaves[name], number(leaves[name].grad)
    at = f"{name} = {number(x.data)}: the result is {number(result.data)}"
    return f"{at}, and moves {slope} times as far as {name}.", nodes
