"""Rules that take many numbers together: sums, means, extremes, products."""

import math

import numpy as np

from minigrad.array.arguments import axis_of
from minigrad.array.dtypes import default, float64, int64
from minigrad.array.fast_sums import added_up
from minigrad.graph.tensor import Tensor, kind
from minigrad.rules.joining import cat
from minigrad.rules.op import Op, cast
from minigrad.rules.operands import check_tensors


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
    if axes(dim) is None or not shape:
        return math.prod(shape)
    return math.prod(shape[axis_of(i, len(shape))] for i in np.atleast_1d(axes(dim)))


def reduction(ufunc):
    """Return the forward function that takes numbers together with a NumPy function."""

    def forward(a, dim=None, keepdim=False):
        return ufunc.reduce(a, axis=axes(dim), keepdims=keepdim)

    return forward


def total(a, dim=None, keepdim=False):
    """Return the sum along some axes."""
    return added_up(a, axes(dim), keepdim)


sum = Op("Sum", total, overload="dim", a=spread)


def floats(name, a):
    """Raise TypeError or RuntimeError unless this is an array, or Tensor, of floats."""
    if not hasattr(a, "dtype"):
        raise TypeError(f"{name}(): input must be a Tensor, not {kind(a)}")
    if a.dtype.kind != "f":
        raise RuntimeError(f"{name}(): input must be floating point, not {a.dtype}")


def as_floats(a):
    """Return an array of floats as it is, and one of integers as floats."""
    return a if a.dtype.kind == "f" else a.astype(default)


def mean_of(a, dim=None, keepdim=False):
    """Return the mean of floats along some axes."""
    floats("mean", a)
    return total(a, dim, keepdim) / count(a.shape, dim)


