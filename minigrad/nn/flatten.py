"""Flatten: what stands between images and a linear layer."""

from minigrad.nn.module import Module
from minigrad.rules.shape import flatten


class Flatten(Module):
    """Makes one axis of all but the first."""

    def forward(self, input):
        return flatten(input, 1)
