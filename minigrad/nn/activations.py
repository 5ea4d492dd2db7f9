"""Activations: Gelu is here, and relu, tanh and sigmoid are in the rule table."""

import math

import numpy as np

from minigrad.nn.module import Module
from minigrad.rules import pointwise
from minigrad.rules.op import Op


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, input):
        return pointwise.relu(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input):
        return pointwise.tanh(input)


gelu_by_tanh = Op(
    "Gelu",
    lambda a: 0.5 * a * (1 + np.tanh(ROOT * (a + 0.044715 * a * a * a))),
    a=lambda g, a: g * slope_of_gelu(a, np.tanh(ROOT * (a + 0.044715 * a * a * a))),
)
ROOT = math.sqrt(2 / math.pi)


def slope_of_gelu(a, t):
    """Return the slope of 0.5 * a * (1 + t), where t is the tanh in `gelu_by_tanh`."""
    inner = ROOT * (1 + 0.134145 * a * a)
    return 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * inner


def gelu(input, *, approximate):
    """Return x times P(z < x) for a normally distributed z, approximated by tanh.

    Source: D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units", 2016.
    """
    if approximate != "tanh":
        raise NotImplementedError('gelu: only approximate="tanh" is implemented')
    return gelu_by_tanh(input)


class GELU(Module):
    """x times P(z < x) for a normally distributed z, approximated by tanh."""

    def __init__(self, approximate: str):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return gelu(input, approximate=self.approximate)
