"""Dtypes, and PyTorch's rules for the dtype of a result."""

from abc import ABC

import numpy as np

from minigrad.errors import expect

float32, float64 = np.dtype("float32"), np.dtype("float64")
int64, bool_ = np.dtype("int64"), np.dtype("bool")
default = float32  # for Python floats, and for integers that become floats
RANK = {bool_: 0, int64: 1, float32: 2, float64: 2}
HELD = "a Tensor holds float32, float64, int64 or bool, not {}: convert it with astype"


class Array(ABC):  # noqa: B024, only for isinstance
    """Any type of array that supports NumPy's protocols, so that a Tensor can hold it.

    NumPy's ndarray is registered. Array.register(kind) registers another type, which
    needs __array_ufunc__, __array_function__ and the ndarray methods that rules call.
    """


Array.register(np.ndarray)
ARRAYS = np.ndarray, Array  # isinstance(x, ARRAYS) is faster for ndarrays


def as_dtype(dtype) -> np.dtype:
    """Return NumPy's dtype for a dtype, its name, or Python's float, int or bool.

    None means float32. Raises TypeError for a dtype that a Tensor cannot hold.
    """
    found = np.dtype(default if dtype is None else dtype)
    expect(found in RANK or found == np.intp, HELD.format(found), error=TypeError)
    return int64 if found == np.intp else found  # intp has 32 bits in a browser


def as_array(data, dtype=None, copy: bool = False) -> np.ndarray:
    """Return `data` as an array. Python floats become float32. Arrays keep their dtype.

    Raises TypeError for a dtype that a Tensor cannot hold.
    """
    array = data if isinstance(data, ARRAYS) else np.asarray(data)
    if dtype is None and array.dtype == float64 and not has_float64(data):
        dtype = default
    dtype = as_dtype(array.dtype if dtype is None else dtype)
    return array.astype(dtype) if copy or array.dtype != dtype else array


def has_float64(data) -> bool:
    """Return whether nested lists hold a NumPy float64, and not only Python floats."""
    if isinstance(data, list | tuple):
        return any(map(has_float64, data))
    return hasattr(data, "dtype") and data.dtype == float64


def zeros(shape: tuple, like):
    """Return an array of zeros of this shape, of the type and dtype of `like`."""
    return np.zeros_like(like, shape=shape, order="C")


def ones(shape: tuple | int, like):
    """Return an array of ones of this shape, of the type and dtype of `like`."""
    return np.ones_like(like, shape=shape, order="C")


def promoted(a: np.ndarray, b: np.ndarray) -> np.dtype:
    """Return the dtype of the result of an operation on `a` and `b`.

    Unlike in NumPy, an integer never makes a float32 wider. An array without dimensions
    takes the dtype of an array that has some, unless its own dtype has a higher rank.
    Source: "Tensor Attributes" in PyTorch's documentation.
    """
    rank_a, rank_b = RANK[a.dtype], RANK[b.dtype]
    if rank_a != rank_b:
        return a.dtype if rank_a > rank_b else b.dtype
    if bool(a.ndim) != bool(b.ndim):
        return a.dtype if a.ndim else b.dtype
    return np.promote_types(a.dtype, b.dtype)


def floats(a, name: str):
    """Return `a` if it holds floats. Raises RuntimeError for integers or bools."""
    expect(a.dtype.kind == "f", f"{name}(): input must be floating point", a)
    return a
