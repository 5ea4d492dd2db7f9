"""Rules that combine many numbers: sums, means, extremes."""

import math
from collections import namedtuple

import numpy as np

from minigrad.array.dtypes import float64, int64
from minigrad.array.sums import sums
from minigrad.graph.tensor import Tensor, functions, methods
from minigrad.rules.casting import cast
from minigrad.rules.indexing import grid, taken
from minigrad.rules.op import Op


def axes(dim):
    """Return dim as NumPy takes it. PyTorch allows lists, and () for all axes."""
    return (tuple(dim) or None) if isinstance(dim, (list, tuple)) else dim


def spread(g, shape, dim, keepdim):
    """Return g, stretched to the shape that a reduction started from."""
    if not keepdim and axes(dim) is not None:
        g = np.expand_dims(g, axes(dim))
    return np.broadcast_to(g, shape)


def count(shape, dim):
    """Return how many numbers a reduction over `dim` combines."""
    lengths = shape if axes(dim) is None else [shape[i] for i in np.atleast_1d(dim)]
    return math.prod(lengths)


def plain(function, of_none=None):
    """Return a forward function made from a reduction such as NumPy's.

    `of_none` is the axis that the reduction gets for dim=(): None for all axes, and ()
    for no axis.
    """
    return lambda a, dim=None, keepdim=False: function(
        a, of_none if dim == () else dim, keepdims=keepdim
    )


def total(a, dim=None, keepdim=False):
    """Return the sum along some axes."""
    return sums(a, axes(dim), keepdim)


def mean_of(a, dim=None, keepdim=False):
    """Return the mean of floats along some axes."""
    return total(a, dim, keepdim) / count(a.shape, dim)


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


amax = Op("Amax", plain(np.maximum.reduce), a=to_extremes)
amin = Op("Amin", plain(np.minimum.reduce), a=to_extremes)


argmax = Op("Argmax", plain(np.argmax))
argmin = Op("Argmin", plain(np.argmin))
all = Op("All", plain(np.logical_and.reduce, ()))
any = Op("Any", plain(np.logical_or.reduce, ()))


Extreme = namedtuple("Extreme", "values indices")  # of max and min along an axis


def to_equals(g, a, y):
    """Share g evenly between the positions where a is y. Here nan equals nan."""
    hit = (a == y) | (a != a) & (y != y)
    return np.where(hit, g / cast(hit.sum(), g.dtype, int64), 0)


max_of_all = Op("MaxBackward1", lambda a: a.max(), a=to_equals)
min_of_all = Op("MinBackward1", lambda a: a.min(), a=to_equals)


def max(input, dim=None, keepdim=False):
    """Return the largest number, or (values, indices) along an axis."""
    if dim is None:
        return max_of_all(input)
    return extreme("Max", argmax, input, dim, keepdim)


def min(input, dim=None, keepdim=False):
    """Return the smallest number, or (values, indices) along an axis."""
    if dim is None:
        return min_of_all(input)
    return extreme("Min", argmin, input, dim, keepdim)


def extreme(name, place_of, input, dim, keepdim):
    """Return (values, indices) along an axis, for max or for min."""
    if isinstance(dim, Tensor):
        raise TypeError("dim is one axis, not a Tensor: use maximum() for two Tensors")
    indices = place_of(input, dim, True)
    places = grid(indices.array, dim)
    if not keepdim:
        indices, places = indices.squeeze(dim), tuple(i.squeeze(dim) for i in places)
    return Extreme(taken[name](input, places), indices)


# Variance


def centered(g, a, dim, correction, keepdim):
    """Return g times twice the distance from the mean, divided by n - correction."""
    away = a - mean(a, dim, True)
    factor = float(2 / freedom(a.shape, dim, correction))
    return spread(g, a.shape, dim, keepdim) * away * factor


def freedom(shape, dim, correction):
    """Return n - correction as a NumPy number. Dividing by it raises no error at 0."""
    return np.float64(count(shape, dim) - correction)


def variance(a, dim=None, correction=1, keepdim=False):
    """Return the sum of squared distances from the mean, divided by n - correction."""
    exact = a.astype(float64)
    away = np.square(exact - mean_of(exact, dim, True))
    n = np.maximum(freedom(a.shape, dim, correction), 0)
    return (total(away, dim, keepdim) / n).astype(a.dtype)


def deviation(a, dim=None, correction=1, keepdim=False):
    """Return the root of the variance, even if float32 cannot hold the variance."""
    exact = a.astype(float64)
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
    """Return g times each vector divided by its length, or zeros for a length of 0."""
    length = spread(y, a.shape, dim, keepdim)
    return spread(g, a.shape, dim, keepdim) * np.where(length == 0, 0, a / length)


vector_norm = Op(
    "LinalgVectorNorm",
    lambda a, dim, keepdim: np.sqrt(total(np.square(a), dim, keepdim)),
    a=to_direction,
)


def norm(input, *, dim=None, keepdim=False):
    """Return the Euclidean length of a vector, or of the vectors along some axes."""
    return vector_norm(input, dim, keepdim)


# What they are called: methods of a Tensor, functions of minigrad, NumPy's functions

__all__ = METHODS = [
    *("all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min", "norm"),
    *("std", "sum", "var"),
]
methods(METHODS, globals())
functions[np.sum] = sum
