"""Derivatives of arrays by nudging every number: a check on all the others."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.scalar.finite_differences import central_difference


def array_gradients(f: Callable, arrays: Sequence, upstream: Any = 1.0) -> list:
    """Estimate the gradient of (f(*arrays) * upstream).sum() for each of the arrays.

    Every number of every array is nudged by itself: a list of arrays, of their shapes.
    """
    xs = [np.array(array, dtype=float) for array in arrays]

    def partial(x, place):
        def value(number):
            x[place] = number
            return (f(*xs) * upstream).sum()

        middle = x[place]
        slope = central_difference(value, middle)
        x[place] = middle
        return slope

    each = [[partial(x, place) for place in np.ndindex(x.shape)] for x in xs]
    return [np.reshape(slopes, x.shape) for slopes, x in zip(each, xs)]
