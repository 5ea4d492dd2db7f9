"""Tensors, the nodes that record them, and the walk back, without any operation."""
