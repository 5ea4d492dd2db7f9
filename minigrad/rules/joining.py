"""Rules that join tensors: cat and stack."""

import numpy as np

from minigrad.array.arguments import axis_of
from minigrad.array.dtypes import promoted
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op, to_dtype
from minigrad.rules.operands import check_tensors


def join(tensors, dim):
    """Return the tensors joined, without empty vectors, and where each begins."""
    full = [a for a in tensors if a.shape != (0,)]
    if not full:
        return tensors[0].copy(), {"starts": ()}
    if not all(a.ndim for a in full):
        raise RuntimeError("numbers without axes cannot be concatenated: see stack")
    if len({a.ndim for a in full}) > 1:
        raise RuntimeError(
            "Tensors must have same number of dimensions; the shapes are "
            f"{', '.join(str(a.shape) for a in full)}"
        )
    dim = axis_of(dim, full[0].ndim)
    lengths = [a.shape[dim] if a.shape != (0,) else 0 for a in tensors]
    return np.concatenate(full, dim), {"starts": tuple(np.cumsum([0, *lengths]))}


def part_of_joined(g, starts, dim, shape, i):
    """Return the gradient of tensor i of those joined."""
    if shape == (0,):
        return g.reshape(-1)[:0]
    return part(g, dim, slice(starts[i], starts[i + 1]))


joined = Op("Cat", join, tensors=part_of_joined)


stacked = Op(
    "Stack",
    lambda tensors, dim: np.stack(tensors, dim),
    tensors=lambda g, dim, i: part(g, dim, i),
)


def part(g, dim, index):
    """Return what is at `index` along one axis."""
    return g[(slice(None),) * (dim % len(g.shape)) + (index,)]


def of_one_dtype(tensors):
    """Return the tensors with the dtype that they make together."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        if tensor.dtype is not dtype:
            dtype = promoted(np.empty(1, dtype), np.empty(1, tensor.dtype))
    return [to_dtype(tensor, dtype) for tensor in tensors]


def listed(name, tensors):
    """Return tensors as a list; raise TypeError if they are one tensor, or others."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}: expected a list or tuple of Tensors, not a Tensor")
    check_tensors(name, *tensors)
    return list(tensors)


def cat(tensors, dim=0):
    """Join tensors along an axis that they have; empty vectors are left out."""
    tensors = listed("cat", tensors)
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    return joined(of_one_dtype(tensors), dim)


def stack(tensors, dim=0):
    """Join tensors of one shape along a new axis."""
    tensors = listed("stack", tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise RuntimeError(
                "stack expects each tensor to be of the same shape, but got "
                f"{tensors[0].shape} at entry 0 and {tensor.shape} at entry {i}"
            )
    return stacked(of_one_dtype(tensors), dim)
