"""minigrad.plot: plots of learning; see minigrad/drawing/plots.py."""

from minigrad.drawing.plots import (
    BLUE,
    ORANGE,
    axes,
    film,
    heatmap,
    plot_decision_boundary,
    plot_gradients,
    plot_loss,
)
