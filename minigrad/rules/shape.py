"""Rules that move numbers and compute nothing: views, and parts of a matrix."""

import math

import numpy as np

from minigrad.array.axes import axis_of, sizes
from minigrad.rules.node_names import AlongAxes, called
from minigrad.rules.op import Op
from minigrad.rules.pointwise import clone

viewed = Op(
    "View", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
reshaped = Op(
    "UnsafeView", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
swapped = Op(
    "Transpose",
    lambda a, dim0, dim1: a.swapaxes(dim0, dim1),
    a=lambda g, dim0, dim1: np.swapaxes(g, dim0, dim1),
)
permuted = Op(
    "Permute",
    lambda a, dims: np.transpose(a, dims),
    a=lambda g, dims: np.transpose(g, tuple(np.argsort([d % len(dims) for d in dims]))),
)
squeezed = AlongAxes(
    "Squeeze",
    lambda a, dim=None: a.squeeze(ones_among(a, dim))[...],
    a=lambda g, shape: g.reshape(shape),
)
unsqueezed = Op(
    "Unsqueeze",
    lambda a, place: np.expand_dims(a, place),
    a=lambda g, place: g.squeeze(place),
)
expanded = Op("Expand", lambda a, size: np.broadcast_to(a, size), a=lambda g: g)
tril = Op(
    "Tril",
    lambda a, diagonal=0: np.tril(matrices(a), diagonal),
    a=lambda g, diagonal: np.tril(g, diagonal),
)


def matrices(a):
    """Return an array that has two axes at least; RuntimeError for another."""
    if a.ndim < 2:
        raise RuntimeError(f"expected at least 2 dimensions, got the shape {a.shape}")
    return a


def ones_among(a, dim):
    """Return those axes of `dim` that have length 1: squeeze leaves others alone."""
    if dim is None:
        return None
    places = [axis_of(d, a.ndim) for d in np.atleast_1d(dim)]
    return tuple(i for i in places if a.ndim and a.shape[i] == 1)


def reshape(input, *shape):
    """Return the numbers in another shape, on the same memory where that can be."""
    op = viewed if input.array.flags.c_contiguous else reshaped
    return op(input, sizes(shape))


def view(input, *shape):
    """Return the same memory in another shape; RuntimeError where that cannot be."""
    out = viewed(input, sizes(shape))
    if out.numel() and not np.shares_memory(out.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride: "
            f"{input.shape} is not in one piece. Use .reshape(...) instead."
        )
    return out


def flatten(input, start_dim=0, end_dim=-1):
    """Return the axes from start_dim to end_dim as a single one."""
    shape = input.shape or (1,)
    first, last = (axis_of(dim, input.ndim) for dim in (start_dim, end_dim))
    middle = math.prod(shape[first : last + 1])
    return reshape(input, *shape[:first], middle, *shape[last + 1 :])


def transpose(input, dim0, dim1):
    """Return the tensor with two axes swapped."""
    return swapped(input, dim0, dim1)


def permute(input, *dims):
    """Return the tensor with its axes in another order."""
    return permuted(input, sizes(dims))


def t(input):
    """Return the transpose of a matrix; fewer axes stay as they are."""
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


def expand(input, *size):
    """Return the tensor stretched, without copying; -1 keeps the length of an axis."""
    wanted = sizes(size)
    old = (1,) * (len(wanted) - input.ndim) + input.shape
    return expanded(input, tuple(o if n == -1 else n for o, n in zip(old, wanted)))


def broadcast_to(input, size):
    """Return the tensor stretched to a shape, without copying."""
    return expanded(input, size)


def contiguous(input):
    """Return the tensor with its numbers in one piece of memory, in order."""
    return input if input.array.flags.c_contiguous else clone(input)
