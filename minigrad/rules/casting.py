"""The same numbers in another dtype, and the same numbers as a new result."""

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op


def to_dtype(a: Tensor, dtype: np.dtype) -> Tensor:
    """Return `a` converted to a dtype; `a` itself if it has that already."""
    if a.array.dtype == dtype:
        return a
    if not a.requires_grad:
        return Tensor(a.array.astype(dtype))
    return cast(a, dtype, a.array.dtype)


cast = Op(
    "ToCopy",
    lambda a, dtype, source: a.astype(dtype),
    a=lambda g, dtype, source: cast(g, source, dtype),
)
alias = Op("Alias", lambda a: a, a=lambda g: g)
