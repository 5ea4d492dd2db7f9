"""minigrad.plot: Plots of learning. See minigrad/drawing/plots.py."""
# ruff: noqa: I001

from minigrad.drawing.plots import BLUE, ORANGE, axes, film, heatmap
from minigrad.drawing.plots import plot_decision_boundary, plot_gradients, plot_loss
