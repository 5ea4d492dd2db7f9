"""Tensors, the nodes that record them, and the walk back; it knows no operation."""
