"""minigrad.linalg: norms, in the place where PyTorch has them."""

import math

import numpy as np

from minigrad.op import Op, called
from minigrad.ops import abs, where
from minigrad.reductions import amax, amin, axes, floats, spread, sum

euclid = Op(
    "LinalgVectorNorm",
    lambda a, dim=None, keepdim=False: np.sqrt(
        np.square(a).sum(axis=axes(dim), keepdims=keepdim)
    ),
    a=lambda g, a, y, dim, keepdim: (
        spread(g, a.shape, dim, keepdim)
        * of_length_1(a, spread(y, a.shape, dim, keepdim))
    ),
)


def of_length_1(a, length):
    """Return vectors over their lengths; zeros where there is no direction."""
    return np.where(length == 0, 0, a / length)


def vector_norm(x, ord=2, dim=None, keepdim=False):
    """Return (sum |x|^ord)^(1/ord) over `dim`; ord may be inf, -inf or 0, too."""
    floats("norm", x)
    if ord == 2:
        return euclid(x, dim, keepdim)
    size = abs(x)
    if ord == 0:
        out = sum(where(size == 0, size, 1.0), dim, keepdim)
    elif ord == 1:
        out = sum(size, dim, keepdim)
    elif math.isinf(ord):
        out = (amax if ord > 0 else amin)(size, dim, keepdim)
    else:
        out = power_of(sum(power_of(size, ord), dim, keepdim), 1 / ord)
    return called("LinalgVectorNorm", out)


def power_of(a, exponent):
    """Return a**exponent for a >= 0; the slope at 0 counts as 0, as in PyTorch."""
    at_0 = math.inf if exponent < 0 else a
    return where(a == 0, at_0, where(a == 0, 1.0, a) ** exponent)


def norm(input, p="fro", dim=None, keepdim=False):
    """Return the norm of order p; "fro", the default, is the Euclidean one."""
    return vector_norm(input, 2 if p == "fro" else p, dim, keepdim)
