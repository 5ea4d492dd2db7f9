"""Rules for parts of a tensor: x[...], split, unbind."""

import numpy as np

from minigrad.array.axes import axis_of
from minigrad.array.dtypes import ARRAYS, Array, zeros
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op

PARTS = ["Select", "Slice", "Unsqueeze", "Alias", "Split", "Unbind"]
PICKS = ["Index", "Embedding", "Max", "Min"]


def part(a, index):
    """Return a part of an array, on its memory."""
    return a[index]


def picked(a, index):
    """Return a copy of the numbers at an index, in one piece of memory."""
    return np.ascontiguousarray(a[index]) if type(a) is np.ndarray else a[index]


taken = {
    name: Op(
        name,
        part if name in PARTS else picked,
        a=lambda g, shape, index: put(g, index, shape),
    )
    for name in PARTS + PICKS
}
put = Op(
    "Put",
    lambda a, index, size: placed(a, index, size),
    a=lambda g, index: taken["Index"](g, index),
)


def placed(a, index, size):
    """Return zeros with `a` added at `index`; of places named twice, the sum."""
    out = zeros(size, a)
    if not any(isinstance(i, ARRAYS) and i.dtype != bool for i in index):
        out[index] = a
    elif out.ndim > 1 and a.size > 1000 and all(i is ... for i in index[1:]):
        add_rows(out, np.reshape(index[0], -1), a.reshape(-1, *out.shape[1:]))
    else:
        np.add.at(out, index, a)
    return out


def add_rows(out, places, rows):
    """Add rows to those of `out` that places name, some of them more than once.

    In order they can be added up in one go. np.add.at goes one by one, which takes four
    to six times as long for rows of 64 numbers.
    """
    places = places % len(out)
    order = np.argsort(places, kind="stable")
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    out[places[first]] = np.add.reduceat(rows[order], first)


def as_index(index):
    """Return an index as a tuple for NumPy, and what PyTorch calls taking it."""
    index = index if isinstance(index, tuple) else (index,)
    plain = [plain_part(i) for i in index]
    kinds = [kind_of(i) for i in plain]
    if "Index" in kinds:
        check_order(plain, kinds)
        return tuple(plain), "Index"
    if not any(i is ... for i in plain):
        plain.append(...)  # so that NumPy gives a view even of a single number
    names = [name for name in kinds if name]
    return tuple(plain), names[-1] if names else "Alias"


def plain_part(i):
    """Return one part of an index as NumPy takes it; raise for what has no meaning."""
    i = i.array if isinstance(i, Tensor) else i
    i = np.array(i, None if i else int) if isinstance(i, list) else i
    if isinstance(i, ARRAYS) and i.dtype.kind not in "bi":
        raise IndexError(
            f"tensors used as indices must be long or bool tensors, not {i.dtype}"
        )
    if isinstance(i, ARRAYS) and i.ndim == 0 and i.dtype != bool:
        return int(i)
    if isinstance(i, slice):
        bounds = [None if n is None else int(n) for n in (i.start, i.stop, i.step)]
        if bounds[2] is not None and bounds[2] < 1:
            raise ValueError(f"slice: step must be greater than zero, not {i.step}")
        return slice(*bounds)
    known = int | np.integer | Array | type(None) | type(...)
    if isinstance(i, bool) or not isinstance(i, known):
        raise IndexError(
            f"an index holds integers, slices, None, ... and tensors, and no {i!r}"
        )
    return i


def kind_of(i):
    """Return the name of the node that one part of an index leads to."""
    if isinstance(i, ARRAYS):
        return "Index"
    if isinstance(i, slice):
        return "Slice"
    if i is ...:
        return None
    return "Unsqueeze" if i is None else "Select"


def check_order(index, kinds):
    """Raise IndexError where NumPy would put the axes of an index in another order."""
    places = [k for k, name in enumerate(kinds) if name in ("Index", "Select")]
    apart = places[-1] - places[0] >= len(places)
    if apart and "Select" in kinds:
        raise IndexError(
            "an integer and a tensor with a slice between them: take one after the "
            f"other, as in x[0][:, i]; got {index}"
        )


def getitem(input, index):
    """Return x[index]: integers, slices, None, ..., integer and boolean tensors."""
    index, name = as_index(index)
    return taken[name](input, index)


def grid(index, dim):
    """Return the index that picks index[i][j] along `dim`, and goes along elsewhere."""
    places = list(np.ogrid[tuple(map(slice, index.shape))])
    places[dim] = index
    return tuple(places)


def along(input, dim, index):
    """Return the index that means `index` along axis `dim`, and all of the others."""
    return (slice(None),) * axis_of(dim, input.ndim) + (index, ...)


def split(tensor, split_size, dim=0):
    """Return the tensor in parts of one length along an axis; the last is shorter."""
    starts = range(0, tensor.shape[dim], split_size)
    spans = [slice(start, start + split_size) for start in starts]
    return tuple(taken["Split"](tensor, along(tensor, dim, span)) for span in spans)


def unbind(input, dim=0):
    """Return the parts along an axis, without that axis."""
    places = range(input.shape[axis_of(dim, input.ndim)])
    return tuple(taken["Unbind"](input, along(input, dim, i)) for i in places)
