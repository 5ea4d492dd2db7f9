"""Rules that move numbers and compute nothing: views, and parts of a matrix."""

import math

import numpy as np

from minigrad.array.axes import sizes
from minigrad.rules.node_names import called
from minigrad.rules.op import Op

viewed = Op(
    "View", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
transpose = Op(
    "Transpose",
    lambda a, dim0, dim1: a.swapaxes(dim0, dim1),
    a=lambda g, dim0, dim1: np.swapaxes(g, dim0, dim1),
)
permuted = Op(
    "Permute",
    lambda a, dims: np.transpose(a, dims),
    a=lambda g, dims: np.transpose(g, tuple(np.argsort([d % len(dims) for d in dims]))),
)
squeeze = Op(
    "Squeeze",
    lambda a, dim=None: a.squeeze(ones_among(a, dim))[...],
    a=lambda g, shape: g.reshape(shape),
)
unsqueezed = Op(
    "Unsqueeze",
    lambda a, place: np.expand_dims(a, place),
    a=lambda g, place: g.squeeze(place),
)
broadcast_to = Op("Expand", lambda a, size: np.broadcast_to(a, size), a=lambda g: g)
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
    return tuple(i for i in np.atleast_1d(dim) if a.shape[i] == 1)


def checked(shape):
    """Return sizes; raise RuntimeError for -2, which NumPy would take for -1."""
    if any(n < -1 for n in sizes(shape)):
        raise RuntimeError(f"invalid shape {shape}: only -1 stands for what is left")
    return sizes(shape)


def reshape(input, *shape):
    """Return the numbers in another shape, on the same memory where that can be."""
    out = viewed(input, checked(shape))
    return out if input.array.flags.c_contiguous else called("UnsafeView", out)


def view(input, *shape):
    """Return the same memory in another shape; RuntimeError where that cannot be."""
    out = viewed(input, checked(shape))
    if out.numel() and not np.shares_memory(out.array, input.array):
        raise RuntimeError("view: this is not in one piece. Use .reshape(...) instead")
    return out


def flatten(input, start_dim=0, end_dim=-1):
    """Return the axes from start_dim to end_dim as a single one."""
    shape = input.shape or (1,)
    first, last = range(len(shape))[start_dim], range(len(shape))[end_dim]
    middle = math.prod(shape[first : last + 1])
    return reshape(input, *shape[:first], middle, *shape[last + 1 :])


def permute(input, *dims):
    """Return the tensor with its axes in another order."""
    return permuted(input, sizes(dims))


def t(input):
    """Return the transpose of a matrix; fewer axes stay as they are."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects <= 2 dimensions, but self is {input.ndim}D")
    return called("T", permuted(input, tuple(range(input.ndim))[::-1]))


def unsqueeze(input, dim):
    """Return the tensor with a new axis of length 1 at `dim`."""
    return unsqueezed(input, dim)


def expand(input, *size):
    """Return the tensor stretched, without copying; -1 keeps the length of an axis."""
    wanted = sizes(size)
    old = (1,) * (len(wanted) - input.ndim) + input.shape
    return broadcast_to(input, tuple(o if n == -1 else n for o, n in zip(old, wanted)))
