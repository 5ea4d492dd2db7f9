"""Op: an operation with its derivatives, one formula for each argument."""

import copy
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import ARRAYS, Array, default, promoted, zeros
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor, kind
from minigrad.graph.walk import sum_to, walk

MISSING = object()  # the default of a parameter that has none
ALIASES = {"input": "a", "other": "b", "axis": "dim", "keepdims": "keepdim"}


class Op:
    """An operation: how to compute it, and what each argument's gradient is.

    `name` is that of PyTorch's node, less "Backward0". `forward` gets arrays and
    returns one. A formula gets the result's gradient `g` and what its further
    parameters name: `y` is the result, `shape` the shape of the formula's own argument,
    anything else an argument of `forward`, or an extra (a forward may return a pair:
    the result, and a dict of extras), or `i`, where one formula serves a list of
    arguments: which of them. Only what is named is kept until backward. A formula uses
    nothing but what arrays and Tensors share, so that it can be recorded itself; where
    a fast one cannot, `plain` composes the same operation from others.
    """

    def __init__(self, name, forward, plain=None, overload=None, **formulas):
        self.name, self.forward, self.plain = name, forward, plain
        self.parameters, self.overload = parameters_of(forward), overload
        for argument in formulas:
            if argument not in self.parameters:
                takes = ", ".join(self.parameters)
                raise TypeError(f"{name} takes {takes}: there is no {argument!r}")
        arguments = [name for name in self.parameters if name in formulas]
        self.formulas = {name: formulas[name] for name in arguments}
        self.wants = {n: list(parameters_of(formulas[n]))[1:] for n in arguments}

    def __repr__(self):
        return f"<Op {self.name}>"

    def __get__(self, tensor, owner=None):
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, *args, **kwargs):
        """Compute the result; record a node, if an argument requires grad."""
        values = dict(zip(self.parameters, in_order(self, args, kwargs)))
        if [*values] == ["a", "b"]:
            values = alike(**values)
        first, *_ = values.values()
        tensors = [x for x in flat(values.values()) if isinstance(x, Tensor)]
        if not tensors:  # a formula calls, and wants an array
            check_arrays(self, *values.values())
            return parted(self.forward(*values.values()))[0]
        arrays = {name: bare(value) for name, value in values.items()}
        with np.errstate(all="ignore"):  # log(0) is -inf, without a word
            y, extras = parted(self.forward(*arrays.values()))
        result = Tensor(settled(y, tensors))
        targets = [edge(x) for name in self.formulas for x in flat([values[name]])]
        if any(targets) and recording.on and result.is_floating_point():
            known = arrays | extras | {"y": result.array}
            result.edge = self.record(targets, known)
        if result.array.base is not None and isinstance(first, Tensor):
            result.shows_memory_of(first)
        return result

    def record(self, targets: list, known: dict[str, Any]) -> Node:
        """Return the node of a result, with what the formulas want of what is known."""
        listed = len(targets) > len(self.formulas)
        pairs = zip(targets, self.wants.values())
        wants = {n for to, names in pairs if to or listed for n in names}
        saved = {n: known[n] for n in wants if n not in ("shape", "i")}
        if self.plain:
            saved |= {name: known[name] for name in self.parameters}
        op = self
        if self.overload and known[self.overload] is not None:
            op = renamed(self, f"{self.name}Backward1")  # as PyTorch numbers x.sum(0)
        return Node(op, targets, saved, known["y"].shape)

    def shares(self, node: Node, g: Any, wanted: set | None) -> Iterator[tuple]:
        """Yield each target of `node`, and its share of the gradient of the result.

        If g is a Tensor, the formulas get Tensors, too, and are recorded.
        """
        if self.plain and isinstance(g, Tensor):
            yield from shares_of_plain(node, g, wanted)
            return
        rules = list(zip(self.formulas.values(), self.wants.values()))
        for i, target in enumerate(node.targets):
            if target and (wanted is None or target in wanted):
                formula, names = rules[min(i, len(rules) - 1)]
                values = [value_of(node, name, i, g) for name in names]
                share = formula(g, *values)
                if share.shape != target.shape:
                    share = sum_to(share, target.shape, node.name())
                yield target, share


