"""minigrad.draw: pictures of graphs; see drawing/pictures.py and drawing/explore.py."""

from minigrad.drawing.explore import explore
from minigrad.drawing.pictures import draw, draw_backward, draw_nodes
