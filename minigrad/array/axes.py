"""Shapes, as the arguments of a function give them."""

import operator


def sizes(args: tuple) -> tuple[int, ...]:
    """Return the sizes of a call such as x.view(2, 3) or x.view((2, 3))."""
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    return tuple(map(operator.index, args[0] if one else args))
