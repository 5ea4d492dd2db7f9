"""Making tensors: from data, filled, counted, and at random."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.array.axes import sizes
from minigrad.array.dtypes import as_array, as_dtype, default
from minigrad.graph.tensor import Tensor
from minigrad.rules.arguments import bare

_generators = [np.random.default_rng()]


def generator() -> "np.random.Generator":
    """Return the source of all of minigrad's random numbers."""
    return _generators[0]


def manual_seed(seed: int) -> None:
    """Make all random numbers from here on the same in every run."""
    _generators[:] = [np.random.default_rng(seed)]


def repeatable(function: Callable) -> Callable:
    """Return the function, with the same random numbers in every call."""
    first: list = []

    def run(*args):
        now = generator()
        if not first:
            first.append(copy.deepcopy(now))
            return function(*args)
        _generators[:] = [copy.deepcopy(first[0])]
        try:
            return function(*args)
        finally:
            _generators[:] = [now]

    return run


def made(array, dtype=None, requires_grad=False) -> Tensor:
    """Return a new leaf."""
    return Tensor(as_array(array, dtype)).requires_grad_(requires_grad)


def tensor(data: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return a copy of numbers, of nested lists of them, or of an array, as a leaf.

    Python's floats become float32, its integers int64; an array keeps its dtype. One
    that requires grad is refused, as no gradient would flow back: stack() such ones.
    """
    data = data.numpy() if isinstance(data, Tensor) else data
    return made(as_array(data, dtype, copy=True), **options)


def from_numpy(array: np.ndarray) -> Tensor:
    """Return a tensor on the memory of an array."""
    return Tensor(array)


def zeros(*size: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return zeros of a shape."""
    return made(np.zeros(sizes(size), as_dtype(dtype)), **options)


def ones(*size: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return ones of a shape."""
    return made(np.ones(sizes(size), as_dtype(dtype)), **options)


def empty(*size: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return a tensor of this shape with arbitrary numbers."""
    return made(np.empty(sizes(size), as_dtype(dtype)), **options)


def full(size: tuple, fill_value: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return a shape filled with one number."""
    return made(np.full(sizes((size,)), as_array(bare(fill_value), dtype)), **options)


def floating(dtype: Any) -> np.dtype:
    """Return the dtype; TypeError unless it is of floats: others would round."""
    if as_dtype(dtype).kind != "f":
        raise TypeError(f"these numbers are floats: dtype cannot be {dtype}")
    return as_dtype(dtype)


def arange(start, end=None, step=1, dtype: Any = None, **options: Any) -> Tensor:
    """Return start, start + step, ... before end; arange(n) starts from 0."""
    start, end = (0, start) if end is None else (start, end)
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: no way from {start} to {end} in steps of {step}")
    array = np.arange(start, end, step)
    dtype = floating(dtype) if array.dtype.kind == "f" else dtype
    return made(array, dtype, **options)


def linspace(start, end, steps: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return `steps` evenly spaced numbers from start to end, both included."""
    array = np.linspace(float(start), float(end), steps)
    return made(array, floating(dtype), **options)


def eye(n: int, m: int | None = None, dtype: Any = default, **options: Any) -> Tensor:
    """Return ones on the diagonal of a matrix of zeros."""
    return made(np.eye(n, m, dtype=as_dtype(dtype)), **options)


def rand(*size: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return random numbers, uniform from 0 up to but without 1."""
    return made(generator().random(sizes(size), as_dtype(dtype)), **options)


def randn(*size: int, dtype: Any = default, **options: Any) -> Tensor:
    """Return random numbers, normal with mean 0 and variance 1."""
    array = generator().standard_normal(sizes(size))
    return made(array, floating(dtype), **options)


def randint(*args: Any, size: Any = None, **options: Any) -> Tensor:
    """Return random integers: randint(9, (3,)) from 0 to 8, randint(2, 9, (3,)) from 2.

    The last argument, or `size`, is the shape.
    """
    *bounds, size = args if size is None else (*args, size)
    return made(generator().integers(*bounds, size=sizes((size,))), **options)


def zeros_like(input: Tensor, dtype: Any = None, requires_grad=False) -> Tensor:
    """Return zeros in the shape and dtype of `input`."""
    return made(np.zeros_like(input.array, dtype), None, requires_grad)


def ones_like(input: Tensor, dtype: Any = None, requires_grad=False) -> Tensor:
    """Return ones in the shape and dtype of `input`."""
    return made(np.ones_like(input.array, dtype), None, requires_grad)


def rand_like(input: Tensor, dtype: Any = None, **options: Any) -> Tensor:
    """Return random numbers, uniform from 0 to 1, in the shape of `input`."""
    return rand(input.shape, dtype=dtype or input.dtype, **options)