def value_of(node: Node, name: str, i: int, g: Any) -> Any:
    """Return what a formula wants, for argument i, by its name.

    Beside a gradient that is a Tensor, an array is one, too, and leads to its node.
    """
    if name in ("shape", "i"):
        return node.targets[i].shape if name == "shape" else i
    value = node.saved[name]
    if not isinstance(g, Tensor) or not isinstance(value, ARRAYS):
        return value
    arguments = [*node.op.formulas]
    if name in arguments:
        return Tensor(value, node.targets[arguments.index(name)])
    return Tensor(value, node) if name == "y" else value


def shares_of_plain(node: Node, g: Tensor, wanted: set | None) -> Iterator[tuple]:
    """Yield shares by way of the plain composition, which is recorded anew."""
    inputs = {name: node.saved[name] for name in node.op.parameters}
    doors = {}
    for name, target in zip(node.op.formulas, node.targets):
        if isinstance(inputs[name], ARRAYS):
            inputs[name] = alias(Tensor(inputs[name], target))
            if target and (wanted is None or target in wanted):
                doors[inputs[name].edge] = target
    y = node.op.plain(**inputs)
    ends = walk({y.edge: g}, set(doors), True) if y.edge else {}
    for door, target in doors.items():
        nothing = Tensor(zeros(door.shape, g.array))
        yield target, ends.get(door, nothing)


# What an operation is called with


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
    names = code.co_varnames[: code.co_argcount]
    defaults = forward.__defaults__ or ()
    missing = (MISSING,) * (len(names) - len(defaults))
    return dict(zip(names, missing + defaults))


def in_order(op: Op, args: tuple, kwargs: dict) -> list:
    """Return the values of all parameters; raise TypeError where one does not fit."""
    values = dict(zip(op.parameters, args))
    for name, value in kwargs.items():
        name = name if name in op.parameters else ALIASES.get(name, name)
        if name in values or name not in op.parameters:
            raise TypeError(
                f"{op.name.lower()} takes {', '.join(op.parameters)}; got {name!r}"
                + (" twice" if name in values else "")
            )
        values[name] = value
    values = op.parameters | values
    if len(args) > len(values) or any(v is MISSING for v in values.values()):
        raise TypeError(
            f"{op.name.lower()} takes {', '.join(op.parameters)}; got {len(args)} "
            "arguments"
        )
    return list(values.values())


def flat(values: Any) -> Iterator[Any]:
    """Yield values, and one by one those that are in lists."""
    for value in values:
        yield from value if isinstance(value, list) else [value]


def edge(value: Any) -> Any:
    """Return where the gradient of an argument goes; None if it is no tensor."""
    if not isinstance(value, Tensor):
        return None
    if value.source is not None:
        value.check_view()
    return value.edge


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


def settled(y: ndarray, tensors: list[Tensor]) -> ndarray:
    """Return a result in PyTorch's dtype: exp(2), of an integer, is a float32."""
    floats = any(x.array.dtype.kind == "f" for x in tensors)
    return y if floats or y.dtype.kind != "f" else y.astype(default)


def check_arrays(op: Op, first: Any, *rest: Any) -> None:
    """Raise TypeError unless there is an array, or a number of NumPy's."""
    if not any(isinstance(x, Array | np.generic) for x in flat([first, *rest])):
        raise TypeError(
            f"{op.name.lower()}: argument must be Tensor, not {kind(first)}; make it "
            "one with minigrad.tensor(...)"
        )


def alike(a: Any, b: Any) -> dict[str, Any]:
    """Return two operands; two tensors in the dtype that they make together."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        dtype = promoted(a.array, b.array)
        a, b = to_dtype(a, dtype), to_dtype(b, dtype)
    return {"a": a, "b": b}


def to_dtype(a: Tensor, dtype: np.dtype) -> Tensor:
    """Return `a` with numbers of another dtype; `a` itself if they are that already."""
    return a if a.array.dtype == dtype else cast(a, dtype, a.array.dtype)


def called(name: str, tensor: Tensor) -> Tensor:
    """Give a result of several operations the name of the one that PyTorch has."""
    if tensor.grad_fn is not None:
        tensor.edge.op = renamed(tensor.edge.op, name)
    return tensor


def renamed(op: Op, name: str) -> Op:
    """Return the same operation under another name."""
    op = copy.copy(op)
    op.name = name
    return op


cast = Op(
    "ToCopy",
    lambda a, dtype, source: a.astype(dtype),
    a=lambda g, dtype, source: cast(g, source, dtype),
)
alias = Op("Alias", lambda a: a, a=lambda g: g)