mean = Op(
    "Mean",
    mean_of,
    overload="dim",
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


def by_dividing(g, a, y, dim, keepdim):
    """Multiply g with the product of the other numbers: all, over each of them."""
    return spread(g * y, a.shape, dim, keepdim) / a


def to_others(g, a, y, dim, keepdim):
    """Multiply g with the product of the other numbers, and do not divide by zeros."""
    if a.all():
        return by_dividing(g, a, y, dim, keepdim)
    if dim is None:
        if (a == 0).sum() > 1:
            return np.zeros_like(a)
        return to_others(g.reshape(1), a.reshape(-1), y, 0, True).reshape(a.shape)
    left = np.ones_like(a)
    right = np.ones_like(a)
    left, right, a = (np.moveaxis(x, dim, 0) for x in (left, right, a))
    left[1:] = np.cumprod(a[:-1], 0)
    right[:-1] = np.cumprod(a[:0:-1], 0)[::-1]
    g = g if keepdim else np.expand_dims(g, dim)
    return g * np.moveaxis(left * right, 0, dim)


def multiply_all(a, dim=None, keepdim=False):
    """Return the product, by halves if there are zeros: prod's plain composition."""
    if not a.ndim:
        return a.clone()  # its slope does not move with it
    if a.array.all():
        return of_quotients(a, dim, keepdim)
    shape = a.shape
    a = a.reshape(-1) if dim is None else a.transpose(0, dim)
    if not len(a):
        a = Tensor(np.ones((1, *a.shape[1:]), a.dtype))
    while len(a) > 1:
        half = len(a) // 2
        rest = a[2 * half :]
        a = a[:half] * a[half : 2 * half]
        a = cat([a, rest]) if len(rest) else a
    if dim is None:
        return a.reshape((1,) * len(shape) if keepdim else ())
    a = a.transpose(0, dim)
    return a if keepdim else a.squeeze(dim)


def product(a, dim=None, keepdim=False):
    """Return the product of all numbers, or of those along one axis."""
    if isinstance(dim, list | tuple):
        raise TypeError(f"prod: dim has to be one axis, not {dim}")
    return np.multiply.reduce(a, axis=dim, keepdims=keepdim)


of_quotients = Op("Prod", product, a=by_dividing)
prod = Op("Prod", product, overload="dim", plain=multiply_all, a=to_others)
cumsum = Op(
    "Cumsum",
    lambda a, dim: added_so_far(a, dim),
    a=lambda g, dim: added_from_behind(g, dim),
)


def added_so_far(a, dim):
    """Return the sums of all up to each place, in float64 on the way."""
    out = np.cumsum(a, dim, int64 if a.dtype.kind != "f" else float64)
    return (out if out.dtype == int64 else out.astype(a.dtype)).reshape(a.shape)


def added_from_behind(g, dim):
    """Return the sums of all from each place on."""
    return g if dim is None else np.flip(cumsum(np.flip(g, dim), dim), dim)


def centered(g, a, dim, correction, keepdim):
    """Return the gradient of the variance: twice the distance from the mean, over n."""
    away = a - mean(a, dim, True)
    over = count(a.shape, dim) - correction
    if over <= 0 and axes(dim) is None:  # PyTorch has two formulas
        away, over = abs(away) * math.inf, 1
    return spread(g, a.shape, dim, keepdim) * away * (2 / over if over else math.inf)


def variance(a, dim=None, correction=1, keepdim=False):
    """Return the squared distance from the mean: the sum over n - correction."""
    floats("var", a)
    away = np.square(a - mean_of(a, dim, True))
    over = count(a.shape, dim) - correction
    return total(away, dim, keepdim) / (over if over > 0 else 0.0)


def deviation(a, dim=None, correction=1, keepdim=False):
    """Return the root of the variance, in float64 on the way: squares overflow."""
    floats("std", a)
    wide = variance(a.astype(float64), dim, correction, keepdim)
    return np.sqrt(wide).astype(a.dtype)


VAR = Op("Var", variance, a=centered)
STD = Op(
    "Std",
    deviation,
    a=lambda g, a, y, dim, correction, keepdim: centered(
        g * (y != 0) / np.where(y == 0, 1, y + y), a, dim, correction, keepdim
    ),
)


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """Return the variance: squared distances from the mean, over n - correction."""
    return var_or_std(VAR, input, dim, unbiased, keepdim, correction)


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """Return the root of the variance."""
    return var_or_std(STD, input, dim, unbiased, keepdim, correction)


def var_or_std(op, input, dim, unbiased, keepdim, correction):
    """Return var or std; `unbiased` is an older word for a correction of 1, or 0."""
    if isinstance(dim, bool):  # x.var(False)
        dim, unbiased = None, dim
    if not isinstance(unbiased, bool | None):
        raise TypeError(f"unbiased has to be True or False, not {unbiased}")
    if unbiased is not None or correction is None:
        correction = int(unbiased is not False)
    return op(input, dim, correction, keepdim)


# Questions


def question(ufunc):
    """Return a forward function like a reduction's, but that takes () for no axis."""

    def forward(a, dim=None, keepdim=False):
        dim = tuple(dim) if isinstance(dim, list) else dim
        return ufunc.reduce(a, axis=dim, keepdims=keepdim, dtype=bool)

    return forward


all = Op("All", question(np.logical_and))
any = Op("Any", question(np.logical_or))


def equal(input, other):
    """Return whether two tensors have the same shape and the same numbers."""
    check_tensors("equal", input, other)
    return bool(np.array_equal(input.array, other.array))


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether no number differs from the other by over atol + rtol * |other|."""
    check_tensors("allclose", input, other)
    x, y = input.array, other.array
    if x.dtype != y.dtype or rtol < 0 or atol < 0:
        raise RuntimeError(
            "allclose: wants two tensors of one dtype, and tolerances from 0 on; got "
            f"{x.dtype} and {y.dtype}, rtol {rtol} and atol {atol}"
        )
    try:
        return bool(np.allclose(x, y, rtol, atol, equal_nan))
    except ValueError as error:
        raise RuntimeError(
            f"allclose: shapes that do not broadcast: {x.shape} and {y.shape}"
        ) from error


# Softmax
