"""Rules that move numbers and compute nothing: views, joins, flips."""

import math

import numpy as np

from minigrad.array.arguments import axis_of, bools, sizes
from minigrad.array.dtypes import check_holds
from minigrad.array.fast_sums import added_up
from minigrad.graph.tensor import Tensor, kind
from minigrad.rules.op import Op, called, to_dtype
from minigrad.rules.operands import check_tensors
from minigrad.rules.pointwise import clone


def expand_dims(a, dim):
    """Return the tensor with new axes of length 1, at the places `dim`."""
    dims = dim if isinstance(dim, tuple) else (dim,)
    ndim = a.ndim + len(dims)
    for d in sorted(d % ndim for d in dims):
        a = unsqueezed(a, d)
    return a


# Views: the same numbers under another shape

viewed = Op(
    "View", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
reshaped = Op(
    "UnsafeView", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
in_one_piece = Op(
    "View", lambda a, size: a.copy().reshape(size), a=lambda g, shape: g.reshape(shape)
)
swapped = Op(
    "Transpose",
    lambda a, dim0, dim1: a.swapaxes(dim0, dim1),
    a=lambda g, dim0, dim1: g.swapaxes(dim0, dim1),
)
permuted = Op(
    "Permute",
    lambda a, dims: np.transpose(a, dims),
    a=lambda g, dims: np.transpose(g, tuple(np.argsort([d % len(dims) for d in dims]))),
)
squeezed = Op(
    "Squeeze",
    lambda a, dim=None: a.squeeze(dim if dim is None else ones_among(a, dim))[...],
    overload="dim",
    a=lambda g, shape: g.reshape(shape),
)
unsqueezed = Op(
    "Unsqueeze",
    lambda a, place: np.expand_dims(a, place),
    a=lambda g, place: g.squeeze(place),
)
expanded = Op("Expand", lambda a, size: np.broadcast_to(a, size), a=lambda g: g)


def ones_among(a, dim):
    """Return those axes of `dim` that have length 1: squeeze leaves others alone."""
    dims = dim if isinstance(dim, list | tuple) else (dim,)
    places = [axis_of(d, a.ndim) for d in dims]
    if len(set(places)) < len(places):
        raise RuntimeError(f"squeeze: {dims} has an axis twice; the shape is {a.shape}")
    return tuple(i for i in places if a.ndim and a.shape[i] == 1)


def reshape(input, *args, shape=None):
    """Return the numbers in another shape, on the same memory where that can be."""
    check_tensors("reshape", input)
    op = viewed if input.array.flags.c_contiguous else reshaped
    return op(input, lengths(args, shape))


def lengths(args, named):
    """Return a shape, in which one length may be -1: as long as it has to be."""
    shape = sizes(args, named)
    if min(shape, default=0) < -1:
        raise RuntimeError(f"invalid shape dimension {min(shape)} in {shape}")
    return shape


def view(input, *args, size=None):
    """Return the same memory in another shape; RuntimeError where a view's cannot be.

    Computed images are copied instead: here a convolution's batch is innermost.
    """
    shape = lengths(args, size)
    if input.ndim == 4 and input._base is None and not input.array.flags.c_contiguous:
        return in_one_piece(input, shape)
    out = viewed(input, shape)
    if out.numel() and not np.shares_memory(out.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride: "
            f"{input.shape} is not in one piece. Use .reshape(...) instead."
        )
    return out


def flatten(input, start_dim=0, end_dim=-1):
    """Return the axes from start_dim to end_dim as a single one."""
    check_tensors("flatten", input)
    shape = input.shape or (1,)
    first, last = (axis_of(dim, input.ndim) for dim in (start_dim, end_dim))
    if first > last:
        raise RuntimeError(f"flatten: start_dim {start_dim} comes after {end_dim}")
    middle = math.prod(shape[first : last + 1])
    return reshape(input, *shape[:first], middle, *shape[last + 1 :])


def transpose(input, dim0, dim1):
    """Return the tensor with two axes swapped."""
    check_tensors("transpose", input)
    if not input.ndim and {dim0, dim1} <= {0, -1}:
        return permuted(input, ())
    return swapped(input, dim0, dim1)


def swapaxes(input, axis0, axis1):
    """Return the tensor with two axes swapped: transpose, under NumPy's name."""
    return transpose(input, axis0, axis1)


def permute(input, *args, dims=None):
    """Return the tensor with its axes in another order."""
    return permuted(input, sizes(args, dims))


def t(input):
    """Return the transpose of a matrix; fewer axes stay as they are."""
    check_tensors("t", input)
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D"
        )
    return called("T", permuted(input, tuple(range(input.ndim))[::-1]))


def squeeze(input, dim=None):
    """Return the tensor without its axes of length 1, or without those of `dim`."""
    return squeezed(input, dim)


def unsqueeze(input, dim):
    """Return the tensor with a new axis of length 1 at `dim`."""
    return unsqueezed(input, dim)


def expand(input, *args, size=None):
    """Return the tensor stretched, without copying; -1 keeps the length of an axis."""
    wanted = sizes(args, size)
    if -1 in wanted[: max(len(wanted) - input.ndim, 0)]:
        raise RuntimeError(
            f"expand: -1 in {wanted} stands for no axis of {input.shape}"
        )
    old = (1,) * (len(wanted) - input.ndim) + input.shape
    size = tuple(o if n == -1 else n for o, n in zip(old, wanted))
    if size == old:  # nothing is stretched: then it may be written to
        return called("Expand", viewed(input, size))
    return expanded(input, size)


def broadcast_to(input, *args, size=None):
    """Return the tensor stretched to a shape, without copying."""
    check_tensors("broadcast_to", input)
    return expand(input, *args, size=size)


def contiguous(input):
    """Return the tensor with its numbers in one piece of memory, in order."""
    return input if input.array.flags.c_contiguous else clone(input)


# Joining


def repeat(input, *args, repeats=None):
    """Return as many copies of the tensor along each axis, side by side."""
    times = sizes(args, repeats)
    if len(times) < input.ndim:
        raise RuntimeError(
            f"repeat: {times} has a number for fewer axes than the shape {input.shape}"
        )
    return tiled(input, times)


tiled = Op(
    "Repeat",
    lambda a, times: np.tile(a, times),
    a=lambda g, shape, times: pile(g, shape, times),
)


def pile(g, shape, times):
    """Return the sum of the copies that repeat has made."""
    shape = (1,) * (len(times) - len(shape)) + tuple(shape)
    split = [n for pair in zip(times, shape) for n in pair]
    copies, axes = g.reshape(split), tuple(range(0, len(split), 2))
    total = copies.sum(axes) if isinstance(g, Tensor) else added_up(copies, axes)
    return total.reshape(shape)


# Others

flipped = Op(
    "Flip", lambda a, dims: np.flip(a, dims).copy(), a=lambda g, dims: np.flip(g, dims)
)


def flip(input, *args, dims=None):
    """Return the tensor with the order of some axes reversed, as a copy."""
    if not args and dims is None:
        raise TypeError("flip: missing dims, the axes to reverse")
    check_tensors("flip", input)
    dims = sizes(args, dims)
    return flipped(input, dims if input.ndim or dims not in ((0,), (-1,)) else ())


def rolled(a, shifts, dims=None):
    """Return an array shifted around its end, along all of the axes given."""
    if np.size(shifts) != (1 if dims is None else np.size(dims)):
        raise ValueError(f"shifts {shifts} and dims {dims} are not alike in number")
    return np.roll(a, shifts, dims)


roll = Op(
    "Roll",
    rolled,
    a=lambda g, shifts, dims: np.roll(g, tuple(-np.atleast_1d(shifts)), dims),
)


def matrices(a):
    """Return an array that has at least two axes; RuntimeError for another."""
    if a.ndim < 2:
        raise RuntimeError(f"expected at least 2 dimensions, got the shape {a.shape}")
    return a


tril = Op(
    "Tril",
    lambda a, diagonal=0: np.tril(matrices(a), diagonal),
    a=lambda g, diagonal: np.tril(g, diagonal),
)
triu = Op(
    "Triu",
    lambda a, diagonal=0: np.triu(matrices(a), diagonal),
    a=lambda g, diagonal: np.triu(g, diagonal),
)
filled = Op(
    "MaskedFill",
    lambda a, value, mask: np.where(mask, np.asarray(value, a.dtype), a),
    a=lambda g, mask: np.where(mask, 0, g),
    value=lambda g, mask: np.where(mask, g, 0),
)


def masked_fill(input, mask, value):
    """Return the tensor with `value`, a number or a 0-d tensor, where mask is True."""
    check_tensors("masked_fill", input)
    bools("masked_fill", mask)
    if not isinstance(value, Tensor | float | int | np.generic):
        raise TypeError(f"masked_fill: value has to be a number, not {kind(value)}")
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            f"masked_fill: value has to be one number, not of shape {value.shape}"
        )
    if isinstance(value, Tensor):
        value = to_dtype(value, input.dtype)
    else:
        check_holds(input.dtype, value)
    return filled(input, value, mask)
