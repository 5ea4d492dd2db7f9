"""Writing over a tensor: x.add_(1), x += 1, x[0] = 1.

The memory stays, its version goes up, and the tensor's edge becomes the new node's. A
node that saved what was there notices when its turn comes in backward.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import RANK, as_array
from minigrad.errors import kind
from minigrad.graph import saved_values
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import to_dtype
from minigrad.rules.indexing import as_index
from minigrad.rules.op import Op, edge
from minigrad.rules.pointwise import add, clone, div, mul, sub

put_in = Op(
    "CopySlices",
    lambda a, value, index: assigned(a, value, index),
    a=lambda g, index: put_in(g, 0, index),
    value=lambda g, index, shape: with_dimensions(g[index], len(shape)),
)


def with_dimensions(g: Any, n: int) -> Any:
    """Return g with at least n axes, new ones in front: as many as the value had."""
    return g.reshape((1,) * (n - len(g.shape)) + tuple(g.shape))


def assigned(a: Any, value: Any, index: tuple) -> Any:
    """Return a copy of `a` with `value` at `index`."""
    out = as_array(a, copy=True)  # g may be a scalar of NumPy's
    out[index] = value
    return out


def overwrite(x: Tensor, op: Callable, *args: Any) -> Tensor:
    """Let x become op(x, *args), in its own memory; return x."""
    recorded = is_recorded(x, *args)
    if recorded:
        check_may_change(x)
    before = Tensor(x.array.copy() if recorded else x.array, x.edge)
    out = op(before, *(before if arg is x else apart(x, arg) for arg in args))
    check_fits(out, x)
    out = to_dtype(out, x.dtype)
    write(x.array, out.array)
    if recorded:
        node = out.edge
        saved = node.saved.items()
        node.saved = {k: x.array if v is out.array else v for k, v in saved}
        node.number = next(saved_values.numbers)  # it may save what is new
        x.edge, x.rewritten = node, node.number
    return x


def is_recorded(x: Tensor, *sources: Any) -> bool:
    """Return whether writing something made of `sources` to x has to be recorded."""
    concerned = x, x._base, *sources
    return recording.on and x.is_floating_point() and any(map(edge, concerned))


def check_may_change(x: Tensor) -> None:
    """Raise RuntimeError if autograd could not follow a write to x."""
    if x._base is not None:
        what = "a view of a tensor"
    elif x.retains_grad:
        what = "a tensor whose retain_grad() was called"
    elif x.requires_grad and x.is_leaf:
        what = "a leaf Variable that requires grad"
    else:
        return
    raise RuntimeError(
        f"{what} is being used in an in-place operation that autograd would have to "
        "record. Write to a clone(), or under no_grad()."
    )


def check_fits(out: Tensor, x: Tensor) -> None:
    """Raise RuntimeError unless `out` can be written over x."""
    if out.shape != x.shape or RANK[out.dtype] > RANK[x.dtype]:
        raise RuntimeError(
            f"result type {out.dtype} {out.shape} can't be cast to {x.dtype} {x.shape}"
        )


def write(memory: ndarray, values: Any, index: tuple = (...,)) -> None:
    """Write values to an array, and note that its memory has changed."""
    memory[index] = values
    saved_values.wrote(memory)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write value, a number or what broadcasts, to x[index]."""
    index, _ = as_index(index)
    if not isinstance(value, Tensor | int | float | np.generic):
        raise TypeError(f"can't assign {kind(value)}: give a number, or a Tensor")
    if isinstance(value, Tensor) and np.may_share_memory(value.array, x.array):
        value = clone(value)  # x[1] = x[0]
    if is_recorded(x, value):
        overwrite(x, put_in, value, index)
    else:
        write(x.array, value.array if isinstance(value, Tensor) else value, index)


def apart(x: Tensor, other: Any) -> Any:
    """Return `other`; raise RuntimeError if it shares memory with x."""
    if isinstance(other, Tensor) and np.may_share_memory(other.array, x.array):
        raise RuntimeError("an operand shares the memory that is written: clone() it")
    return other


def add_(self, other, *, alpha=1):
    """Add in the tensor's own memory; `other` may be scaled by `alpha`."""
    return overwrite(self, add, other if alpha == 1 else other * alpha)


def sub_(self, other):
    """Subtract in the tensor's own memory."""
    return overwrite(self, sub, other)


def mul_(self, other):
    """Multiply in the tensor's own memory."""
    return overwrite(self, mul, other)


def div_(self, other):
    """Divide in the tensor's own memory."""
    return overwrite(self, div, other)


def copy_(self, src):
    """Copy the numbers of src, which is broadcast."""
    setitem(self, ..., src)
    return self


def fill_(self, value):
    """Set all numbers to one."""
    return copy_(self, value)


def zero_(self):
    """Set all numbers to 0."""
    return copy_(self, 0)
