"""The largest and the smallest: of all numbers, along an axis, or of two tensors."""

from typing import NamedTuple

import numpy as np

from minigrad.array.dtypes import int64
from minigrad.graph.tensor import Tensor
from minigrad.rules import pointwise
from minigrad.rules.indexing import grid, taken
from minigrad.rules.op import Op, called, cast
from minigrad.rules.operands import check_tensors


def to_equals(g, a, y):
    """Share g evenly between the places where a is y; for once, nan is equal to nan."""
    hit = (a == y) | (a != a) & (y != y)
    return np.where(hit, g / cast(hit.sum(), g.dtype, int64), 0)


MAX = Op("MaxBackward1", lambda a: a.max(), a=to_equals)
MIN = Op("MinBackward1", lambda a: a.min(), a=to_equals)
ARGMAX = Op(
    "Argmax", lambda a, dim=None, keepdim=False: np.argmax(a, dim, keepdims=keepdim)
)
ARGMIN = Op(
    "Argmin", lambda a, dim=None, keepdim=False: np.argmin(a, dim, keepdims=keepdim)
)


class Extreme(NamedTuple):
    """What max and min return along a dimension."""

    values: Tensor
    indices: Tensor


def max(input, dim=None, keepdim=False, *, other=None):
    """Return the largest number; with a dim (values, indices); of two, the maximum."""
    dim = dim if other is None else other
    return extreme("Max", input, dim, keepdim, MAX, maximum, ARGMAX)


def min(input, dim=None, keepdim=False, *, other=None):
    """Return the smallest number; with a dim (values, indices); of two, the minimum."""
    dim = dim if other is None else other
    return extreme("Min", input, dim, keepdim, MIN, minimum, ARGMIN)


def extreme(name, input, dim, keepdim, *functions):
    """Return what max and min have in common."""
    of_all, of_two, place_of = functions
    check_tensors(name.lower(), input)
    if dim is None and keepdim:
        raise TypeError(f"{name.lower()}: keepdim wants a dim")
    if dim is None and not input.numel():
        raise RuntimeError(f"{name.lower()}(): no numbers, in the shape {input.shape}")
    if dim is None:
        return of_all(input)
    if isinstance(dim, Tensor):
        return of_two(input, dim)
    if not input.ndim:  # a number has an axis 0, too
        values, indices = extreme(name, input.unsqueeze(0), dim, False, *functions)
        return Extreme(called(name, values), indices)
    indices = place_of(input, dim, keepdim)
    index = grid(indices.array if keepdim else np.expand_dims(indices.array, dim), dim)
    if not keepdim:
        index = tuple(i.squeeze(dim) for i in index)
    return Extreme(taken[name](input, index), indices)


def maximum(input, other):
    """Return the larger of two numbers, in each place; for a bound there is clamp."""
    check_tensors("maximum", input, other)
    return pointwise.maximum(input, other)


def minimum(input, other):
    """Return the smaller of two numbers, in each place."""
    check_tensors("minimum", input, other)
    return pointwise.minimum(input, other)


def argmax(input, dim=None, keepdim=False):
    """Return where the largest number is, the first of several."""
    return place(ARGMAX, input, dim, keepdim)


def argmin(input, dim=None, keepdim=False):
    """Return where the smallest number is, the first of several."""
    return place(ARGMIN, input, dim, keepdim)


def place(op, input, dim, keepdim):
    """Return what argmax and argmin find; raise RuntimeError for bools."""
    if isinstance(input, Tensor) and input.dtype == bool:
        raise RuntimeError(f"{op.name.lower()}: not for bools; see max and min")
    return op(input, dim, keepdim)
