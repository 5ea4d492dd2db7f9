"""Rules for parts of a tensor: x[...], split, unbind, gather."""

import math
import operator

import numpy as np

from minigrad.array.arguments import axis_of
from minigrad.array.dtypes import ARRAYS, Array, zeros
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors

PARTS = ["Select", "Slice", "Unsqueeze", "Alias", "Split", "SplitWithSizes", "Unbind"]
PICKS = ["Index", "IndexSelect", "Gather", "Embedding", "Max", "Min"]


def part(a, index):
    """Return a part of an array, on its memory."""
    return a[index]


def picked(a, index):
    """Return a copy of the numbers at an index, in one piece of memory."""
    out = a[index]
    scattered = type(out) is np.ndarray and not out.flags.c_contiguous
    return out.copy() if scattered else out


taken = {
    name: Op(
        name,
        part if name in PARTS else picked,
        a=lambda g, shape, index: put(g, index, shape),
    )
    for name in PARTS + PICKS
}
for name in PARTS:
    taken[name].choosy = False  # no arrays are in their indices
put = Op(
    "Put",
    lambda a, index, size: placed(a, index, size),
    a=lambda g, index: taken["Index"](g, index),
)


def placed(a, index, size):
    """Return zeros with `a` added at `index`; of places named twice, the sum."""
    out = zeros(size, a)
    if not any(
        isinstance(i, ARRAYS) and i.dtype != bool or isinstance(i, list) for i in index
    ):
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


PARTS_OF_INDEX = list, tuple, slice, Tensor, Array, type(None), type(...)


def as_index(index, shape):
    """Return an index as a tuple for NumPy, and what PyTorch calls taking it."""
    if isinstance(index, list) and any(isinstance(i, PARTS_OF_INDEX) for i in index):
        index = tuple(index)
    index = index if isinstance(index, tuple) else (index,)
    plain, name = [], "Alias"
    for i in index:
        if i is ... and any(before is ... for before in plain):
            continue  # x[..., 0, ...]: the first one stands for all that is left
        i = i.array if isinstance(i, Tensor) else i
        i = np.array(i, None if i else int) if isinstance(i, list) else i
        i = forwards(i) if isinstance(i, slice) else i
        if isinstance(i, Array) and i.dtype.kind not in "biu":
            raise IndexError(
                "tensors used as indices must be long, int or bool tensors, not "
                f"{i.dtype}"
            )
        if isinstance(i, Array) and i.ndim == 0 and i.dtype != bool:
            i = int(i)
        plain.append(i)
    kinds = [named(i) for i in plain]
    if "Index" in kinds:
        name = "Index"
    else:
        name = next(
            (k for k in reversed(kinds) if k),
            "Slice" if slice(None) in plain else "Alias",
        )
    if name == "Index" and any(map(is_integer, plain)):
        return integers_first(plain, shape), name
    if name != "Index" and not any(i is ... for i in plain):
        plain.append(...)  # so that NumPy gives a view even of a single number
    return tuple(plain), name


def forwards(span):
    """Return a slice whose bounds may be tensors with integers; no step goes back."""
    start, stop, step = (
        n if n is None else operator.index(n.item() if isinstance(n, Tensor) else n)
        for n in (span.start, span.stop, span.step)
    )
    if step is not None and step < 1:
        raise ValueError(f"slice: step must be greater than zero, not {step}; see flip")
    return slice(start, stop, step)


def is_integer(i):
    """Return whether a part of an index takes one place of an axis."""
    return isinstance(i, int | np.integer) and not isinstance(i, bool | np.bool_)


def integers_first(index, shape):
    """Return an index of arrays for integers beside arrays.

    PyTorch takes the integers first. NumPy counts them among the arrays, and may move
    the axes that come of these to the front.
    """
    first, rest = [], []
    for i in index:
        axes = i.ndim if isinstance(i, Array) and i.dtype == bool else 1
        first += [slice(None)] * axes if isinstance(i, Array) else [i]
        if not is_integer(i):
            rest.append(i if isinstance(i, Array) or i is ... else slice(None))
    places = np.arange(math.prod(shape)).reshape(shape)[tuple(first)]
    return np.unravel_index(places[tuple(rest)], shape)


