"""Rules that change the dtype, or return the same numbers as a new result."""

from collections.abc import Callable

import numpy as np

from minigrad.array.dtypes import as_dtype, bool_, float32, float64, int64
from minigrad.graph.tensor import Tensor, methods
from minigrad.rules.op import Op


def to_dtype(a: Tensor, dtype: np.dtype) -> Tensor:
    """Return `a` converted to a dtype, or `a` itself if it already has this dtype."""
    if a.array.dtype == dtype:
        return a
    if not a.requires_grad:
        return Tensor(a.array.astype(dtype))
    return cast(a, dtype, a.array.dtype)


cast = Op("ToCopy", lambda a, to, of: a.astype(to), a=lambda g, to, of: cast(g, of, to))
alias = Op("Alias", lambda a: a[...], a=lambda g: g)


# Methods of a Tensor


def to(self: Tensor, dtype) -> Tensor:
    """Return the tensor with numbers of another dtype."""
    return to_dtype(self, as_dtype(dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor with the dtype of another one."""
    return to_dtype(self, other.dtype)


def converts_to(dtype: np.dtype) -> Callable[[Tensor], Tensor]:
    """Return a method that converts to one dtype."""

    def convert(self):
        return to_dtype(self, dtype)

    convert.__doc__ = f"Return the tensor with numbers of type {dtype}."
    return convert


methods(["to", "type_as"], globals(), long=converts_to(int64), bool=converts_to(bool_))
methods([], {}, float=converts_to(float32), double=converts_to(float64))
