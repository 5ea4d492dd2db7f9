"""What may stand beside a tensor in an operation: numbers, and bare arrays."""

from typing import Any

import numpy as np

from minigrad.array.arguments import check_bools
from minigrad.array.dtypes import Array, check_holds, weak
from minigrad.graph.tensor import Tensor, kind

NUMBERS = {float, int}
constants: dict[tuple, Tensor] = {}  # of Python numbers met before, beside floats


def both_tensors(op: Any, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return two operands as tensors; a Python number takes the other one's dtype."""
    if isinstance(a, Tensor):
        if type(b) in NUMBERS:
            b = constants.get((b, a.array.dtype), b)
        if not isinstance(b, Tensor):
            b = constant(op, b, a.array.dtype)
        return a, b
    if isinstance(b, Tensor):
        return constant(op, a, b.array.dtype), b
    raise TypeError(f"{op.name}: one argument must be a Tensor, not {kind(a)}")


def check_tensors(name: str, *values: Any) -> None:
    """Raise TypeError unless these are tensors, and no numbers, lists or arrays."""
    for value in values:
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, value)


def not_a_tensor(name: str, value: Any) -> TypeError:
    """Return the error for what stands where a tensor should."""
    return TypeError(
        f"{name}: argument must be Tensor, not {kind(value)}; "
        "make it one with minigrad.tensor(...)"
    )


def as_numbers(*values: Any) -> tuple:
    """Return values, tensors of one number among them as numbers if others are.

    But a tensor that requires grad stays one: through a number nothing flows.
    """
    if not any(isinstance(value, float | int) for value in values):
        return values
    return tuple(
        value.item()
        if isinstance(value, Tensor) and not value.ndim and not value.requires_grad
        else value
        for value in values
    )


def constant(op: Any, value: Any, beside: np.dtype) -> Tensor:
    """Return a number or an array as a tensor without history."""
    if isinstance(value, Array) and value.ndim:
        return Tensor(value)
    if isinstance(value, np.generic | Array):
        value = value.item()
    if not isinstance(value, float | int):
        raise TypeError(f"{op.name}: cannot use a {kind(value)} with a Tensor")
    if type(value) is bool:
        check_bools(op, np.array(value))
    tensor = Tensor(np.array(value, weak(value, beside)))
    if type(value) is not bool and beside.kind == "f" and value * 0 == 0 != value:
        if len(constants) > 1000:
            constants.clear()
        constants[value, beside] = tensor
    return tensor


def exactly(op: Any, value: Any, beside: np.dtype) -> Tensor:
    """Return a constant; raise RuntimeError if a number is too large for its dtype."""
    tensor = constant(op, value, beside)
    if not tensor.ndim:
        check_holds(tensor.dtype, value)
    return tensor


def on_arrays(op: Any, *arguments: Any) -> Any:
    """Return the bare result for bare arrays, as formulas want it."""
    for value in arguments:
        if not isinstance(value, Array | np.generic):
            raise not_a_tensor(op.name, value)
    return op.forward(*arguments)
