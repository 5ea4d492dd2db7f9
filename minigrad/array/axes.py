"""Axes and shapes, as the arguments of a function give them."""

import operator

from numpy.lib.array_utils import normalize_axis_index


def axis_of(dim: int, ndim: int) -> int:
    """Return an axis as counted from the front; raise IndexError if there is none."""
    return normalize_axis_index(dim, max(ndim, 1))


def sizes(args: tuple) -> tuple[int, ...]:
    """Return the sizes of x.view(2, 3), which may come as one tuple, too."""
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    return tuple(map(operator.index, args[0] if one else args))
