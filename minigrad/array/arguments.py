"""What an operation is called with: names, defaults, tensors among other things."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.array.dtypes import ARRAYS, as_array

MISSING = object()  # the default of a parameter that has none
NUMPYS = {"axis": "dim", "keepdims": "keepdim"}  # its words, which PyTorch takes, too
ALIASES = {"input": "a", "other": "b"} | NUMPYS


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
    if defaults:
        parameters |= dict(zip(list(parameters)[-len(defaults) :], defaults))
    return parameters | (forward.__kwdefaults__ or {})


def parted(op: Any, out: Any) -> tuple[np.ndarray, list]:
    """Return the result of a forward function as an array, and its extras in order."""
    extras = []
    if type(out) is tuple:
        out, named = out
        for name in op.extras:
            extras.append(named[name])
    elif op.extras:
        raise TypeError(
            f"a formula of {op.name} names {op.extras[0]!r}, which is neither an "
            f"argument ({', '.join(op.parameters)}) nor g, y, shape or an extra"
        )
    # NumPy makes scalars of arrays without dimensions
    return out if type(out) is np.ndarray else as_array(out), extras


def has_array(value: Any) -> bool:
    """Return whether a value that a formula wants is an array, or has one in it."""
    if isinstance(value, (list, tuple)):
        return any(map(has_array, value))
    return isinstance(value, ARRAYS)


def in_order(op: Any, args: tuple, kwargs: dict) -> Sequence:
    """Return the values of all parameters; raise TypeError where one is missing."""
    parameters = op.parameters
    if not kwargs and op.required <= len(args) <= len(parameters):
        return args + op.defaults[len(args) :]
    if op.overload and len(args) == 1 and kwargs.keys() in ({"keepdim"}, {"keepdims"}):
        raise TypeError(f"{op.name.lower()}: keepdim wants a dim")
    values = parameters | dict(zip(parameters, args))
    for name, value in kwargs.items():
        name = name if name in parameters else ALIASES.get(name, name)
        if name in list(parameters)[: len(args)]:
            raise TypeError(f"{op.name} got multiple values for argument {name!r}")
        values[name] = value
    if len(args) > len(parameters) or len(values) > len(parameters):
        extra = [name for name in values if name not in parameters]
        what = f"no {extra[0]!r}" if extra else f"no {len(args)} arguments"
        raise TypeError(f"{op.name} takes {what}; it takes {', '.join(parameters)}")
    for name, value in values.items():
        if value is MISSING:
            raise TypeError(f"{op.name} is missing its argument {name!r}")
    return tuple(values.values())


def check_keepdim(op: Any, values: tuple) -> None:
    """Raise TypeError for x.sum(0, 1): several axes are a tuple, dim=(0, 1)."""
    if "keepdim" in op.parameters and not isinstance(values[-1], bool):
        raise TypeError(
            f"{op.name.lower()}: keepdim has to be True or False, not {values[-1]}; "
            "several axes are a tuple: dim=(0, 1)"
        )


def without_axis_0(op: Any, values: tuple) -> tuple:
    """Return the values, but with None for axis 0, or -1, of a number without axes.

    PyTorch has that axis in all that works along one: torch.tensor(2.0).sum(0).
    """
    if getattr(values[0], "shape", None) != ():
        return values
    if values[op.along] not in (0, -1, (0,), (-1,), [0], [-1]):
        return values
    return (*values[: op.along], None, *values[op.along + 1 :])


def sizes(args: tuple, named: Any = None) -> tuple[int, ...]:
    """Return the sizes of x.view(2, 3), which may come as one tuple, or by name."""
    if named is not None:
        if args:
            raise TypeError(f"got sizes twice: {args}, and {named} by name")
        args = (named,)
    one = len(args) == 1 and isinstance(args[0], list | tuple)
    given = args[0] if one else args
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        raise TypeError(
            f"expected sizes or axes, whole numbers, but got {given}; n // 2 is whole, "
            "n / 2 is not"
        ) from None


def bools(name: str, mask: Any) -> None:
    """Raise TypeError or RuntimeError unless this is an array, or Tensor, of bools."""
    if not hasattr(mask, "dtype"):
        raise TypeError(f"{name}: expected a tensor of bools, not {mask}")
    if mask.dtype != bool:
        raise RuntimeError(f"{name}: expected a tensor of bools, not of {mask.dtype}")


NOT_OF_BOOLS = {"Sub", "RsubBackward1", "Abs", "Floor", "Ceil", "Round", "Relu"}
NOT_OF_TWO_BOOLS = {"Pow", "Remainder", "FloorDivide"}


def check_bools(op: Any, *arrays: np.ndarray) -> None:
    """Raise RuntimeError if an operation that has no meaning for bools gets some."""
    bools = [array.dtype == bool for array in arrays]
    both = bools == [True, True] and op.name in NOT_OF_TWO_BOOLS
    if both or (any(bools) and op.name in NOT_OF_BOOLS):
        raise RuntimeError(
            f"{op.name}: not for a tensor of bools; make it one of numbers with "
            "float(), or turn a mask around with ~"
        )


def axis_of(dim: int, ndim: int) -> int:
    """Return an axis as counted from the front; raise IndexError if there is none."""
    ndim = max(ndim, 1)
    if not -ndim <= dim < ndim:
        raise out_of_range(dim, ndim)
    return dim % ndim


def out_of_range(dim: int, ndim: int) -> IndexError:
    """Return the error for an axis that is not there."""
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], "
        f"but got {dim})"
    )


def refusal(op: Any, arrays: list, error: ValueError) -> Exception:
    """Return NumPy's error as PyTorch would raise it, with the shapes."""
    if isinstance(error, np.exceptions.AxisError) and error.axis is not None:
        return out_of_range(error.axis, error.ndim)
    if list(op.parameters) == ["a", "b"]:
        return mismatch(op, *arrays, error)
    lists = [x if isinstance(x, list | tuple) else [x] for x in arrays]
    shapes = [str(x.shape) for each in lists for x in each if isinstance(x, ARRAYS)]
    along = op.along and arrays[op.along] is not None
    empty = "empty sequence" in str(error) or (along and "zero-size" in str(error))
    kind = IndexError if empty or isinstance(error, IndexError) else RuntimeError
    return kind(f"{op.name}: {error} (shapes: {', '.join(shapes)})")


def mismatch(op: Any, x: np.ndarray, y: np.ndarray, error: ValueError) -> RuntimeError:
    """Return the error for shapes that do not broadcast."""
    pairs = list(zip(x.shape[::-1], y.shape[::-1]))
    for i, (m, n) in enumerate(pairs):
        if m != n and 1 not in (m, n):
            dim = max(x.ndim, y.ndim) - 1 - i
            return RuntimeError(
                f"{op.name}: The size of tensor a ({m}) must match the size of tensor "
                f"b ({n}) at non-singleton dimension {dim}: the shapes are {x.shape} "
                f"and {y.shape}"
            )
    return RuntimeError(f"{op.name}: {error} (shapes: {x.shape} and {y.shape})")


def no_gradient(name: str, i: int, share: Any) -> TypeError:
    """Return the error for what a Function's backward gives in place of a gradient."""
    return TypeError(
        f"{name}: gradient {i} is a {type(share).__name__}; it should be a Tensor or "
        "None, and None for an argument that is no tensor of floats"
    )
