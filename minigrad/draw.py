"""minigrad.draw: Pictures of graphs. See drawing/draw.py."""

from minigrad.drawing.draw import draw, draw_backward, draw_nodes
