"""Rules that join tensors: cat and stack."""

import numpy as np

from minigrad.array.dtypes import RANK
from minigrad.errors import expect, short
from minigrad.graph.tensor import Tensor, functions
from minigrad.rules.casting import to_dtype
from minigrad.rules.indexing import along
from minigrad.rules.op import Op

joined = Op(
    "Cat",
    lambda tensors, dim, ends: np.concatenate(tensors, dim),
    tensors=lambda g, ends, dim, shape, i: g[
        along(g, dim, slice(ends[i] - shape[dim], ends[i]))
    ],
)
stacked = Op(
    "Stack",
    lambda tensors, dim: np.stack(tensors, dim),
    tensors=lambda g, dim, i: g[along(g, dim, i)],
)


def of_one_dtype(tensors):
    """Return the tensors, converted to the dtype that fits all of them."""
    listed = isinstance(tensors, list | tuple) and len(tensors)
    if not listed or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(f"expected a non-empty list of Tensors, not {short(tensors)}")
    dtype = max((x.dtype for x in tensors), key=lambda d: (RANK[d], d.itemsize))
    return [to_dtype(tensor, dtype) for tensor in tensors]


def cat(tensors, dim=0):
    """Join tensors along an existing axis."""
    tensors = of_one_dtype(tensors)
    alike = len({x.ndim for x in tensors}) == 1
    expect(alike, "Tensors must have same number of dimensions", *tensors)
    ends = np.cumsum([x.size(dim) for x in tensors]).tolist()
    return joined(tensors, dim, tuple(ends))


def stack(tensors, dim=0):
    """Join tensors of the same shape along a new axis."""
    return stacked(of_one_dtype(tensors), dim)


__all__ = ["cat", "stack"]
functions |= {np.concatenate: lambda arrays, axis=0: cat(arrays, axis)}
functions |= {np.stack: lambda arrays, axis=0: stack(arrays, axis)}
