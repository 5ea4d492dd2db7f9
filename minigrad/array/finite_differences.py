"""Gradients of arrays, found by nudging every element. They check the exact ones."""

from collections.abc import Callable, Sequence

import numpy as np

from minigrad.scalar.finite_differences import central_difference


def array_gradients(f: Callable, arrays: Sequence, upstream=1.0) -> list:
    """Estimate the gradient of (f(*arrays) * upstream).sum() for each of the arrays.

    Nudges every element by itself. Returns a list of arrays with the same shapes.
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
