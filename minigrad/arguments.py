"""What an operation is called with: names, defaults, tensors among other things."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.dtypes import Array

MISSING = object()  # the default of a parameter that has none
ALIASES = {"input": "a", "other": "b", "axis": "dim", "keepdims": "keepdim"}


def parameters_of(forward: Callable) -> dict[str, Any]:
    """Map the names of a function's parameters to their defaults."""
    if isinstance(forward, np.ufunc):
        return dict.fromkeys("ab"[: forward.nin], MISSING)
    if not hasattr(forward, "__code__"):
        raise TypeError(
            f"{forward!r} does not tell its parameters: write a Python function, such "
            "as lambda a: ..., whose parameters the formulas can name"
        )
    code = forward.__code__  # inspect.signature takes a third of minigrad's import
    parameters = dict.fromkeys(code.co_varnames[: code.co_argcount], MISSING)
    defaults = forward.__defaults__ or ()
    return (
        parameters | dict(zip(list(parameters)[-len(defaults) :], defaults))
        if defaults
        else parameters
    )


def has_array(value: Any) -> bool:
    """Return whether a value that a formula wants is an array, or has one in it."""
    if isinstance(value, list | tuple):
        return any(map(has_array, value))
    return isinstance(value, Array)


def in_order(op: Any, args: tuple, kwargs: dict) -> Sequence:
    """Return the values of all parameters; raise TypeError where one is missing."""
    parameters = op.parameters
    if op.along and args and getattr(args[0], "shape", None) == ():
        args, kwargs = without_axes(args, kwargs, op.along)
    if not kwargs and op.required <= len(args) <= len(parameters):
        return args + op.defaults[len(args) :]
    values = parameters | dict(zip(parameters, args))
    for name, value in kwargs.items():
        values[ALIASES.get(name, name) if name not in parameters else name] = value
    if len(args) > len(parameters) or len(values) > len(parameters):
        extra = [name for name in values if name not in parameters]
        what = f"no {extra[0]!r}" if extra else f"no {len(args)} arguments"
        raise TypeError(f"{op.name} takes {what}; it takes {', '.join(parameters)}")
    for name, value in values.items():
        if value is MISSING:
            raise TypeError(f"{op.name} is missing its argument {name!r}")
    return list(values.values())


def without_axes(args: tuple, kwargs: dict, along: int) -> tuple[tuple, dict]:
    """Return arguments for a number without axes: None for its axis 0, or -1.

    PyTorch has that axis in all that works along one: torch.tensor(2.0).sum(0).
    """
    none = lambda dim: None if dim in (0, -1, (0,), (-1,), [0], [-1]) else dim  # noqa: E731
    args = tuple(none(x) if i == along else x for i, x in enumerate(args))
    return args, {k: none(x) if k in ("dim", "axis") else x for k, x in kwargs.items()}


def sizes(args: tuple, named: Any = None) -> tuple[int, ...]:
    """Return the sizes of x.view(2, 3), which may come as one tuple, or by name."""
    if named is not None:
        args = (named,)
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    return tuple(map(operator.index, args[0] if one else args))


def bools(name: str, mask: Any) -> None:
    """Raise RuntimeError unless an array or a Tensor holds bools."""
    if mask.dtype != bool:
        raise RuntimeError(f"{name}: expected a tensor of bools, not of {mask.dtype}")


def axis_of(dim: int, ndim: int) -> int:
    """Return an axis as counted from the front; raise IndexError if there is none."""
    ndim = max(ndim, 1)
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}],"
            f" but got {dim})"
        )
    return dim % ndim
