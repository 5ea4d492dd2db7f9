"""minigrad.draw: pictures of graphs; see minigrad/drawing/pictures.py."""

from minigrad.drawing.pictures import draw, draw_backward, draw_nodes