def named(i):
    """Return the name of the node that one part of an index leads to."""
    if isinstance(i, Array):
        return "Index"
    if i is None:
        return "Unsqueeze"
    if isinstance(i, slice):
        return None if i == slice(None) else "Slice"
    return None if i is ... else "Select"


def getitem(input, index):
    """Return x[index]: integers, slices, None, ..., integer and boolean tensors."""
    index, name = as_index(index, input.shape)
    return taken[name](input, index)


def along(input, dim, index):
    """Return the index that means `index` along axis `dim`, and all of the others."""
    return (slice(None),) * axis_of(dim, input.ndim) + (index, ...)


def split(tensor, split_size_or_sections=None, dim=0, split_size=None):
    """Return the tensor in parts along an axis: of one size, or of the sizes given."""
    check_tensors("split", tensor)
    sizes = split_size_or_sections if split_size is None else split_size
    dim = axis_of(dim, tensor.ndim)
    length = tensor.shape[dim]
    name = "SplitWithSizes" if isinstance(sizes, list | tuple) else "Split"
    if name == "Split":
        sizes = operator.index(sizes)
        sizes = [min(sizes, length - i) for i in range(0, length or 1, sizes or 1)]
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input "
            f"tensor's size at dimension {dim}), but got split_sizes={list(sizes)}"
        )
    ends = np.cumsum([0, *sizes]).tolist()
    spans = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
    return tuple(taken[name](tensor, along(tensor, dim, span)) for span in spans)


def chunk(input, chunks, dim=0):
    """Return the tensor in at most so many parts of one size; the last is smaller."""
    check_tensors("chunk", input)
    if chunks < 1:
        raise RuntimeError(
            f"chunk expects `chunks` to be greater than 0, got: {chunks}"
        )
    length = input.shape[axis_of(dim, input.ndim)]
    return split(input, -(-length // chunks) if length else [0] * chunks, dim)


def unbind(input, dim=0):
    """Return the parts along an axis, without that axis."""
    check_tensors("unbind", input)
    indices = range(input.shape[axis_of(dim, input.ndim)])
    return tuple(taken["Unbind"](input, along(input, dim, i)) for i in indices)


def index_select(input, dim, index):
    """Return the parts along an axis that a vector of integers names."""
    check_places("index_select", input, dim, index)
    if index.ndim > 1:
        raise IndexError(
            f"index_select(): Index is supposed to be a vector, not {index.shape}"
        )
    if not input.ndim:
        line = index_select(input.reshape(1), dim, index)
        return called("IndexSelect", line.reshape(()))
    return taken["IndexSelect"](input, along(input, dim, index.array.reshape(-1)))


def check_places(name, input, dim, index, error=IndexError):
    """Raise unless `index` holds integers that are places along an axis of `input`.

    `error` is what to raise for places that are not there.
    """
    check_tensors(name, input, index)
    if index.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}(): Expected dtype int64 for index, not {index.dtype}"
        )
    axis = axis_of(dim, input.ndim)
    length, numbers = (input.shape or (1,))[axis], index.array
    known = isinstance(numbers, np.ndarray) and numbers.size
    if known and (numbers.min() < 0 or numbers.max() >= length):
        raise error(
            f"{name}(): index out of range: from {numbers.min()} to {numbers.max()}, "
            f"but the axis has {length} places, from 0 on"
        )


def gather(input, dim, index):
    """Return out[i][j] = input[index[i][j]][j] for dim 0, and so on."""
    check_places("gather", input, dim, index, RuntimeError)
    if not index.numel():
        return taken["Gather"](input.reshape(-1), (index.array,))
    axis, pairs = axis_of(dim, input.ndim), zip(index.shape, input.shape)
    fits = all(d == axis or m <= n for d, (m, n) in enumerate(pairs))
    if max(index.ndim, 1) != max(input.ndim, 1) or not fits:
        raise RuntimeError(
            "gather(): Index tensor must have the same number of dimensions as input "
            "tensor, and be longer at most along dim; the shapes are "
            f"{index.shape} and {input.shape}"
        )
    input = input if input.ndim else input.reshape(1)
    places = grid(index.array, dim) if index.ndim else (index.array,)
    return taken["Gather"](input, places)


def grid(index, dim):
    """Return the index that picks index[i][j] along `dim`, and goes along elsewhere."""
    places = list(np.ogrid[tuple(map(slice, index.shape))])
    places[dim] = index
    return tuple(places)
