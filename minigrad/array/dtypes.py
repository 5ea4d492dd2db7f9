"""Kinds of numbers, and PyTorch's rules for what comes of mixing them."""

from abc import ABC
from typing import Any

import numpy as np

float32, float64 = np.dtype("float32"), np.dtype("float64")
int64, bool_ = np.dtype("int64"), np.dtype("bool")
default = float32  # of Python floats, and of integers that a function makes floats of
RANK = {bool_: 0, int64: 1, float32: 2, float64: 2}


class Array(ABC):  # noqa: B024, it is there for isinstance
    """What a Tensor can hold: any type of array that speaks NumPy's protocols.

    NumPy's own is one of them; Array.register(kind) makes another known. It needs
    __array_ufunc__, __array_function__ and those methods of ndarray that rules call.
    """


Array.register(np.ndarray)
ARRAYS = np.ndarray, Array  # isinstance(x, ARRAYS) is faster for the usual ones


def as_dtype(dtype: Any) -> np.dtype:
    """Return NumPy's dtype for a dtype, its name, or Python's float, int or bool.

    None is the default, float32. Raises TypeError for what a Tensor does not hold.
    """
    found = default if dtype is None else np.dtype(dtype)
    if found not in RANK:
        raise TypeError(f"a Tensor holds float32, float64, int64 or bool, not {found}")
    return found


def as_array(data: Any, dtype: Any = None, copy: bool = False) -> np.ndarray:
    """Return `data` as an array; Python's floats become float32, arrays stay as is."""
    array = data if isinstance(data, ARRAYS) else np.asarray(data)
    if dtype is None and array.dtype == float64 and not has_float64(data):
        dtype = default
    dtype = as_dtype(array.dtype if dtype is None else dtype)
    return array.astype(dtype) if copy or array.dtype != dtype else array


def has_float64(data: Any) -> bool:
    """Return whether nested lists hold a float64 of NumPy's, and not just Python's."""
    if isinstance(data, list | tuple):
        return any(map(has_float64, data))
    return hasattr(data, "dtype") and data.dtype == float64


def zeros(shape: tuple, like: Any) -> Any:
    """Return an array of zeros of this shape, of the type and dtype of `like`."""
    return np.zeros_like(like, shape=shape, order="C")


def ones(shape: tuple | int, like: Any) -> Any:
    """Return an array of ones of this shape, of the type and dtype of `like`."""
    return np.ones_like(like, shape=shape, order="C")


def promoted(a: np.ndarray, b: np.ndarray) -> np.dtype:
    """Return the dtype of the result of an operation on `a` and `b`.

    Unlike in NumPy an integer never makes a float32 wider, and an array without
    dimensions gives way to one that has some, unless it is of a higher rank.
    Source: "Tensor Attributes" in PyTorch's documentation.
    """
    rank_a, rank_b = RANK[a.dtype], RANK[b.dtype]
    if rank_a != rank_b:
        return a.dtype if rank_a > rank_b else b.dtype
    if bool(a.ndim) != bool(b.ndim):
        return a.dtype if a.ndim else b.dtype
    return np.promote_types(a.dtype, b.dtype)
