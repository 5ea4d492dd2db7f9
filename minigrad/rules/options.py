"""Operations that PyTorch gives a further option: alpha, rounding_mode, decimals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.array.arguments import check_bools
from minigrad.array.dtypes import check_holds
from minigrad.graph.tensor import Tensor
from minigrad.rules import pointwise
from minigrad.rules.op import Op, alike, called
from minigrad.rules.operands import both_tensors
from minigrad.rules.reductions import floats


def scaled(op: Op) -> Callable:
    """Return add or sub, by name, whose second operand may be scaled by alpha."""

    def function(input, other, *, alpha=1):
        if alpha == 1:
            return op(input, other)
        if (
            isinstance(alpha, float)
            and pointwise.is_whole(input)
            and pointwise.is_whole(other)
        ):
            raise RuntimeError(f"alpha, {alpha}, has to be an integer for integers")
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            input, other = alike(input, other)
            check_holds(other.dtype, alpha)
        return op(input, other * alpha)

    function.__qualname__ = op.name.lower()  # errors name it
    return function


add, sub = scaled(pointwise.add), scaled(pointwise.sub)


def div(input, other, *, rounding_mode=None):
    """Return input / other; "floor" rounds it down, "trunc" towards 0."""
    if rounding_mode is None:
        return pointwise.div(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
            f"found {rounding_mode!r}"
        )
    operands = alike(*both_tensors(pointwise.div, input, other))
    check_bools(pointwise.floor_divide, *(x.array for x in operands))
    return ROUNDED(*operands, rounding_mode)


def rounded(a: np.ndarray, b: np.ndarray, mode: str) -> Any:
    """Return a / b, rounded, as arrays."""
    if mode == "trunc" and a.dtype.kind == "f":
        return np.trunc(a / b)
    down = pointwise.quotient.forward(a, b)
    return down + ((down < 0) & (down * b != a)) if mode == "trunc" else down


ROUNDED = Op(
    "DivBackward2",
    rounded,
    a=lambda g: np.zeros_like(g),
    b=lambda g: np.zeros_like(g),
)


def round(input, *, decimals=0):
    """Return the nearest number with so many decimals; of two as near, the even one."""
    if not decimals:
        return pointwise.round(input)
    floats("round", input)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        out = pointwise.round(input * scale) / scale
    else:
        out = pointwise.round(input / scale) * scale
    return called("RoundBackward1", out)
