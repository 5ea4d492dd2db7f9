"""Rules that move numbers and compute nothing: views, and parts of a matrix."""

import math

import numpy as np

from minigrad.array.axes import from_front, lengths, sizes
from minigrad.errors import expect
from minigrad.graph.tensor import functions, methods
from minigrad.rules.op import Op, called

viewed = Op(
    "View", lambda a, size: a.reshape(size), a=lambda g, shape: g.reshape(shape)
)
transpose = Op(
    "Transpose",
    lambda a, dim0, dim1: swapped(a, dim0, dim1),
    a=lambda g, shape, dim0, dim1: np.swapaxes(g, dim0, dim1) if shape else g,
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
    "Unsqueeze", lambda a, at: np.expand_dims(a, at), a=lambda g, at: g.squeeze(at)
)
broadcast_to = Op("Expand", lambda a, size: np.broadcast_to(a, size), a=lambda g: g)
tril = Op(
    "Tril",
    lambda a, diagonal=0: np.tril(matrices(a), diagonal),
    a=lambda g, diagonal: np.tril(g, diagonal),
)


def swapped(a, dim0, dim1):
    """Return an array with two axes swapped. A number also has an axis 0."""
    if a.ndim:
        return a.swapaxes(dim0, dim1)
    return a.reshape(1).swapaxes(dim0, dim1).reshape(())


def matrices(a):
    """Return an array with at least two axes. Raises RuntimeError for fewer."""
    expect(a.ndim > 1, "expected at least 2 dimensions", a)
    return a


def ones_among(a, dim):
    """Return the axes of `dim` that have length 1. squeeze leaves the others alone."""
    if dim is None:
        return None
    dims = [from_front(i, a.ndim) for i in np.atleast_1d(dim)]
    return tuple(i for i in dims if a.shape[i] == 1)


def reshape(input, *shape):
    """Return the numbers in another shape, with the memory shared where possible."""
    out = viewed(input, lengths(shape, -1))  # NumPy takes -2 for -1
    return out if input.array.flags.c_contiguous else called("UnsafeView", out)


def view(input, *shape):
    """Return the same memory in another shape. Raises RuntimeError if impossible."""
    out = viewed(input, lengths(shape, -1))  # NumPy takes -2 for -1
    if out.numel() and not np.shares_memory(out.array, input.array):
        raise RuntimeError("view: the memory is in pieces. Use .reshape(...) instead")
    return out


def flatten(input, start_dim=0, end_dim=-1):
    """Return the axes from start_dim to end_dim as a single one."""
    shape = input.shape or (1,)
    first, last = (from_front(dim, len(shape)) for dim in (start_dim, end_dim))
    expect(first <= last, "flatten(): start_dim cannot come after end_dim", first, last)
    middle = math.prod(shape[first : last + 1])
    return reshape(input, *shape[:first], middle, *shape[last + 1 :])


def permute(input, *dims):
    """Return the tensor with its axes in another order."""
    return permuted(input, sizes(dims))


def t(input):
    """Return the transpose of a matrix. Tensors with fewer axes stay as they are."""
    expect(input.ndim <= 2, "t() expects <= 2 dimensions", input)
    return called("T", permuted(input, tuple(range(input.ndim))[::-1]))


def unsqueeze(input, dim):
    """Return the tensor with a new axis of length 1 at `dim`."""
    return unsqueezed(input, dim)


def expand(input, *size):
    """Return the tensor stretched without copying. -1 keeps the length of an axis."""
    wanted = sizes(size)
    old = (1,) * (len(wanted) - input.ndim) + input.shape
    leading = wanted[: len(old) - input.ndim]
    expect(-1 not in leading, "expand: -1 isn't allowed in a leading new axis", wanted)
    return broadcast_to(input, tuple(o if n == -1 else n for o, n in zip(old, wanted)))


# What they are called: methods of a Tensor, functions of minigrad, NumPy's functions

METHODS = [
    *("broadcast_to", "expand", "flatten", "permute", "reshape", "squeeze", "t"),
    *("transpose", "tril", "unsqueeze", "view"),
]
__all__ = [name for name in METHODS if name not in ("expand", "view")]
methods(
    METHODS,
    globals(),
    # T reverses the order of all axes, and mT swaps the last two
    T=property(lambda self: permuted(self, tuple(range(self.ndim))[::-1])),
    mT=property(lambda self: transpose(self, -2, -1)),
)
functions |= {
    np.broadcast_to: broadcast_to,
    np.expand_dims: lambda a, axis: unsqueeze(a, axis),
    np.swapaxes: transpose,
    np.transpose: lambda a, axes=None: permute(a, axes) if axes else a.T,
    np.tril: tril,
    np.reshape: reshape,
}
