"""Operations that write over a tensor, such as x.add_(1), x += 1 and x[0] = 1.

The memory stays the same, its version goes up, and the tensor's edge becomes the new
node. In backward, a node that saved the old values raises an error when it is reached.
"""

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import RANK, as_array
from minigrad.errors import expect, kind
from minigrad.graph import saved_values
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor, methods
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


def with_dimensions(g, n: int):
    """Return g with at least n axes, as the value had. New axes come first."""
    return g.reshape((1,) * (n - len(g.shape)) + tuple(g.shape))


def assigned(a, value, index: tuple):
    """Return a copy of `a` with `value` at `index`."""
    out = as_array(a, copy=True)  # g may be a NumPy scalar
    out[index] = value
    return out


def overwrite(x: Tensor, op: Callable, *args) -> Tensor:
    """Write op(x, *args) into the memory of x, and return x."""
    recorded = is_recorded(x, *args)
    if recorded:
        check_may_change(x)
    before = Tensor(x.array.copy() if recorded else x.array, x.edge)
    out = op(before, *(before if arg is x else apart(x, arg) for arg in args))
    fits = out.shape == x.shape and RANK[out.dtype] <= RANK[x.dtype]
    expect(fits, "the result type can't be cast to what is written over", out, x)
    out = to_dtype(out, x.dtype)
    write(x.array, out.array)
    if recorded:
        node = out.edge
        saved = node.saved.items()
        node.saved = {k: x.array if v is out.array else v for k, v in saved}
        node.number = next(saved_values.numbers)  # it may save new values
        x.edge, x.rewritten = node, node.number
    return x


def is_recorded(x: Tensor, *sources) -> bool:
    """Return whether a write to x that depends on `sources` has to be recorded."""
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
    why = f"{what} is being used in an in-place operation that autograd would have to"
    raise RuntimeError(f"{why} record. Write to a clone(), or under no_grad().")


def write(memory: ndarray, values, index: tuple = (...,)) -> None:
    """Write values to an array, and record the write to its memory.

    Raises RuntimeError for an expanded array, which NumPy marks as read-only.
    """
    why = "element of the written-to tensor refers to a single memory location"
    expect(memory.flags.writeable, f"read-only, as if more than one {why}: clone() it")
    memory[index] = values
    saved_values.record_write(memory)


def setitem(x: Tensor, index, value) -> None:
    """Write `value`, a number or a Tensor that broadcasts, to x[index]."""
    index, _ = as_index(index)
    if not isinstance(value, Tensor | int | float | np.generic):
        raise TypeError(f"can't assign {kind(value)}: give a number, or a Tensor")
    if isinstance(value, Tensor) and np.may_share_memory(value.array, x.array):
        value = clone(value)  # x[1] = x[0]
    if is_recorded(x, value):
        value = to_dtype(value, x.dtype) if isinstance(value, Tensor) else value
        overwrite(x, put_in, value, index)
    else:
        write(x.array, value.array if isinstance(value, Tensor) else value, index)


def apart(x: Tensor, other):
    """Return `other`. Raises RuntimeError if it shares memory with x."""
    if isinstance(other, Tensor) and np.may_share_memory(other.array, x.array):
        raise RuntimeError("an operand shares the memory that changes: clone() it")
    return other


def add_(self, other, *, alpha=1):
    """Add alpha * other in the tensor's own memory."""
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
    """Copy the elements of src into the tensor's own memory. src is broadcast."""
    setitem(self, ..., src)
    return self


def fill_(self, value):
    """Set all elements to a number, or to the only element of a tensor without axes."""
    one = not getattr(value, "shape", ())
    expect(one, "fill_ takes one number: use copy_ for a tensor of several", value)
    return copy_(self, value)


def zero_(self):
    """Set all elements to 0."""
    return copy_(self, 0)


METHODS = ["add_", "copy_", "div_", "fill_", "mul_", "sub_", "zero_"]
methods(METHODS, globals(), __setitem__=setitem)
