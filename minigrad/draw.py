"""minigrad.draw: pictures of graphs; see drawing/pictures.py."""

from minigrad.drawing.pictures import draw, draw_backward, draw_nodes
