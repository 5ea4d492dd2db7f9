"""Padding: Adds or removes numbers at both ends of some axes."""

import numpy as np

from minigrad.array.axes import sizes
from minigrad.errors import expect
from minigrad.rules.op import Op


def pad(input, pad, *, value=0.0):
    """Add numbers at both ends of the last axes, or remove them if `pad` is negative.

    `pad` holds two numbers, before and after, for the last axis, then two for the axis
    before it, and so on.
    """
    pad = sizes((pad,))
    fits = len(pad) in range(0, 2 * getattr(input, "ndim", 0) + 1, 2)
    expect(fits, "Padding length must be divisible by 2, and fit the axes", pad, input)
    ends = list(zip(pad[::2], pad[1::2]))
    pairs = [(0, 0)] * (input.ndim - len(ends)) + ends[::-1]
    if any(min(x, 0) + min(y, 0) < -n for n, (x, y) in zip(input.shape, pairs)):
        raise ValueError(f"pad: {pad} cuts off more than a shape {input.shape} has")
    return constant_pad_nd(input, tuple(pairs), value)


def padded(a, pairs, value):
    """Return an array with its ends extended or cut off."""
    a = a[tuple(slice(max(-x, 0), n + min(y, 0)) for n, (x, y) in zip(a.shape, pairs))]
    ends = [(max(x, 0), max(y, 0)) for x, y in pairs]
    return np.pad(a, ends or 0, constant_values=value)


constant_pad_nd = Op(
    "ConstantPadNd",
    padded,
    a=lambda g, pairs: constant_pad_nd(g, tuple((-x, -y) for x, y in pairs), 0.0),
)
