"""Finds the falsified numbers that a plot's text would reveal; imported in a lesson.

Each figure that is shown is described again for each way in which its numbers can be
wrong. `report()` prints a line of JSON for each figure, with its text and the ways that
it does not reveal.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from minigrad.drawing import plot_text

WAYS = {
    "negated": lambda y: -y,
    "reversed": lambda y: y[::-1].copy(),
    "doubled": lambda y: 2 * y,
    "zeroed": lambda y: 0 * y,
}
describe, seen = plot_text.describe, []


def numbers_of(ax) -> Iterator[tuple]:
    """Yield, for each object drawn in a plot, its numbers and what sets them."""
    for line in ax.lines:
        if line.get_transform() == ax.transData:
            yield np.asarray(line.get_ydata(orig=False), float), line.set_ydata
    for group in ax.collections:
        at = np.array(group.get_offsets())
        if len(at) and group.get_offset_transform() == ax.transData:
            yield at[:, 1], lambda y, group=group, x=at[:, 0]: move(group, x, y)
        else:
            for path in group.get_paths():
                yield path.vertices[:, 1], lambda y, path=path: bend(path, y)
    for bars in ax.containers:
        if hasattr(bars, "datavalues"):
            side = "height" if bars.orientation == "vertical" else "width"
            sizes = np.array([getattr(bar, f"get_{side}")() for bar in bars], float)
            yield sizes, lambda y, bars=bars, side=side: size(bars, side, y)
    for patch in ax.patches:
        if hasattr(patch, "get_closed"):
            yield patch.get_xy()[:, 1], lambda y, patch=patch: bend(patch.get_path(), y)
    for image in ax.images:
        array = np.asarray(image.get_array(), float)
        yield array, lambda y, image=image: setattr(image, "_A", np.ma.array(y))


def move(group, x, y):
    group.set_offsets(np.c_[x, y])


def bend(path, y):
    path.vertices = np.c_[path.vertices[:, 0], y]


def size(bars, side, numbers):
    for bar, number in zip(bars, numbers):
        getattr(bar, f"set_{side}")(number)


@contextmanager
def falsified(figure, way):
    """Draw other numbers for a while, which `way` makes from the true ones."""
    drawn = [pair for ax in figure.axes for pair in numbers_of(ax)]
    true = [(numbers.copy(), put) for numbers, put in drawn]
    for numbers, put in true:
        put(way(numbers))
    yield
    for numbers, put in true:
        put(numbers)


def describe_all(figure, sure=False):
    text, missed = describe(figure, sure=True), []
    for name, way in WAYS.items():
        with falsified(figure, way):
            if describe(figure, sure=True) == text:
                missed.append(name)
    assert describe(figure, sure=True) == text, "the numbers were not put back"
    if sure:  # the text; the other one is that of the picture
        seen.append({"text": text, "missed": missed})
    return describe(figure, sure)


def report():
    for each in seen:
        print(json.dumps(each))


plot_text.describe = describe_all
