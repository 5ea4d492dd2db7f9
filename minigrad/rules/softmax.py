"""Softmax and its logarithm, without overflow."""

import numpy as np

from minigrad.array.sums import max_along, sums
from minigrad.graph.tensor import methods
from minigrad.rules.op import Op
from minigrad.rules.reductions import axes, spread


def log_of_sum(a, dim, keepdim=False):
    """Return log(sum(exp(a))) without overflow."""
    dim = axes(dim)
    top = max_along(a, dim)
    top = np.where(np.isfinite(top), top, 0)
    total = np.log(np.exp(a - top).sum(axis=dim, keepdims=True)) + top
    return total if keepdim else total.squeeze(dim)


logsumexp = Op(
    "Logsumexp",
    log_of_sum,
    a=lambda g, a, y, dim, keepdim: (
        spread(g, a.shape, dim, keepdim) * np.exp(a - spread(y, a.shape, dim, keepdim))
    ),
)


def softmax_of(a, dim):
    """Return exp(a) as shares of its sum along dim, without overflow."""
    power = np.exp(a - max_along(a, dim))
    power /= sums(power, dim)
    return power


softmax = Op("Softmax", softmax_of, a=lambda g, y, dim: y * (g - sums(g * y, dim)))


def log_of_shares(a, dim):
    """Return the logarithm of softmax, without overflow for large numbers."""
    below = a - max_along(a, dim)
    return below - np.log(sums(np.exp(below), dim))


log_softmax = Op(
    "LogSoftmax",
    log_of_shares,
    a=lambda g, y, dim: g - np.exp(y) * g.sum(axis=dim, keepdims=True),
)


__all__ = METHODS = ["log_softmax", "logsumexp", "softmax"]
methods(METHODS, globals())
