"""Padding: numbers added, or cut off, at both ends of some axes."""

import math

import numpy as np

from minigrad.array.dtypes import check_holds
from minigrad.graph.tensor import Tensor
from minigrad.rules.indexing import index_select
from minigrad.rules.joint import same
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors


def pad(input, pad, mode="constant", value=None):
    """Add (or, if negative, cut off) numbers at both ends of the last axes.

    `pad` holds pairs: before and after for the last axis, then the one before it. The
    mode is "constant" (the numbers are `value`), "reflect", "replicate" or "circular".
    """
    check_tensors("pad", input)
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise RuntimeError(f"pad: {tuple(pad)} are no pairs for {input.ndim} axes")
    pairs = [(0, 0)] * (input.ndim - len(pad) // 2)
    pairs += [tuple(pad[i : i + 2]) for i in range(len(pad) - 2, -1, -2)]
    if any(n + min(x, 0) + min(y, 0) < 0 for n, (x, y) in zip(input.shape, pairs)):
        raise RuntimeError(f"pad: cannot cut so much off {input.shape}: {tuple(pad)}")
    if mode != "constant":
        return with_ends(input, pairs, len(pad) // 2, mode, value)
    value = value or 0.0
    if max(pad, default=0) > 0:
        check_holds(input.dtype, value)
    return PAD(input, tuple(pairs), value)


def padded(a, pairs, value):
    """Return an array with its ends extended or cut off."""
    a = a[tuple(slice(max(-x, 0), n + min(y, 0)) for n, (x, y) in zip(a.shape, pairs))]
    ends = [(max(x, 0), max(y, 0)) for x, y in pairs]
    return np.pad(a, ends or 0, constant_values=value)


PAD = Op(
    "ConstantPadNd",
    padded,
    a=lambda g, pairs: PAD(g, tuple((-x, -y) for x, y in pairs), 0.0),
)


ENDS = {  # NumPy's name for it, how far beyond the length it may go, PyTorch's node
    "reflect": ("reflect", -1, "ReflectionPad"),
    "circular": ("wrap", 0, None),
    "replicate": ("edge", math.inf, "ReplicationPad"),
}


def with_ends(input, pairs, axes, mode, value):
    """Return a tensor longer at both ends of its axes, by numbers of its own."""
    if mode not in ENDS:
        names = ", ".join(["constant", *ENDS])
        raise NotImplementedError(f"pad: there is no mode {mode!r}, only {names}")
    if value:
        raise RuntimeError(f"pad: the mode {mode!r} does not take a value: {value}")
    if not any(map(any, pairs)):
        return input.clone()
    name, beyond, node = ENDS[mode]
    if node:  # one function to PyTorch, see joint
        input = same(input)
    for dim, (length, (before, after)) in enumerate(zip(input.shape, pairs)):
        more = max(before, 0), max(after, 0)
        kept = slice(max(-before, 0), min(after, 0) or None)
        places = np.arange(length)
        if mode == "circular":  # what is cut off does not come round again
            places, kept = places[kept], slice(None)
        if any(more) and max(more) > len(places) + beyond:
            raise RuntimeError(f"pad: {mode} cannot add {more} to a length of {length}")
        if before or after:
            places = np.pad(places, more, name)[kept]
            input = index_select(input, dim, Tensor(places))
    return called(f"{node}{axes}D", input) if node else input
