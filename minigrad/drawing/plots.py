"""Plots of learning: losses, decision boundaries, gradients.

All of them use `axes`, which lessons also use for their own plots. The style is in
course.mplstyle.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from minigrad.drawing.draw import Drawing
from minigrad.drawing.plot_text import describe, speak

BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#767676"  # of course.mplstyle


def axes(x: str = "", y: str = "", title: str = "", **options) -> tuple:
    """Return (figure, axes), 3.5 x 2.5 in, with these labels, in the course's style.

    `options` go to `pyplot.subplots`. `ncols=2` gives two axes with equal labels.
    """
    speak()
    from matplotlib import pyplot

    # Not in a `style.context`: that would undo what the first figure of a notebook
    # sets, and no figure would be shown any more.
    pyplot.style.use(Path(__file__).with_name("course.mplstyle"))
    figure, made = pyplot.subplots(**options)
    for each in np.ravel(made):
        each.set(xlabel=x, ylabel=y, title=title)
    return figure, made


def plot_loss(losses: Sequence[float], label: str = "", ax=None):
    """Plot the loss of every step. For a second curve, pass the `ax` of the first."""
    ax = ax or axes("step", "loss")[1]
    ax.plot(losses, label=label)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if label:
        ax.legend(frameon=False)
    return ax


def plot_decision_boundary(predict: Callable, X, y, ax=None):
    """Color the plane by the sign of `predict`, with the data points on it.

    `predict` gets 2,500 points at once, as an array of shape (2500, 2), and returns a
    number for each. Points with y > 0 are orange squares, and the others blue circles.
    """
    ax = ax or axes("$x_1$", "$x_2$")[1]
    X, y = np.asarray(X), np.asarray(y)
    (left, bottom), (right, top) = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    grid = np.meshgrid(np.linspace(left, right, 50), np.linspace(bottom, top, 50))
    points = np.stack(grid, axis=-1).reshape(-1, 2)
    scores = np.asarray(predict(points), dtype=float).reshape(50, 50)
    sides = [-np.inf, 0.0, np.inf]
    ax.contourf(*grid, scores, levels=sides, colors=[BLUE, ORANGE], alpha=0.2)
    ax.contour(*grid, scores, levels=[0.0], colors=GRAY, linewidths=1)
    for side, color, marker in (y <= 0, BLUE, "o"), (y > 0, ORANGE, "s"):
        look = {"marker": marker, "edgecolors": "white", "linewidths": 0.5}
        ax.scatter(*X[side].T, 16, color, **look)
    ax.grid(visible=False)
    return ax


def plot_gradients(names: Sequence, grads, numeric, label: str = "leaf"):
    """Plot the gradient of each name as a bar, next to its finite difference.

    `label` says what the names are.
    """
    _, ax = axes(label, "gradient")
    places, width = np.arange(len(names)), 0.38
    ax.bar(places - width / 2, grads, width, label="backward", color=BLUE)
    beside = places + width / 2
    striped = {"color": ORANGE, "hatch": "////", "edgecolor": "white", "linewidth": 0}
    ax.bar(beside, numeric, width, label="finite differences", **striped)
    ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    ax.axhline(0, color=GRAY, linewidth=0.8)
    ax.set_xticks(places, names)
    ax.grid(visible=False, axis="x")
    return ax


def heatmap(numbers, title: str = "", ax=None, row=None):
    """Color a matrix by its numbers, with blue above 0, orange below, and white at 0.

    A vector is one row. A small matrix shows its numbers, and a large one has a color
    scale next to it. `row` is a row to frame.
    """
    from matplotlib.colors import LinearSegmentedColormap

    ax = ax or axes()[1]
    matrix = np.atleast_2d(np.asarray(numbers, dtype=float))
    top = np.abs(matrix[np.isfinite(matrix)]).max(initial=0) or 1
    colors = LinearSegmentedColormap.from_list("", [ORANGE, "white", BLUE])
    image = ax.imshow(matrix, cmap=colors, vmin=-top, vmax=top)
    if matrix.size <= 60:
        for (i, j), number in np.ndenumerate(matrix):
            color = "white" if abs(number) > 0.7 * top else "black"
            ax.text(j, i, f"{number:.3g}", color=color, ha="center", va="center")
    else:
        scale = ax.inset_axes((1.03, 0, 0.05, 1))
        low = 0.0 - top * (matrix < 0).any()
        ax.figure.colorbar(image, scale, ticks=[low, top], format="{x:.2g}")
        scale.set_ylim(low, top)
    if row is not None:
        look = {"fill": False, "lw": 2.5, "clip_on": False, "zorder": 3}
        ax.axhspan(row - 0.5, row + 0.5, **look)
    ax.set(title=title, xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(True)
    return ax


def film(figures: Mapping, knob: str) -> Drawing:
    """Show one figure at a time, with its key as caption. A slider moves `knob`.

    Each figure stores only its curves. The dots, axes and letters that all share are
    stored once.
    """
    from matplotlib import pyplot

    if not figures:
        raise ValueError("film: give it one figure or more")
    told, pictures = [], []
    for caption, figure in figures.items():
        told.append(f"{caption}\n{describe(figure, sure=True)}")
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        pyplot.close(figure)
        pictures.append(file.getvalue()[file.getvalue().index("<svg") :])
    return Drawing("\n".join(told), pictures, told, knob)
