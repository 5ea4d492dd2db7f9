"""What an operation is called with: names, defaults, tensors among other things."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import errors
from minigrad.array.dtypes import Array, default, float64, promoted
from minigrad.graph.tensor import Tensor
from minigrad.rules.parameters import MISSING

ALIASES = {"input": "a", "other": "b", "axis": "dim", "keepdims": "keepdim"}


def operands(op: Any, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Return the values of all parameters by name; two tensors in one dtype.

    Raises TypeError unless each parameter without a default is given, and none twice.
    """
    known, placed = op.parameters, dict(zip(op.parameters, args))
    named = {k if k in known else ALIASES.get(k, k): v for k, v in kwargs.items()}
    values = known | placed | named
    fits = len(args) == len(placed) and placed.keys().isdisjoint(named)
    missing = any(value is MISSING for value in values.values())
    if missing or not fits or len(values) > len(known):
        raise TypeError(
            f"{op.name.lower()} takes {', '.join(known)}; got {len(args)} by place"
            + "".join(f", and {name!r}" for name in kwargs)
        )
    first, *_ = values.values()
    if values.get("dim") in (0, -1) and getattr(first, "shape", None) == ():
        values["dim"] = None  # a number has an axis 0, too, as in PyTorch
    if [*values] == ["a", "b"]:
        values["a"], values["b"] = alike(**values)
    return values


def alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands; two tensors in the dtype that they make together."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        dtype = promoted(a.array, b.array)
        a, b = a.to(dtype), b.to(dtype)
    return a, b


def flat(values: Any) -> Iterator[Any]:
    """Yield values, and one by one those that are in lists."""
    for value in values:
        yield from value if isinstance(value, list) else [value]


def bare(value: Any) -> Any:
    """Return the array of a tensor, and a number of NumPy's as one of Python's."""
    if isinstance(value, list):
        return [bare(each) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    return value.array if isinstance(value, Tensor) else value


def parted(y: Any) -> tuple[ndarray, dict]:
    """Return the result of a forward function as an array, and its extras."""
    y, extras = y if isinstance(y, tuple) else (y, {})
    return np.asarray(y) if isinstance(y, np.generic) else y, extras


def computed(op: Any, arrays: dict[str, Any]) -> tuple[ndarray, dict]:
    """Return what an operation makes of arrays, in PyTorch's dtype, and its extras."""
    with np.errstate(all="ignore"):  # log(0) is -inf, without a word
        y, extras = parted(op.forward(*arrays.values()))
    dtypes = [x.dtype for x in flat(arrays.values()) if isinstance(x, Array)]
    if y.dtype == float64 and not any(dtype.kind == "f" for dtype in dtypes):
        y = y.astype(default)  # exp(2), of an integer, is a float32
    return y, extras


def named(op: Any, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """Return what formulas name, of what is known; TypeError for what is not."""
    names = [name for name in names if name not in ("shape", "i")]
    if strange := [name for name in names if name not in known]:
        raise TypeError(
            f"a formula of {op.name} names {strange[0]!r}, which is no argument "
            f"({', '.join(op.parameters)}), nor g, y, shape or an extra"
        )
    return {name: known[name] for name in names}


def on_arrays(op: Any, values: dict[str, Any]) -> Any:
    """Return the bare result for bare arrays; TypeError if there is none among them."""
    if not any(isinstance(x, Array | np.generic) for x in flat(values.values())):
        raise errors.not_a_tensor(op.name.lower(), next(iter(values.values())))
    return parted(op.forward(*values.values()))[0]
