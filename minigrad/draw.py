"""minigrad.draw: pictures of graphs; see drawing/draw.py."""

from minigrad.drawing.draw import draw, draw_backward, draw_nodes
