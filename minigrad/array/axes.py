"""Shapes and axes from the arguments of a function."""

import operator

from minigrad import errors


def sizes(args: tuple) -> tuple[int, ...]:
    """Return the sizes of a call such as x.view(2, 3) or x.view((2, 3))."""
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    try:
        return tuple(map(operator.index, args[0] if one else args))
    except (TypeError, ValueError):  # from a Tensor with several elements
        raise TypeError(f"sizes and axes are integers, not {args}") from None


def lengths(args: tuple, least: int = 0) -> tuple[int, ...]:
    """Return the sizes of a tensor. Raises RuntimeError for a size below `least`."""
    fits = min(sizes(args), default=0) >= least
    errors.expect(fits, f"negative dimension: expected numbers from {least}", args)
    return sizes(args)


def from_front(dim: int, ndim: int) -> int:
    """Return `dim`, which may be negative, as a number from 0 on. Raises IndexError."""
    dim, _ = sizes((dim, 0))  # two, so that a list of axes is refused
    if not -ndim <= dim < ndim:
        raise IndexError(errors.out_of_range(dim, ndim))
    return dim % ndim
