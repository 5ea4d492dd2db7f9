"""The plots of the course."""

import numpy as np
import pytest
from matplotlib import colors

from minigrad import plot

pytestmark = pytest.mark.usefixtures("no_window")


def test_axes_are_small_and_labelled():
    figure, ax = plot.axes("step", "loss", "Falling")
    assert tuple(figure.get_size_inches()) == (3.5, 2.5)
    words = ax.get_xlabel(), ax.get_ylabel(), ax.get_title()
    assert words == ("step", "loss", "Falling")
    figure, both = plot.axes("x", "y", ncols=2, figsize=(7, 2.5))
    assert [ax.get_xlabel() for ax in both] == ["x", "x"]


def test_plot_loss_puts_a_second_curve_into_the_first_ones_axes():
    ax = plot.plot_loss([3, 2, 1], "slow")
    assert plot.plot_loss([3, 1, 0], "fast", ax=ax) is ax
    assert [list(line.get_ydata()) for line in ax.lines] == [[3, 2, 1], [3, 1, 0]]
    assert [text.get_text() for text in ax.get_legend().texts] == ["slow", "fast"]
    assert ax.lines[0].get_color() == plot.BLUE


@pytest.mark.parametrize("low", [-1, 0])
def test_decision_boundary_is_where_the_score_is_zero(low):
    X, y = np.array([[0.0, 0.0], [2.0, 1.0], [0.5, 1.0]]), np.array([low, 1, low])
    seen = []
    ax = plot.plot_decision_boundary(lambda p: seen.append(p) or p[:, 0] - 1, X, y)
    line = ax.collections[1].get_paths()[0].vertices
    assert seen[0].shape == (2500, 2) and np.allclose(line[:, 0], 1)
    circles, squares = ax.collections[2:]
    assert len(circles.get_offsets()) == 2 and len(squares.get_offsets()) == 1
    assert colors.to_hex(squares.get_facecolor()[0], False) == plot.ORANGE.lower()


def test_decision_boundary_of_a_network_that_has_one_answer():
    X, y = np.eye(2), np.array([-1, 1])
    plot.plot_decision_boundary(lambda p: [1.0] * len(p), X, y)


def test_gradients_stand_beside_finite_differences():
    ax = plot.plot_gradients(["w", "b"], [1.5, -0.5], [1.501, -0.499], "parameter")
    assert len({bar.get_hatch() for bar in ax.patches}) == 2  # told without color
    assert ax.get_xlabel() == "parameter"
    assert [bar.get_height() for bar in ax.patches] == [1.5, -0.5, 1.501, -0.499]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["w", "b"]


def test_a_heat_map_shows_the_sign_and_frames_a_row():
    ax = plot.heatmap([[2.0, -2.0], [0.0, 1.0]], "J", row=1)
    image = ax.images[0]
    shades = [colors.to_hex(image.cmap(image.norm(x))) for x in (2.0, -2.0)]
    assert shades == [plot.BLUE.lower(), plot.ORANGE.lower()]
    assert [text.get_text() for text in ax.texts] == ["2", "-2", "0", "1"]
    (row,) = ax.patches
    assert (row.get_xy(), row.get_width()) == ((-0.5, 0.5), 2)
    (scale,) = plot.heatmap(np.linspace(-2.5, 1, 900).reshape(30, 30)).texts
    assert scale.get_text() == "\N{PLUS-MINUS SIGN} 2.5"
