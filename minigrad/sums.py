"""Sums along an axis: as products with ones, where BLAS adds up faster than NumPy."""

import numpy as np
from numpy import ndarray


def sums(a, axes):
    """Return the sums along some axes, which stay, of length 1."""
    if type(a) is ndarray and a.ndim > 1 and axes in (-1, (-1,), a.ndim - 1):
        return a @ np.ones((a.shape[-1], 1), a.dtype)
    return a.sum(axis=axes, keepdims=True)


def means(a, axes):
    """Return the means along some axes, which stay, of length 1."""
    total = sums(a, axes)
    return total / (a.size // max(total.size, 1))


def column_sums(a):
    """Return the sum of each column of a matrix."""
    return np.ones(len(a), a.dtype) @ a if type(a) is ndarray else a.sum(axis=0)
