"""Writing over a tensor: x.add_(1), x += 1, x[0] = 1.

The memory stays, its version goes up, and the tensor's edge becomes the new node's. A
node that saved what was there notices when its turn comes in backward.
"""

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from minigrad.array.dtypes import Array, as_array, check_holds, rank
from minigrad.graph import creation, saved_values
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor, kind
from minigrad.rules import options, pointwise, shape
from minigrad.rules.indexing import as_index
from minigrad.rules.op import Op, to_dtype
from minigrad.rules.shared_memory import base_of, lead_to, places, renew

SEVERAL = {"Split", "SplitWithSizes", "Unbind"}  # what makes several views at once
put_in = Op(
    "CopySlices",
    lambda a, value, index: assigned(a, value, index),
    a=lambda g, index: assigned(g, 0, index),
    value=lambda g, index: g[index],
)


def assigned(a: Any, value: Any, index: tuple) -> Any:
    """Return a copy of `a` with `value` at `index`."""
    if isinstance(a, Tensor):
        return put_in(a, value, index)
    out = as_array(a, copy=True)  # g may be a scalar of NumPy's
    out[index] = value
    return out


def learns(x: Tensor, *sources: Any) -> bool:
    """Return whether autograd has to know of a write, made of sources, to x."""
    concerned = x, base_of(x), *sources
    return any(getattr(each, "requires_grad", False) for each in concerned)


def overwrite(x: Tensor, op: Callable, *args: Any) -> Tensor:
    """Let x become op(x, *args), in its own memory; return x."""
    recorded = recording.get() and x.is_floating_point() and learns(x, *args)
    if recorded:
        check_may_change(x)
        args = [apart(arg, x) for arg in args]
    before = Tensor(x.array.copy() if recorded else x.array, x.edge)
    out = op(before, *(before if arg is x else arg for arg in args))
    check_fits(out, x)
    out = to_dtype(out, x.dtype)
    write(x.array, out.array)
    if recorded:
        out.edge.saved = in_place_of(out.array, x.array, out.edge.saved)
        out.edge.number = next(saved_values.numbers)  # it may save what is new
        lead_to(x, out.edge)
        tell_others(x)
    return x


def tell_others(x: Tensor) -> None:
    """Let the base of x, if x is a view, and all other views know of a write to x."""
    base = base_of(x)
    if base is not None:
        index = (places(x),)
        targets = base.edge, x.edge
        node = Node(put_in, put_in.formulas, targets, (index, index), base.shape)
        lead_to(base, node)
    renew(x if base is None else base)


def apart(arg: Any, x: Tensor) -> Any:
    """Return an argument that is another view of x's memory as a copy: x[1] = x[0]."""
    if arg is x or not isinstance(arg, Tensor):
        return arg
    same = saved_values.storage(arg.array) is saved_values.storage(x.array)
    return pointwise.clone(arg) if same else arg


def check_fits(out: Tensor, x: Tensor) -> None:
    """Raise RuntimeError unless `out` can be written over x."""
    if out.shape != x.shape:
        raise RuntimeError(
            f"output with shape {x.shape} doesn't match the broadcast shape {out.shape}"
        )
    if rank(out.dtype) > rank(x.dtype):
        raise RuntimeError(
            f"result type {out.dtype} can't be cast to the desired output type "
            f"{x.dtype}"
        )


def in_place_of(old: ndarray, new: ndarray, saved: tuple) -> tuple:
    """Return what a node saved with `new` for `old`."""
    return tuple(
        tuple(new if value is old else value for value in values or ())
        for values in saved
    )


def check_may_change(x: Tensor) -> None:
    """Raise RuntimeError if autograd could not follow a write to x."""
    if x.requires_grad and x.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place "
            "operation. Write under no_grad(), or to a clone()."
        )
    base = base_of(x)
    if base is not None and base.requires_grad and base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place "
            "operation. Write under no_grad(), or to a clone()."
        )
    if base is not None and base.requires_grad and not x.requires_grad:
        raise RuntimeError(
            "a view that was created in no_grad mode is being modified inplace with "
            "grad mode enabled. Take it anew, or write under no_grad()."
        )
    if base is not None and x.source[1].name in SEVERAL:
        raise RuntimeError(
            f"a view that {x.source[1].name.lower()} made, one of several at once, is "
            "being modified inplace. Take it by an index, as x[0], or a clone() of it."
        )


