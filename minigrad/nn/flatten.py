"""Flatten: what stands between images and a linear layer."""

from minigrad.nn.module import Module
from minigrad.rules.shape import flatten


class Flatten(Module):
    """Makes one axis of those from start_dim to end_dim."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return flatten(input, self.start_dim, self.end_dim)
