"""A mistake as a picture: the learner's own graph or array, with marked differences.

A mark is a color, and a cross with words or a thick line, so that either is enough.
"""

import html
from itertools import zip_longest
from typing import Any

import numpy as np

from classroom.cell.equality import ARRAYS, agree, apart, array_of, same, show
from minigrad.drawing.describe import Box, constant, describe, graph_of, identity
from minigrad.drawing.dot import dot
from minigrad.drawing.draw import Drawing, mark_passed

CROSS = "\N{BALLOT X}"
MOST = 64  # numbers of an array that is shown
TABLE = (
    '<table style="margin: 0 2em 1em 0; display: inline-table"><caption>{}</caption>'
)
CELL = '<td style="border: {}">{}</td>'


class Beside:
    """An array next to the expected one, with the numbers that differ marked.

    If the shapes differ, the shapes are marked.
    """

    def __init__(self, yours: np.ndarray, right: np.ndarray) -> None:
        if yours.shape == right.shape:
            wrong = ~agree(yours, right)
            both = zip(yours[wrong].tolist(), right[wrong].tolist())
            digits = 6 + any(show(one) == show(other) for one, other in both)
            self.titles = f"your answer, {CROSS} where it differs", "expected"
        else:
            wrong, digits = np.zeros(0, bool), 6
            titles = f"{CROSS} your answer, of shape", "expected, of shape"
            self.titles = [f"{t} {a.shape}" for t, a in zip(titles, (yours, right))]
        marked = table(yours, wrong, digits, f"{CROSS} ")
        self.tables = [marked, table(right, wrong, digits)]

    def __repr__(self) -> str:
        lines = []
        widest = max(len(c[1]) for rows in self.tables for row in rows for c in row)
        for title, rows in zip(self.titles, self.tables):
            text = ["  ".join(text.rjust(widest) for _, text in row) for row in rows]
            lines += [f"{title}:", *(f"    {line}" for line in text)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts, looks = [], ("3px solid #D6006C", "3px dashed #D6006C")
        for title, rows, look in zip(self.titles, self.tables, looks):
            parts.append(TABLE.format(title))
            for row in rows:
                cells = [
                    CELL.format(look * f or "none", html.escape(t)) for f, t in row
                ]
                parts.append(f"<tr>{''.join(cells)}</tr>")
            parts.append("</table>")
        return f"<div>{''.join(parts)}</div>"


def table(array: np.ndarray, wrong: np.ndarray, digits: int, mark: str = "") -> list:
    """Return an array as rows of pairs: whether a number is wrong, and its text."""
    pairs = zip_longest(array.flat, wrong.flat, fillvalue=False)
    cells = [(bool(f), mark * bool(f) + show(x.item(), digits)) for x, f in pairs]
    width = array.shape[-1] if array.ndim else 1
    return [cells[i : i + width] for i in range(0, len(cells), width)]


def beside(got: Any, expected: Any) -> Beside | None:
    """Return the first of the arrays that differ, next to the expected one."""
    pair = got, expected
    if all(isinstance(x, list) and x and isinstance(x[0], list) for x in pair):
        pair = [np.array(x, float) for x in pair]
    if all(isinstance(x, list | tuple) for x in pair) and len(got) == len(expected):
        return next(beside(*both) for both in zip(got, expected) if not same(*both))
    if not all(isinstance(x, ARRAYS) for x in pair):
        return None
    yours, right = map(array_of, pair)
    few = max(yours.size, right.size) in range(2, MOST + 1)
    return Beside(yours, right) if few else None


def picture_of(
    got: Any, expected: Any, graph: Any, names: dict
) -> Beside | Drawing | None:
    """Return a picture of the mistake, or None if there is none or it is too large.

    `graph` is what `expect` gets of the learner's graph, and may be None.
    """
    if graph is None:
        return beside(got, expected)
    root, *place = graph if isinstance(graph, list) else [graph]
    found = {}
    names = {} if isinstance(root, Box) else names  # a Box has its own label
    nodes = graph_of(root, names, told, found)
    node, *parent = (found[id(identity(value))] for value in place or [root])
    if node not in nodes:
        return None
    words = f"{CROSS} {', not '.join(apart(got, expected))}"
    words = words if isinstance(expected, float) else f"{CROSS} here"
    marks: dict[int | None, str] = {None: words}
    if parent:
        marks = {[origin for origin, _ in node.edges].index(*parent): words}
    elif not place:
        both = map(short, got), map(short, expected)
        edges = zip_longest(*both, fillvalue="")
        marks = {
            edge: f"{CROSS} {came or 'missing'}, not {right or 'expected'}"
            for edge, (came, right) in enumerate(edges)
            if came != right
        }
    if node.kind != "result":  # it has no edges at all
        marks = {None: next(iter(marks.values()))}
    for edge in marks:
        if edge is not None and edge >= len(node.edges):  # one that is missing
            nodes.insert(0, constant("?"))
            node.edges.append((nodes[0], None))
    node.mistakes.update(marks)
    mark_passed(nodes)
    return Drawing(f"In your graph: {node.line()}", [dot([nodes])])


def told(value: Any) -> Box:
    """Return the Box of a value; an answer may have put anything into a graph."""
    known = describe.dispatch(type(value)) is not describe.dispatch(object)
    return describe(value) if known else constant(repr(value))


def short(x: Any) -> str:
    """Return the name of an edge or a number; a pair (parent, slope) is a slope."""
    x = x[-1] if isinstance(x, tuple) and x else x
    return f"{x:.6g}" if isinstance(x, float) else str(x)
