"""Rules that take many numbers together: sums, means, extremes."""

import math
from collections import namedtuple

import numpy as np

from minigrad.array.dtypes import float64, int64
from minigrad.array.sums import sums
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import cast
from minigrad.rules.indexing import grid, taken
from minigrad.rules.node_names import called
from minigrad.rules.op import Op


def axes(dim):
    """Return dim as NumPy wants it: PyTorch takes lists, and () for all axes."""
    return (tuple(dim) or None) if isinstance(dim, (list, tuple)) else dim


def spread(g, shape, dim, keepdim):
    """Return g stretched to the shape that a reduction started from."""
    if not keepdim and axes(dim) is not None:
        g = np.expand_dims(g, axes(dim))
    return np.broadcast_to(g, shape)


def count(shape, dim):
    """Return how many numbers a reduction over `dim` takes together."""
    lengths = shape if axes(dim) is None else [shape[i] for i in np.atleast_1d(dim)]
    return math.prod(lengths)


def reduction(ufunc):
    """Return the forward function that takes numbers together with a NumPy function."""

    def forward(a, dim=None, keepdim=False):
        return ufunc.reduce(a, axis=axes(dim), keepdims=keepdim)

    return forward


def total(a, dim=None, keepdim=False):
    """Return the sum along some axes."""
    return sums(a, axes(dim), keepdim)


def floats(a, name):
    """Return an array of floats; raise RuntimeError for one of integers or bools."""
    if a.dtype.kind != "f":
        raise RuntimeError(f"{name}(): input must be floating point, not {a.dtype}")
    return a


def mean_of(a, dim=None, keepdim=False):
    """Return the mean of floats along some axes."""
    return total(floats(a, "mean"), dim, keepdim) / count(a.shape, dim)


sum = Op("Sum", total, a=spread)
mean = Op(
    "Mean",
    mean_of,
    a=lambda g, shape, dim, keepdim: spread(g, shape, dim, keepdim) / count(shape, dim),
)


def to_extremes(g, a, y, dim, keepdim):
    """Share g evenly between the places where a has the extreme value y."""
    hit = a == spread(y, a.shape, dim, keepdim)
    hit = cast(hit, g.dtype, hit.dtype)
    hits = hit.sum(axis=axes(dim), keepdims=keepdim)
    return hit * spread(g / hits, a.shape, dim, keepdim)


amax = Op("Amax", reduction(np.maximum), a=to_extremes)
amin = Op("Amin", reduction(np.minimum), a=to_extremes)


def plain(function):
    """Return the forward function of one that takes numbers together, as NumPy's do."""
    return lambda a, dim=None, keepdim=False: function(a, dim, keepdims=keepdim)


argmax = Op("Argmax", plain(np.argmax))
argmin = Op("Argmin", plain(np.argmin))
all = Op("All", plain(np.logical_and.reduce))
any = Op("Any", plain(np.logical_or.reduce))


Extreme = namedtuple("Extreme", "values indices")  # of max and min along an axis


def to_equals(g, a, y):
    """Share g evenly between the places where a is y; for once, nan is equal to nan."""
    hit = (a == y) | (a != a) & (y != y)
    return np.where(hit, g / cast(hit.sum(), g.dtype, int64), 0)


MAX = Op("MaxBackward1", lambda a: a.max(), a=to_equals)
MIN = Op("MinBackward1", lambda a: a.min(), a=to_equals)


def max(input, dim=None, keepdim=False):
    """Return the largest number, or along an axis (values, indices)."""
    return MAX(input) if dim is None else extreme("Max", argmax, input, dim, keepdim)


def min(input, dim=None, keepdim=False):
    """Return the smallest number, or along an axis (values, indices)."""
    return MIN(input) if dim is None else extreme("Min", argmin, input, dim, keepdim)


def extreme(name, place_of, input, dim, keepdim):
    """Return what max and min along an axis have in common."""
    if isinstance(dim, Tensor):
        raise TypeError("dim is one axis, and no Tensor: see maximum()")
    indices = place_of(input, dim, True)
    values = taken[name](input, grid(indices.array, dim))
    if keepdim:
        return Extreme(values, indices)
    return Extreme(called(name, values.squeeze(dim)), indices.squeeze(dim))


# Variance


def centered(g, a, dim, correction, keepdim):
    """Return the gradient of the variance: twice the distance from the mean, over n."""
    away = a - mean(a, dim, True)
    factor = float(2 / freedom(a.shape, dim, correction))
    return spread(g, a.shape, dim, keepdim) * away * factor


def freedom(shape, dim, correction):
    """Return n - correction, as a number that may be divided by even if it is 0."""
    return np.float64(count(shape, dim) - correction)


def variance(a, dim=None, correction=1, keepdim=False):
    """Return the squared distance from the mean, sum by n - correction."""
    exact = floats(a, "var").astype(float64)
    away = np.square(exact - mean_of(exact, dim, True))
    n = np.maximum(freedom(a.shape, dim, correction), 0)
    return (total(away, dim, keepdim) / n).astype(a.dtype)


def deviation(a, dim=None, correction=1, keepdim=False):
    """Return the root of the variance, which may be too large for float32."""
    exact = floats(a, "std").astype(float64)
    return np.sqrt(variance(exact, dim, correction, keepdim)).astype(a.dtype)


var = Op("Var", variance, a=centered)
std = Op(
    "Std",
    deviation,
    a=lambda g, a, y, dim, correction, keepdim: centered(
        np.where(y == 0, 0, g / (y + y)), a, dim, correction, keepdim
    ),
)


def to_direction(g, a, y, dim, keepdim):
    """Return g along the vectors over their lengths; zeros where one has no length."""
    length = spread(y, a.shape, dim, keepdim)
    return spread(g, a.shape, dim, keepdim) * np.where(length == 0, 0, a / length)


EUCLID = Op(
    "LinalgVectorNorm",
    lambda a, dim, keepdim: np.sqrt(total(np.square(a), dim, keepdim)),
    a=to_direction,
)


def norm(input, *, dim=None, keepdim=False):
    """Return the Euclidean length of a vector, or of those along some axes."""
    return EUCLID(input, dim, keepdim)