def write(memory: ndarray, values: Any, index: tuple = (...,)) -> None:
    """Put values into memory, and note it; say clearly why if that cannot be."""
    try:
        memory[index] = values
    except ValueError as error:
        if not memory.flags.writeable and 0 not in memory.strides:
            raise RuntimeError("the array is read-only: clone() it before") from error
        if not memory.flags.writeable:
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor "
                "refers to a single memory location. Please clone() the tensor before."
            ) from error
        raise RuntimeError(
            f"shape mismatch: {error}; the tensor written to has shape {memory.shape}"
        ) from error
    saved_values.wrote(memory)


def check_same_dtype(x: Tensor, index: tuple, value: Tensor) -> None:
    """Raise RuntimeError for another dtype; one number may be cast, under a mask."""
    masks = [i for i in index if isinstance(i, Array) and i.dtype == bool]
    if value.dtype != x.dtype and not (masks and value.numel() == 1):
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype} for the destination and {value.dtype} for the source"
        )


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write value, a number or what broadcasts, to x[index]."""
    index, name = as_index(index, x.shape)
    if value is None or isinstance(value, list | tuple | str | Array):
        raise TypeError(
            f"can't assign {kind(value)} to a Tensor: give a number, or a Tensor"
        )
    if isinstance(value, int | float):
        check_holds(x.dtype, value)
    if isinstance(value, Tensor) and value.ndim:  # axes of length 1 may lead
        most = x.array[index].ndim
        while value.ndim > most and value.shape[0] == 1:
            value = value.squeeze(0)
    if name == "Index" and isinstance(value, Tensor):
        check_same_dtype(x, index, value)
    if recording.get() and learns(x, value):
        overwrite(x, put_in, value, index)
    else:
        write(x.array, value.array if isinstance(value, Tensor) else value, index)


def in_place(op: Callable) -> Callable:
    """Return the method that writes over its tensor: add_ for add."""

    def method(self, *args, **kwargs):
        def by_name(x, *values):
            rest = dict(zip(kwargs, values[len(args) :]))
            return op(x, *values[: len(args)], **rest)

        return overwrite(self, by_name, *args, *kwargs.values())

    like = getattr(op, "method", op).__qualname__
    method.__doc__ = f"Like {like}, in the tensor's own memory."
    return method


add_, sub_ = in_place(options.add), in_place(options.sub)
mul_, div_ = in_place(pointwise.mul), in_place(options.div)
clamp_, masked_fill_ = in_place(pointwise.clamp), in_place(shape.masked_fill)


def uniform_(self, a=0.0, b=1.0):
    """Draw all numbers at random, uniform from a to b."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to go from a to b >= a, not {a} to {b}")
    return copy_(self, creation.rand(self.shape, dtype=self.dtype) * (b - a) + a)


def normal_(self, mean=0.0, std=1.0):
    """Draw all numbers at random from a normal distribution."""
    if std < 0:
        raise RuntimeError(f"normal_ expects std >= 0, not {std}")
    return copy_(self, creation.randn(self.shape, dtype=self.dtype) * std + mean)


def random_(self, low, high=None):
    """Draw integers at random, from low (or 0) up to but without high."""
    low, high = (0, low) if high is None else (low, high)
    return copy_(self, creation.randint(low, high, self.shape))


def copy_(self, src):
    """Take over the numbers of src, which is broadcast."""
    if isinstance(src, Tensor) and src.ndim > self.ndim:
        raise RuntimeError(
            f"output with shape {self.shape} doesn't match the broadcast shape "
            f"{src.shape}"
        )
    setitem(self, ..., src)
    return self


def fill_(self, value):
    """Set all numbers to one."""
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions. See copy_."
        )
    setitem(self, ..., value)
    return self


def zero_(self):
    """Set all numbers to 0."""
    return fill_(self, 0)
