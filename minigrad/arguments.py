"""What an operation is called with: names, defaults, tensors among other things."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from minigrad.tensor import Tensor

MISSING = object()  # the default of a parameter that has none
ALIASES = {"input": "a", "other": "b", "axis": "dim", "keepdims": "keepdim"}


def parameters_of(forward: Callable) -> dict[str, Any]:
    """Map the names of a function's parameters to their defaults."""
    if isinstance(forward, np.ufunc):
        return dict.fromkeys("ab"[: forward.nin], MISSING)
    code = forward.__code__  # inspect.signature takes a third of minigrad's import
    parameters = dict.fromkeys(code.co_varnames[: code.co_argcount], MISSING)
    defaults = forward.__defaults__ or ()
    return (
        parameters | dict(zip(list(parameters)[-len(defaults) :], defaults))
        if defaults
        else parameters
    )


def picker(known: list[str], names: list[str]) -> Callable | None:
    """Return what picks the tuple of the named ones out of the known ones."""
    if not set(names) <= set(known):
        return None
    places = [known.index(name) for name in names]
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def is_list(value: Any) -> bool:
    """Return whether an argument is a list of tensors."""
    return isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value)


def has_tensor(value: Any) -> bool:
    """Return whether an argument is a tensor or has one in it."""
    return isinstance(value, Tensor) or is_list(value)


def has_array(value: Any) -> bool:
    """Return whether a value that a formula wants is an array, or has one in it."""
    if isinstance(value, list | tuple):
        return any(isinstance(each, np.ndarray) for each in value)
    return isinstance(value, np.ndarray)


def array_of(value: Any) -> Any:
    """Return the array of a tensor, the list of arrays of a list of them."""
    if isinstance(value, Tensor):
        return value.array
    return (
        [v.array if isinstance(v, Tensor) else v for v in value]
        if is_list(value)
        else value
    )


def named_values(op: Any, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Return all parameters of an operation by name, in order."""
    values = op.parameters | dict(zip(op.parameters, args))
    for name, value in kwargs.items():
        values[ALIASES.get(name, name) if name not in op.parameters else name] = value
    if len(args) > len(op.parameters) or len(values) > len(op.parameters):
        extra = [name for name in values if name not in op.parameters]
        what = (
            f"no {extra[0]!r}"
            if extra
            else f"{len(op.parameters)} arguments, not {len(args)}"
        )
        raise TypeError(f"{op.name} takes {what}; it takes {', '.join(op.parameters)}")
    for name, value in values.items():
        if value is MISSING:
            raise TypeError(f"{op.name} is missing its argument {name!r}")
    return values
