"""Functions that create tensors from data, constants, ranges or random numbers."""

import copy
from collections.abc import Callable

import numpy as np

from minigrad.array.axes import lengths
from minigrad.array.dtypes import as_array, as_dtype, default
from minigrad.errors import expect
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import bare

_generators = [np.random.default_rng()]


def generator() -> "np.random.Generator":
    """Return the generator of all random numbers in minigrad."""
    return _generators[0]


def manual_seed(seed: int) -> None:
    """Make all random numbers after this call the same in every run."""
    _generators[:] = [np.random.default_rng(seed)]


def repeatable(function: Callable) -> Callable:
    """Return the function, but with the same random numbers in every call."""
    start = copy.deepcopy(generator())

    def run(*args):
        now, again = generator(), getattr(run, "called", False)
        run.called, _generators[:] = True, [copy.deepcopy(start) if again else now]
        try:
            return function(*args)
        finally:
            _generators[:] = [now]

    return run


def made(array, dtype=None, requires_grad=False) -> Tensor:
    """Return a new leaf."""
    return Tensor(as_array(array, dtype)).requires_grad_(requires_grad)


def tensor(data, dtype=None, **options) -> Tensor:
    """Return a leaf with a copy of a number, of nested lists of numbers or of an array.

    Python floats become float32, and integers int64. An array keeps its dtype. Raises
    RuntimeError for a Tensor that requires grad, as no gradient would flow back to it.
    Use stack() for such Tensors.
    """
    data = data.numpy() if isinstance(data, Tensor) else data
    return made(as_array(data, dtype, copy=True), **options)


def from_numpy(array: np.ndarray) -> Tensor:
    """Return a tensor that shares the memory of an array."""
    return Tensor(array)


def zeros(*size: int, dtype=default, **options) -> Tensor:
    """Return a tensor of this shape filled with zeros."""
    return made(np.zeros(lengths(size), as_dtype(dtype)), **options)


def ones(*size: int, dtype=default, **options) -> Tensor:
    """Return a tensor of this shape filled with ones."""
    return made(np.ones(lengths(size), as_dtype(dtype)), **options)


def empty(*size: int, dtype=default, **options) -> Tensor:
    """Return a tensor of this shape with arbitrary elements."""
    return made(np.empty(lengths(size), as_dtype(dtype)), **options)


def full(size: tuple, fill_value, dtype=None, **options) -> Tensor:
    """Return a tensor of shape `size` filled with one number."""
    number = as_array(bare(fill_value), dtype)
    expect(number.ndim == 0, "fill_value must be a number", fill_value)
    return made(np.full(lengths((size,)), number), **options)


def floating(dtype) -> np.dtype:
    """Return a float dtype. Raises TypeError for other dtypes, which would round."""
    expect(as_dtype(dtype).kind == "f", "expected floats", dtype, error=TypeError)
    return as_dtype(dtype)


def arange(start, end=None, step=1, dtype=None, **options) -> Tensor:
    """Return start, start + step, ... before end. The call arange(n) starts from 0."""
    start, end = (0, start) if end is None else (start, end)
    fits = step != 0 and (end - start) * step >= 0
    expect(fits, "arange: expected steps from start to end", start, end, step)
    array = np.arange(start, end, step)
    dtype = floating(dtype) if array.dtype.kind == "f" else dtype
    return made(array, dtype, **options)


def linspace(start, end, steps: int, dtype=default, **options) -> Tensor:
    """Return `steps` evenly spaced numbers from start to end, both included."""
    array = np.linspace(float(start), float(end), steps)
    return made(array, floating(dtype), **options)


def eye(n: int, m: int | None = None, dtype=default, **options) -> Tensor:
    """Return an n x m matrix of zeros with ones on the diagonal. By default m is n."""
    size = lengths((n, n if m is None else m))
    return made(np.eye(*size, dtype=as_dtype(dtype)), **options)


def rand(*size: int, dtype=default, **options) -> Tensor:
    """Return uniform random numbers from 0 to 1, without 1."""
    return made(generator().random(lengths(size), as_dtype(dtype)), **options)


def randn(*size: int, dtype=default, **options) -> Tensor:
    """Return normal random numbers with mean 0 and variance 1."""
    array = generator().standard_normal(lengths(size))
    return made(array, floating(dtype), **options)


def randint(*args, size=None, **options) -> Tensor:
    """Return random integers, from 0 or the first bound on, below the last bound.

    randint(9, (3,)) draws from 0 to 8, and randint(2, 9, (3,)) from 2 to 8. The last
    argument, or `size`, is the shape.
    """
    *bounds, size = args if size is None else (*args, size)
    return made(generator().integers(*bounds, size=lengths((size,))), **options)


def zeros_like(input: Tensor, dtype=None, requires_grad=False) -> Tensor:
    """Return zeros in the shape and dtype of `input`."""
    return made(np.zeros_like(input.array, dtype), None, requires_grad)


def ones_like(input: Tensor, dtype=None, requires_grad=False) -> Tensor:
    """Return ones in the shape and dtype of `input`."""
    return made(np.ones_like(input.array, dtype), None, requires_grad)


def rand_like(input: Tensor, dtype=None, **options) -> Tensor:
    """Return uniform random numbers from 0 to 1 in the shape of `input`."""
    return rand(input.shape, dtype=dtype or input.dtype, **options)
