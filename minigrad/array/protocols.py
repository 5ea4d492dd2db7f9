"""ArrayLike: what Python and NumPy ask of a tensor."""

import copy
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from minigrad import errors
from minigrad.array.dtypes import as_array
from minigrad.array.printing import printed

Methods = object  # tensors/methods.py gives them to Tensor when it is loaded
if TYPE_CHECKING:
    from minigrad.tensors.methods import Methods

ufuncs: dict[Callable, Callable] = {}  # NumPy's functions, and the Ops to call instead
functions: dict[Callable, Callable] = {}


def held(data: Any) -> ndarray:
    """Return `data` as the array of a Tensor; TypeError for numbers and lists."""
    if type(data) in (list, tuple, bool, int, float):
        raise TypeError("Tensor(...) takes an array: numbers are for minigrad.tensor()")
    return as_array(data)


def as_bare(value: Any) -> Any:
    """Return the array of a tensor, and the same for those in lists and tuples.

    Raises RuntimeError for one that requires grad: its gradient would be lost.
    """
    if isinstance(value, list | tuple):
        return type(value)(map(as_bare, value))
    return value.numpy() if isinstance(value, ArrayLike) else value


class ArrayLike(Methods):
    """The part of Tensor that has nothing to do with gradients."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.array.shape

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self.array.ndim

    @property
    def dtype(self) -> np.dtype:
        """What kind of numbers these are, as NumPy's dtype."""
        return self.array.dtype

    def size(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Return the shape, or the length of one axis."""
        return self.array.shape if dim is None else self.array.shape[dim]

    def numel(self) -> int:
        """Return how many numbers there are."""
        return self.array.size

    def is_floating_point(self) -> bool:
        """Return whether these are floats."""
        return self.array.dtype.kind == "f"

    def item(self) -> float | int | bool:
        """Return the only number as one of Python's."""
        return self.array.item()

    def tolist(self) -> Any:
        """Return the numbers in nested lists."""
        return self.array.tolist()

    def numpy(self) -> ndarray:
        """Return the array, on the same memory; RuntimeError if it requires grad."""
        if self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self.array

    def __array__(self, dtype=None, copy=None) -> ndarray:
        return np.array(self.numpy(), dtype, copy=copy)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method == "__call__" and not kwargs and ufunc in ufuncs:
            return ufuncs[ufunc](*inputs)
        written = inputs[:1] if method == "at" else kwargs.get("out", ())
        if any(isinstance(each, ArrayLike) for each in written):
            return NotImplemented  # a write that no version would tell of
        return getattr(ufunc, method)(*as_bare(inputs), **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        if function in functions:
            return functions[function](*args, **kwargs)
        return function(*as_bare(args), **kwargs)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor: it is one number, see item()")
        return iter(self.unbind(0))

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return int(operator.index(self.item()))

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise errors.no_attribute("a Tensor", name)

    def __repr__(self) -> str:
        return printed(self)

    def __format__(self, spec: str) -> str:
        return format(str(self) if self.ndim else self.item(), spec)

    def __deepcopy__(self, memo: dict) -> "ArrayLike":
        if not self.is_leaf:
            raise RuntimeError("Only graph leaves support deepcopy: detach() this one")
        twin = memo[id(self)] = type(self)(self.array.copy())
        twin.requires_grad = self.requires_grad
        twin._grad = copy.deepcopy(self._grad, memo)
        return twin
