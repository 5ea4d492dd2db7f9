"""Sums along an axis as products with ones: BLAS is faster at those than NumPy."""

import numpy as np
from numpy import ndarray

from minigrad.dtypes import ARRAYS

LONG = 1000  # more numbers than these are not added up at one go: errors would grow


def ones(a, *shape):
    """Return ones, in an array of the type and dtype that `a` has."""
    if type(a) is ndarray:
        return np.ones(shape, a.dtype)
    return np.ones_like(a, shape=shape)


def sums(a, axes):
    """Return the sums along some axes, which stay, with length 1."""
    if a.ndim > 1 and isinstance(a, ARRAYS):
        if axes in (-1, (-1,), a.ndim - 1) and a.shape[-1] < LONG:
            return a @ ones(a, a.shape[-1], 1)
        if axes in (0, (0,)) and a.ndim == 2:
            return column_sums(a)[None]
    return a.sum(axis=axes, keepdims=True)


def means(a, axes):
    """Return the means along some axes, which stay, with length 1."""
    total = sums(a, axes)
    return total / (a.size // max(total.size, 1))


def column_sums(a):
    """Return the sum of each column of a matrix."""
    if not isinstance(a, ARRAYS):  # a Tensor, on its second walk
        return a.sum(axis=0)
    if len(a) > LONG:
        a = np.stack([column_sums(a[i : i + LONG]) for i in range(0, len(a), LONG)])
    return ones(a, len(a)) @ a
