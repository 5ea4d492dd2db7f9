"""Sums along axes, and functions that use them."""

import math

import numpy as np

from minigrad.array.dtypes import ARRAYS, float32, float64, ones

LONG = 1000  # longer sums of float32 use float64, because errors would grow
SHORT = 128  # shorter rows use BLAS, which adds one element after the other
VERY_LONG = 8192  # the most products that are added up in one go


def sums(a, axes, keepdims=True):
    """Return sums along axes, or of all elements. Long sums of float32 use float64.

    Along an axis, NumPy adds one element after the other, and the error grows with the
    number of elements. In float32, 60,000 times 0.1 gives 6003.5. Short rows are added
    up as a product with ones, which is faster.
    """
    if not isinstance(a, ARRAYS):
        return a.sum(axis=axes, keepdims=keepdims)
    short = a.ndim > 1 and a.dtype.kind == "f" and 0 < a.shape[-1] < SHORT
    if keepdims and axes in (-1, (-1,), a.ndim - 1) and short:  # BLAS is faster
        return a @ ones((a.shape[-1], 1), a)
    out = np.add.reduce(a, axes, keepdims=keepdims)
    if a.dtype == float32 and a.size >= LONG * max(out.size, 1):
        out = np.add.reduce(a, axes, float64, keepdims=keepdims).astype(float32)
    return out


def means(a, axes):
    """Return the means along some axes, and keep these axes with length 1."""
    total = sums(a, axes)
    return total / (a.size // max(total.size, 1))


def max_along(a, dim):
    """Return the largest elements along an axis, and keep the axis with length 1."""
    a = a if a.dtype.kind == "f" else a.astype(float32)
    return np.maximum.reduce(a, axis=dim, keepdims=True, initial=-math.inf)


def product_in_pieces(rows, columns):
    """Return rows @ columns.T, as a sum of shorter products if rows are few and long.

    On machines with AVX-512, OpenBLAS has a faster method for up to a million
    multiplications. But this method adds up each sum in one go, so the errors grow.
    """
    step = min(10**6 // (len(rows) * len(columns) or 1), VERY_LONG)
    if step < 500:
        return rows @ columns.T
    ends = range(0, rows.shape[1] or 1, step)
    return sum(rows[:, i : i + step] @ columns[:, i : i + step].T for i in ends)
