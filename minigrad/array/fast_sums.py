"""Sums along an axis as products with ones: faster than NumPy's own."""

import math

import numpy as np

from minigrad.array.axes import axis_of
from minigrad.array.dtypes import ARRAYS, float32, float64, ones

LONG = 1000  # more numbers than these are not added up at one go: errors would grow
VERY_LONG = 8192  # nor more than these in a product of matrices


def added_up(a, axes, keepdims=False):
    """Return the sums along some axes, or of all; many float32 in float64 on the way.

    Along an axis NumPy adds one number after the other, and the error grows with their
    number: of 0.1 in float32 60,000 make 6003.5.
    """
    if axes is None or a.size < LONG or a.dtype != float32:
        return np.add.reduce(a, axes, keepdims=keepdims)
    if math.prod(a.shape[axis_of(i, a.ndim)] for i in np.atleast_1d(axes)) < LONG:
        return np.add.reduce(a, axes, keepdims=keepdims)
    return np.add.reduce(a, axes, float64, keepdims=keepdims).astype(float32)


def suits(a):
    """Return whether this is an array with axes, of floats that BLAS can add up."""
    return isinstance(a, ARRAYS) and a.ndim > 1 and a.dtype in (float32, float64)


def sums(a, axes):
    """Return the sums along some axes, which stay, with length 1."""
    if suits(a):
        if axes in (-1, (-1,), a.ndim - 1) and a.shape[-1] < LONG:
            return a @ ones((a.shape[-1], 1), a)
        n = len(axes) if isinstance(axes, tuple) else 1
        if axes in (0, tuple(range(n))) and n < a.ndim:  # those in front, as one
            rows = a.reshape((math.prod(a.shape[:n]), math.prod(a.shape[n:])))
            return column_sums(rows).reshape((1,) * n + a.shape[n:])
        return added_up(a, axes, True)
    return a.sum(axis=axes, keepdims=True)


def means(a, axes):
    """Return the means along some axes, which stay, with length 1."""
    total = sums(a, axes)
    return total / (a.size // max(total.size, 1))


def tops(a, dim):
    """Return the largest numbers along an axis, which stays, with length 1.

    In many short rows NumPy finds the place of the largest sooner than the number.
    """
    a = a if a.dtype.kind == "f" else a.astype(float32)
    if suits(a) and dim in (-1, a.ndim - 1) and 0 < a.shape[-1] < LONG:
        rows = a.reshape(-1, a.shape[-1])
        largest = rows[np.arange(len(rows)), rows.argmax(axis=1)]
        return largest.reshape(*a.shape[:-1], 1)
    return np.maximum.reduce(a, axis=dim, keepdims=True, initial=-math.inf)


def row_sums(a):
    """Return the sum of each row of a matrix."""
    return sums(a, 1)[:, 0]


def column_sums(a):
    """Return the sum of each column of a matrix."""
    if not suits(a):
        return a.sum(axis=0)
    if len(a) > LONG:
        a = np.stack([column_sums(a[i : i + LONG]) for i in range(0, len(a), LONG)])
    return np.dot(ones(len(a), a), a)


def product_in_pieces(rows, columns):
    """Return rows @ columns.T: with few but long rows piece by piece, and added up.

    Up to a million multiplications OpenBLAS takes a faster way where it has AVX-512,
    and adds up each sum at one go.
    """
    step = min(10**6 // (len(rows) * len(columns) or 1), VERY_LONG)
    if step < 500:
        return rows @ columns.T
    ends = range(0, rows.shape[1] or 1, step)
    return sum(rows[:, i : i + step] @ columns[:, i : i + step].T for i in ends)
