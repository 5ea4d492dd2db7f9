"""minigrad.plot: plots of learning; see minigrad/drawing/plots.py."""
# ruff: noqa: I001
# fmt: off

from minigrad.drawing.explore import film
from minigrad.drawing.plots import (
    BLUE, ORANGE, axes, heatmap, plot_decision_boundary, plot_gradients, plot_loss,
)
