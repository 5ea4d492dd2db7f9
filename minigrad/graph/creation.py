"""Making tensors: from data, filled, counted, and at random."""

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.array.arguments import sizes
from minigrad.array.dtypes import as_array, as_dtype, check_holds, default, int64
from minigrad.graph.tensor import Tensor
from minigrad.rules.operands import check_tensors

_generators: list = []  # one, as soon as somebody asks


def generator() -> "np.random.Generator":
    """Return the source of all of minigrad's random numbers."""
    if not _generators:
        _generators.append(np.random.default_rng())
    return _generators[0]


def manual_seed(seed: int) -> None:
    """Make all random numbers from here on the same in every run."""
    _generators[:] = [np.random.default_rng(seed)]


def repeatable(function: Callable) -> Callable:
    """Return the function, but with the same random numbers in each call of it."""
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


def made(
    array: np.ndarray,
    dtype: Any = None,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return a new leaf."""
    tensor = Tensor(
        array if dtype is None else array.astype(as_dtype(dtype), copy=False)
    )
    tensor = tensor if device is None else tensor.to(device)
    tensor.requires_grad = requires_grad
    return tensor


def tensor(
    data: Any, dtype: Any = None, requires_grad: bool = False, device: str | None = None
) -> Tensor:
    """Return a copy of numbers, of nested lists of them, or of an array, as a leaf.

    Python's floats become float32, its integers int64; an array keeps its dtype.
    """
    try:
        array = as_array(without_tensors(data), dtype, copy=True)
    except ValueError as error:
        raise ValueError(
            f"tensor: no array of these; are the lists of one length? ({error})"
        ) from error
    return made(array, None, requires_grad, device)


def without_tensors(data: Any) -> Any:
    """Return nested lists with the arrays of the tensors in them."""
    if isinstance(data, list | tuple):
        return [without_tensors(x) for x in data]
    if not isinstance(data, Tensor):
        return data
    if data.requires_grad:
        warnings.warn(
            "tensor() copies numbers, and no gradient flows back through it: stack() "
            "tensors that require grad, or detach() them",
            stacklevel=3,
        )
    return data.array


def as_tensor(data: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """Return data as a tensor, on the same memory where that can be."""
    if isinstance(data, Tensor):
        return data.to(dtype, device)
    return made(as_array(data, dtype), device=device)


def from_numpy(array: np.ndarray) -> Tensor:
    """Return a tensor on the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return Tensor(as_array(array))


def shape_of(*args: Any, size: Any = None) -> tuple[int, ...]:
    """Return the sizes of what is to be made; raise RuntimeError for negative ones."""
    shape = sizes(args, size)
    if min(shape, default=0) < 0:
        raise RuntimeError(f"a tensor cannot have a negative dimension: {shape}")
    return shape


def number(value: Any) -> Any:
    """Return the number that a tensor or an array of one number holds."""
    return value.item() if hasattr(value, "item") else value


def zeros(
    *args: int,
    size: Any = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return zeros of a shape."""
    shape = shape_of(*args, size=size)
    return made(np.zeros(shape, as_dtype(dtype)), None, requires_grad, device)


def ones(
    *args: int,
    size: Any = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return ones of a shape."""
    shape = shape_of(*args, size=size)
    return made(np.ones(shape, as_dtype(dtype)), None, requires_grad, device)


def empty(
    *args: int,
    size: Any = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return whatever numbers are there, in a shape."""
    shape = shape_of(*args, size=size)
    return made(np.empty(shape, as_dtype(dtype)), None, requires_grad, device)


def full(
    size: tuple,
    fill_value: Any,
    dtype: Any = None,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return a shape filled with one number."""
    size, fill_value = shape_of(size), number(fill_value)
    one = as_array(fill_value, dtype)
    check_holds(one.dtype, fill_value)
    array = np.full(size, one)
    return made(array, None, requires_grad, device)


def arange(
    start=None,
    end=None,
    step=1,
    dtype: Any = None,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return start, start + step, ... up to but without end."""
    if end is None:
        start, end = 0, start
    if end is None:
        raise TypeError("arange: missing its end")
    start = 0 if start is None else start
    start, end, step = map(number, (start, end, step))
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"arange: unsupported range, from {start} to {end}")
    if dtype is not None and as_dtype(dtype).kind == "i":
        start, end, step = map(int, (start, end, step))
    if step == 0 or (end - start) * step < 0:
        raise RuntimeError(
            f"arange: from {start} to {end} there is no way in steps of {step}"
        )
    floats = any(isinstance(x, float) for x in (start, end, step))
    array = np.arange(start, end, step)
    return made(array, dtype or (default if floats else int64), requires_grad, device)


def linspace(
    start,
    end,
    steps: int,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return so many numbers from start to end, evenly spaced, with both ends."""
    if steps < 0:
        raise RuntimeError(f"linspace: steps must be non-negative, not {steps}")
    if max(np.ndim(start), np.ndim(end)):
        raise RuntimeError("linspace: start and end have to be numbers, without axes")
    start, end = number(start), number(end)
    if as_dtype(dtype).kind == "i":
        start, end = int(start), int(end)
    return made(np.linspace(start, end, steps), dtype, requires_grad, device)


def eye(
    n: int,
    m: int | None = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return ones on the diagonal of a matrix of zeros."""
    shape = shape_of(n, n if m is None else m)
    return made(np.eye(*shape, dtype=as_dtype(dtype)), None, requires_grad, device)


def floats_only(name: str, dtype: Any) -> np.dtype:
    """Return a dtype; raise RuntimeError if it is not one of floats."""
    dtype = as_dtype(dtype)
    if dtype.kind != "f":
        raise RuntimeError(
            f"{name}: random numbers are floats, not {dtype}; see randint"
        )
    return dtype


def rand(
    *args: int,
    size: Any = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return random numbers, uniform from 0 up to but without 1."""
    dtype = floats_only("rand", dtype)
    below_1 = np.nextafter(1, 0, dtype=dtype)  # what rounds up to 1
    numbers = np.minimum(generator().random(shape_of(*args, size=size)), below_1)
    return made(numbers, dtype, requires_grad, device)


def randn(
    *args: int,
    size: Any = None,
    dtype: Any = default,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return random numbers, normal with mean 0 and variance 1."""
    dtype = floats_only("randn", dtype)
    array = np.asarray(generator().standard_normal(shape_of(*args, size=size)))
    return made(array, dtype, requires_grad, device)


def randint(
    low: int = 0, high=None, size=None, dtype: Any = int64, device: str | None = None
) -> Tensor:
    """Return random integers from low (or 0) up to but without high."""
    if size is None:
        high, size = None, high
    if high is None:
        low, high = 0, low
    if size is None or not all(hasattr(n, "__index__") for n in (low, high)):
        raise TypeError(f"randint: low, high and a size, not {low}, {high} and {size}")
    if low >= high:
        raise RuntimeError(f"randint: low has to be below high, not {low} and {high}")
    array = generator().integers(low, high, shape_of(size))
    return made(array, dtype, device=device)


def randperm(n: int) -> Tensor:
    """Return the integers below n in random order."""
    if n < 0:
        raise RuntimeError(f"randperm: n must be non-negative, got {n}")
    return Tensor(generator().permutation(n))


def like(make):
    """Return the version of a function that takes shape and dtype from a tensor."""
    numpys = getattr(np, f"{make.__name__}_like", None)  # which stays on the device

    def function(
        input: Tensor,
        dtype: Any = None,
        requires_grad: bool = False,
        device: str | None = None,
    ) -> Tensor:
        check_tensors(function.__name__, input)
        dtype = as_dtype(dtype or input.dtype)
        if numpys is None:
            return make(
                input.shape, dtype=dtype, requires_grad=requires_grad, device=device
            )
        array = numpys(input.array, dtype, order="C")
        return made(array, None, requires_grad, device)

    function.__name__ = f"{make.__name__}_like"
    function.__doc__ = f"{make.__doc__} Shape and dtype are those of `input`."
    return function


zeros_like, ones_like, empty_like = like(zeros), like(ones), like(empty)
rand_like, randn_like = like(rand), like(randn)


def full_like(
    input: Tensor,
    fill_value: Any,
    dtype: Any = None,
    requires_grad: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return one number in the shape of `input`."""
    check_tensors("full_like", input)
    dtype = as_dtype(dtype or input.dtype)
    return full(input.shape, fill_value, dtype, requires_grad, device)
