"""Rules for parts of a tensor: x[...], unbind."""

import operator

import numpy as np

from minigrad.array.dtypes import ARRAYS, zeros
from minigrad.errors import expect
from minigrad.graph.tensor import Tensor, methods
from minigrad.rules.op import Op

NAMES = "Select", "Slice", "Unsqueeze", "Alias", "Unbind", "Index", "Max", "Min"
KINDS = {slice: "Slice", type(None): "Unsqueeze", int: "Select", type(...): None}


taken = {
    name: Op(
        name, lambda a, index: a[index], a=lambda g, shape, index: put(g, index, shape)
    )
    for name in NAMES
}


def placed(a, index, size):
    """Return zeros with `a` added at `index`. Repeated positions get the sum."""
    out = zeros(size, a)
    if any(isinstance(i, ARRAYS) and i.dtype != bool for i in index):
        np.add.at(out, index, a)
    else:
        out[index] = a
    return out


put = Op("Put", placed, a=lambda g, index: taken["Index"](g, index))


def as_index(index):
    """Return an index as a tuple for NumPy, and PyTorch's name for such a node."""
    index = index if isinstance(index, tuple) else (index,)
    plain = [plain_part(i) for i in index]
    kinds = [KINDS.get(type(i), "Index") for i in plain]
    if "Index" in kinds:
        check_order(kinds)
        return tuple(plain), "Index"
    if ... not in plain:
        plain.append(...)  # so that NumPy gives a view even of a single number
    return tuple(plain), ["Alias", *filter(None, kinds)][-1]


def plain_part(i):
    """Return one part of an index for NumPy. Raise an error if PyTorch refuses it."""
    if isinstance(i, slice):  # its present numbers, as a Tensor may change
        ends = (i.start, i.stop, i.step)
        i = slice(*(None if n is None else operator.index(n) for n in ends))
        if i.step is not None and i.step < 1:
            raise ValueError(f"slice: step must be greater than zero, not {i.step}")
    if type(i) in KINDS:
        return i
    i = i.array if isinstance(i, Tensor) else i
    i = i if isinstance(i, ARRAYS) else np.asarray(i, None if np.size(i) else int)
    if i.dtype.kind not in "bi":
        raise IndexError(f"tensors used as indices must be long or bool, not {i.dtype}")
    return int(i) if i.ndim == 0 and i.dtype != bool else i


def check_order(kinds):
    """Raise IndexError if NumPy would put the axes of an index in another order."""
    places = [k for k, name in enumerate(kinds) if name in ("Index", "Select")]
    why = "an integer and a tensor with a slice between them: index in two steps"
    fits = "Select" not in kinds or places[-1] - places[0] < len(places)
    expect(fits, f"{why}, as in x[0][:, i]", error=IndexError)


def getitem(input, index):
    """Return x[index] for integers, slices, None, Ellipsis, int and bool tensors."""
    index, name = as_index(index)
    return taken[name](input, index)


def grid(index, dim):
    """Return an index with `index` on `dim`, and each position itself on other axes."""
    if not index.shape:
        return ()
    places = list(np.ogrid[tuple(map(slice, index.shape))])
    places[dim] = index
    return tuple(places)


def along(input, dim, index):
    """Return the index that takes `index` on axis `dim`, and all of the other axes."""
    return (slice(None),) * (dim % len(input.shape)) + (index, ...)


def unbind(input, dim=0):
    """Return the parts along an axis, without that axis."""
    places = range(input.size(dim))
    return tuple(taken["Unbind"](input, along(input, dim, i)) for i in places)


__all__ = ["unbind"]
methods(["unbind"], globals(), __getitem__=getitem)
