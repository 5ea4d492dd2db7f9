"""Dropout: In training, each number is set to 0 with a probability p."""

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tensors import creation


def dropout(input, p=0.5, training=True):
    """Set each number to 0 with probability p, and scale the others by 1 / (1 - p)."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = creation.generator().random(input.shape, np.float32) >= p
    mask = Tensor(kept * input.dtype.type(0 if p == 1 else 1 / (1 - p)))
    return input * mask


class Dropout(Module):
    """Sets each number to 0 with probability p, in training only."""

    def __init__(self, p: float = 0.5):
        super().__init__()
        self.p = p

    def forward(self, input):
        return dropout(input, self.p, self.training)
