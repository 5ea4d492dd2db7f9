"""A knob to turn where no kernel runs: one formula, drawn for many numbers.

explore(f, w=[0, 1, 2, 3], x=3)     f(w, x), under a slider that moves w
"""

from collections.abc import Callable, Iterable

from minigrad.drawing.describe import Node, graph_of, number
from minigrad.drawing.layout import dot
from minigrad.drawing.pictures import Drawing, mark_passed
from minigrad.scalar.value import Value


class Films:
    """Drawings that show themselves one below the other."""

    def __init__(self, films: list[Drawing]):
        self.films = films

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.films))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        bundles = [film._repr_mimebundle_() for film in self.films]
        return {kind: "\n".join(b[kind] for b in bundles) for kind in bundles[0]}


def explore(f: Callable, /, **leaves: float | Iterable[float]) -> Films:
    """Draw f and its slopes under sliders, one for each leaf that is given a list.

    A slider moves its leaf through the list; the others keep their number, or that in
    the middle of their list. `f` takes Values by name, and returns one, else TypeError.
    Raises ValueError if no leaf can move, or if the graph changes, as by an `if` in f.
    """
    lists = {k: [*x] if isinstance(x, Iterable) else [x] for k, x in leaves.items()}
    rest = {name: numbers[len(numbers) // 2] for name, numbers in lists.items()}
    moving = [name for name, numbers in lists.items() if len(numbers) > 1]
    if not moving:
        raise ValueError(
            f"explore moves leaves with several numbers each, got {leaves}"
        )
    return Films([film(f, rest, name, lists[name]) for name in moving])


def film(f: Callable, rest: dict, name: str, numbers: list[float]) -> Drawing:
    """Return f under a slider that moves one leaf."""
    steps = [frame(f, rest | {name: x}, name) for x in numbers]
    captions, frames = zip(*steps, strict=True)
    if len({tuple((n.op, len(n.edges)) for n in nodes) for nodes in frames}) > 1:
        raise ValueError(f"f makes different graphs of {name} = {numbers}")
    # `dot` draws the first, leaves room for all, and takes gradients from the last
    sources = [dot([nodes, *frames, nodes], 0) for nodes in frames]
    return Drawing("\n".join(captions), sources, captions, knob=f"The value of {name}")


def frame(f: Callable, numbers: dict, name: str) -> tuple[str, list[Node]]:
    """Return what f does with these numbers: in a sentence, and as nodes."""
    leaves = {each: Value(x) for each, x in numbers.items()}
    result = f(**leaves)
    if not isinstance(result, Value):
        raise TypeError(f"f has to return a Value, got {type(result).__name__}")
    result.backward()
    nodes = graph_of(result, {**leaves, "result": result})
    mark_passed(nodes)
    x, slope = leaves[name], number(leaves[name].grad)
    at = f"{name} = {number(x.data)}: the result is {number(result.data)}"
    return f"{at}, and moves {slope} times as far as {name}.", nodes
