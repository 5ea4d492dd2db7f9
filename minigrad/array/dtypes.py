"""Kinds of numbers, and PyTorch's rules for what comes of mixing them."""

import math
from abc import ABC
from typing import Any

import numpy as np

float32, float64 = np.dtype("float32"), np.dtype("float64")
int64, bool_ = np.dtype("int64"), np.dtype("bool")
default = float32  # of Python floats, and of integers that a function makes floats of
RANK = {"b": 0, "u": 1, "i": 1, "f": 2}
SCALARS = {np.float32, np.float64, np.int64, np.bool_}
WORDS = {bool: bool_, int: int64, float: float32}


class Array(ABC):  # noqa: B024, it is there for isinstance
    """What a Tensor can hold: any type of array that speaks NumPy's protocols.

    NumPy's own is one of them; Array.register(kind) makes another known. It needs
    __array_ufunc__, __array_function__ and those methods of ndarray that rules call.
    """


Array.register(np.ndarray)
ARRAYS = np.ndarray, Array  # isinstance(x, ARRAYS) is faster for the usual ones


def rank(dtype: np.dtype) -> int:
    """Return 0 for bool, 1 for integers, 2 for floats; raise TypeError for others."""
    try:
        return RANK[dtype.kind]
    except KeyError:
        raise TypeError(
            f"a Tensor holds floats, integers or bools; got numbers of type {dtype}"
        ) from None


def as_dtype(dtype: Any) -> np.dtype:
    """Return NumPy's dtype for a dtype, its name, or Python's float, int or bool.

    As in PyTorch, `float` has Python's 64 bits, and None is the default, float32.
    """
    try:
        found = default if dtype is None else np.dtype(int64 if dtype is int else dtype)
    except TypeError:
        raise TypeError(
            f"{dtype!r} is no dtype: there are minigrad.float32, float64, int64, bool"
        ) from None
    rank(found)
    return found


def as_array(data: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return `data` as an array; Python's floats become float32, arrays stay as is."""
    if type(data) in SCALARS and dtype is None:  # the result of a sum, say
        return np.array(data)
    if isinstance(data, Array) and not isinstance(data, np.ndarray):
        array = data.copy() if copy else data
    else:
        array = np.array(data, copy=copy)
    if dtype is not None:
        dtype = as_dtype(dtype)
        if (
            array.dtype.kind == "f"
            and dtype.kind == "i"
            and not isinstance(data, Array)
        ):
            check_integers(array, dtype)
        return array.astype(dtype, copy=False)
    if array.dtype == float64 and not has_float64(data):
        return array.astype(default)
    if array.dtype == np.uint64 and not hasattr(data, "dtype"):
        raise RuntimeError(f"an int64 ends at 2**63 - 1; got {array.max()}")
    rank(array.dtype)
    return array


def check_integers(array: np.ndarray, dtype: np.dtype) -> None:
    """Raise RuntimeError if a number is nan, or too large for integers of a dtype."""
    limits = np.iinfo(dtype)
    if not ((array >= limits.min) & (array <= limits.max)).all():
        raise too_large(dtype, array)


def check_holds(dtype: np.dtype, value: Any) -> None:
    """Raise RuntimeError if a number is too large for a dtype."""
    if dtype.kind == "i":
        check_integers(np.array(value), dtype)
    elif dtype == float32 and np.isinf(float32.type(value)) and math.isfinite(value):
        raise too_large(dtype, value)


def too_large(dtype: np.dtype, value: Any) -> RuntimeError:
    """Return the error for what a dtype has no room for."""
    return RuntimeError(
        f"value cannot be converted to type {dtype} without overflow: {value}"
    )


def has_float64(data: Any) -> bool:
    """Return whether nested lists hold a float64 of NumPy's, and not just Python's."""
    if isinstance(data, list | tuple):
        return any(map(has_float64, data))
    return hasattr(data, "dtype") and data.dtype == float64


def zeros(shape: tuple, like: Any) -> Any:
    """Return zeros of a shape, in an array of the type and dtype that `like` has."""
    if type(like) is np.ndarray:  # the other way takes twice as long
        return np.zeros(shape, like.dtype)
    return np.zeros_like(like, shape=shape, order="C")


def ones(shape: tuple | int, like: Any) -> Any:
    """Return ones of a shape, in an array of the type and dtype that `like` has."""
    if type(like) is np.ndarray:
        out = np.empty(shape, like.dtype)
        out.fill(1)  # what np.ones does, too, in twice the time
        return out
    return np.ones_like(like, shape=shape, order="C")


def promoted(a: np.ndarray, b: np.ndarray) -> np.dtype:
    """Return the dtype of what `a` and `b` make together.

    Unlike in NumPy an integer never makes a float32 wider, and an array without
    dimensions gives way to one that has some, unless it is of a higher rank.
    Source: "Tensor Attributes" in PyTorch's documentation.
    """
    ranks = rank(a.dtype), rank(b.dtype)
    if a.ndim and not b.ndim and ranks[0] >= ranks[1]:
        return a.dtype
    if b.ndim and not a.ndim and ranks[1] >= ranks[0]:
        return b.dtype
    if ranks[0] != ranks[1]:
        return a.dtype if ranks[0] > ranks[1] else b.dtype
    return np.promote_types(a.dtype, b.dtype)


def weak(value: Any, beside: np.dtype) -> np.dtype:
    """Return the dtype that a Python number takes beside an array of dtype `beside`."""
    own = WORDS[type(value)] if type(value) in WORDS else as_array(value).dtype
    return beside if rank(own) <= rank(beside) else own
