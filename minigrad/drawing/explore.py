"""A knob to turn where no kernel runs: one formula, or one plot, drawn many times.

explore(f, w=range(4), x=3)          f(w, x), under a slider that moves w
film(figures, "Step of training")    plots, each with a caption, under a slider
"""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.drawing import plot_text
from minigrad.drawing.describe import Node, graph_of, number
from minigrad.drawing.dot import dot
from minigrad.drawing.draw import Drawing, mark_passed
from minigrad.scalar.value import Value


def explore(f: Callable, /, **leaves: float | Sequence[float]) -> Drawing:
    """Draw f and its slopes under a slider, which moves one leaf after the other.

    Each leaf is a number, or the numbers that it moves through; while another one moves
    it rests at their middle. `f` takes Values by name and returns one; its graph has to
    be the same for all.
    """
    moved = {name: x for name, x in leaves.items() if isinstance(x, Sequence)}
    rest = leaves | {name: x[len(x) // 2] for name, x in moved.items()}
    steps = [frame(f, rest | {name: x}, name) for name in moved for x in moved[name]]
    captions, frames = zip(*steps, strict=True)
    # `dot` draws the first, leaves room for all, and takes gradients from the last
    sources = [dot([nodes, *frames, nodes], 0) for nodes in frames]
    knob = f"The value of {' and '.join(moved)}"
    return Drawing("\n".join(captions), sources, captions, knob)


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


def film(figures: Mapping[str, Any], knob: str) -> Drawing:
    """Show one of the figures, by the caption that is its key; a slider moves `knob`.

    Their curves are kept as curves: dots, axes and letters that all have cost nothing.
    """
    from matplotlib import pyplot

    told, pictures = [], []
    for caption, figure in figures.items():
        told.append(f"{caption}\n{plot_text.describe(figure, sure=True)}")
        file = io.StringIO()
        with pyplot.rc_context({"svg.hashsalt": "minigrad"}):  # alike in every run
            figure.savefig(file, format="svg", metadata={"Date": None})
        pyplot.close(figure)
        pictures.append(file.getvalue()[file.getvalue().index("<svg") :])
    return Drawing("\n".join(told), pictures, told, knob)
