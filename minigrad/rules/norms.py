"""Norms of vectors: how long they are, by each order PyTorch has."""

import math

import numpy as np

from minigrad.array.dtypes import int64
from minigrad.rules.op import Op, cast
from minigrad.rules.pointwise import abs, sign
from minigrad.rules.reductions import axes, count, floats, reduction, spread, total


def length_of(a, dim=None, keepdim=False):
    """Return Euclidean lengths; a number's is its size, and its square may overflow."""
    if count(a.shape, dim) == 1:
        return total(np.abs(a), dim, keepdim)
    return np.sqrt(np.square(a).sum(axis=axes(dim), keepdims=keepdim))


def to_direction(g, a, y, dim, keepdim):
    """Return g along the vectors over their lengths; zeros where one has no length."""
    length = spread(y, a.shape, dim, keepdim)
    return spread(g, a.shape, dim, keepdim) * np.where(length == 0, 0, a / length)


def root_of_powers(a, ord, dim=None, keepdim=False):
    """Return (sum |a|^ord)^(1/ord)."""
    return total(np.abs(a) ** ord, dim, keepdim) ** (1 / ord)


def to_powers(g, a, y, ord, dim, keepdim):
    """Return g times sign(a) (|a| / y)^(ord - 1), and zeros where that has no sense."""
    size = abs(a)
    g, y = (spread(x, a.shape, dim, keepdim) for x in (g, y))
    if ord < 1:
        share = np.where(a == 0, 0, size ** (ord - 1)) * (g * y ** (1 - ord))
    else:
        share = size ** (ord - 1) * np.where(y == 0, 0, g * y ** (1 - ord))
    return sign(a) * share


def to_outermost(g, a, y, dim, keepdim):
    """Share g evenly between the places where |a| is y, or nan."""
    size = abs(a)
    hit = (size == spread(y, a.shape, dim, keepdim)) | (size != size)
    hits = hit.sum(axis=axes(dim), keepdims=True)
    g = spread(g, a.shape, dim, keepdim) / cast(hits, g.dtype, int64)
    return g * sign(a) * cast(hit, g.dtype, hit.dtype)


def norm_op(forward, formula):
    """Return the Op of a norm; all have the name of PyTorch's node."""
    return Op("LinalgVectorNorm", forward, a=formula)


def sizes(op):
    """Return a forward function that takes absolute values together."""
    return lambda a, dim=None, keepdim=False: op(np.abs(a), dim, keepdim)


EUCLID = norm_op(length_of, to_direction)
POWERS = norm_op(root_of_powers, to_powers)
LARGEST = norm_op(sizes(reduction(np.maximum)), to_outermost)
SMALLEST = norm_op(sizes(reduction(np.minimum)), to_outermost)
SIZES = norm_op(
    sizes(total),
    lambda g, a, dim, keepdim: spread(g, a.shape, dim, keepdim) * sign(a),
)
NONZERO = norm_op(
    lambda a, dim=None, keepdim=False: total((a != 0).astype(a.dtype), dim, keepdim),
    lambda g: None,
)


def vector_norm(x, ord=2, dim=None, keepdim=False):
    """Return (sum |x|^ord)^(1/ord) over `dim`; ord may be inf, -inf or 0, too."""
    floats("norm", x)
    many = count(x.shape, dim)
    if ord < 0 and not many:
        raise RuntimeError(f"norm: none of order {ord} for no numbers, {x.shape}")
    if math.isinf(ord):
        return (LARGEST if ord > 0 else SMALLEST)(x, dim, keepdim)
    if ord == 0:
        return NONZERO(x, dim, keepdim)
    if ord == 1:
        return SIZES(x, dim, keepdim)
    if ord == 2 or many == 1:  # a number's is its size
        return EUCLID(x, dim, keepdim)
    return POWERS(x, ord, dim, keepdim)


def norm(input, p="fro", dim=None, keepdim=False):
    """Return the norm of order p; "fro", the default, is the Euclidean one."""
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: there is no order {p!r}; p is a number, or 'fro'")
    return vector_norm(input, 2 if p == "fro" else float(p), dim, keepdim)
