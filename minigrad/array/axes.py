"""Axes and shapes, as the arguments of a function give them."""

import operator

from numpy.lib.array_utils import normalize_axis_index


def axis_of(dim: int, ndim: int) -> int:
    """Return an axis counted from the front; IndexError if there is no such axis."""
    return normalize_axis_index(dim, max(ndim, 1))


def sizes(args: tuple) -> tuple[int, ...]:
    """Return the sizes of a call such as x.view(2, 3) or x.view((2, 3))."""
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    return tuple(map(operator.index, args[0] if one else args))
