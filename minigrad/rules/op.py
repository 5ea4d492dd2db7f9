"""Op: an operation with its derivatives, one formula for each argument."""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.array.arguments import (
    MISSING,
    check_bools,
    check_keepdim,
    has_array,
    in_order,
    parameters_of,
    parted,
    refusal,
    without_axis_0,
)
from minigrad.array.dtypes import (
    Array,
    as_array,
    as_dtype,
    default,
    int64,
    promoted,
    zeros,
)
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.graph.walk import run_backward
from minigrad.rules.operands import both_tensors, not_a_tensor, on_arrays
from minigrad.rules.shared_memory import note

# Arguments that a formula may want though they are no tensor's: an index array, say
MAY_BE_ARRAYS = {"index", "condition", "mask", "target", "where", "unit"}


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
        self.formulas, self.arguments = tuple(formulas.values()), tuple(formulas)
        self.parameters = parameters_of(forward)
        self.defaults = tuple(self.parameters.values())
        self.required = self.defaults.count(MISSING)
        self.names = [list(parameters_of(f))[1:] for f in self.formulas]
        known = [*self.parameters, "y", "shape", "i"]
        named = dict.fromkeys(name for names in self.names for name in names)
        self.extras = [name for name in named if name not in known]
        dim = list(self.parameters).index("dim") if "dim" in self.parameters else None
        self.along = dim  # which argument says along which axis, if one does
        # Whether a node has arrays to free after a walk back, or has to look for some
        arrays = {"y", *self.arguments, *(self.extras if plain else ())}
        self.frees = bool(named.keys() & arrays)
        self.choosy = bool(named.keys() & (MAY_BE_ARRAYS | set(self.extras)))
        self.picks = [self.picker(names) for names in self.names]
        self.method, self.renamed = bound(self), {}
        self.method.__qualname__ = name.lower()  # errors name it
        self.overload = overload and list(self.parameters).index(overload)
        if overload:  # PyTorch numbers the backward of x.sum(0) otherwise
            self.overloaded = copy.copy(self)
            self.overloaded.name = f"{name}Backward1"

    def picker(self, names: list[str]) -> Callable:
        """Return what picks the named values, for a formula, from all: see record()."""
        known = [*self.parameters, "y", *self.extras, "shape"]
        places = [known.index(name) for name in names if name != "i"]
        if len(places) > 1:
            return itemgetter(*places)
        return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))

    def __repr__(self):
        return f"<Op {self.name}>"

    def __call__(self, *args, **kwargs):
        return self.method(*args, **kwargs)

    def adopt(self, other: "Op") -> dict:
        """Become `other` for all who hold this Op or its method; return what it was.

        What it was can be adopted in its turn. Tensor has the method as its own, so
        this has to change from within: by its code.
        """
        before = vars(self) | {"code": self.method.__code__}
        now = dict(vars(other) if isinstance(other, Op) else other)
        self.method.__code__ = now.pop("code", None) or other.method.__code__
        vars(self).update(now, method=self.method)
        return before

    def lifted(self, node: Node, make: Callable) -> tuple:
        """Return the formulas of `node`, and what it saved as Tensors that lead on."""
        if self.plain:
            return through_plain(node, make)
        return node.formulas, [
            [link(node, name, value, make) for name, value in zip(names, values or ())]
            for names, values in zip(self.names * len(node.targets), node.saved)
        ]


def bound(op: Op) -> Callable:
    """Return the function that calls `op`; it can be a method of Tensor, too."""
    simple = not (op.plain or op.extras or any("shape" in ns for ns in op.names))
    if simple and list(op.parameters) == ["a"]:
        return unary(op)
    if simple and list(op.parameters) == ["a", "b"]:
        return binary(op)
    if simple and op.arguments == tuple(op.parameters) and len(op.arguments) == 3:
        return ternary(op)
    return general(op)


def unary(op: Op) -> Callable:
    """Bind an operation on one tensor."""

    def method(input):
        if not isinstance(input, Tensor):
            return on_arrays(op, input)
        x, to_a = input.array, input.edge
        out = op.forward(x)
        if type(out) is not ndarray:  # NumPy makes scalars of arrays without dimensions
            out = as_array(out)
        if to_a is None or not op.formulas or not recording.get():
            return Tensor(settle(op, out, x))
        saved = (op.picks[0]((x, out)),)
        return Tensor(out, Node(op, op.formulas, (to_a,), saved, out.shape))

    return method


def binary(op: Op) -> Callable:
    """Bind an elementwise operation on two tensors, whose shapes broadcast."""

    def method(input, other):
        if type(other) is not Tensor or type(input) is not Tensor:
            input, other = both_tensors(op, input, other)
        x, y = input.array, other.array
        to_a, to_b = input.edge, other.edge
        if x.dtype is not y.dtype and x.dtype != y.dtype:
            check_bools(op, x, y)
            return op.method(*alike(input, other))
        try:
            out = op.forward(x, y)
        except ValueError as error:
            raise refusal(op, (x, y), error) from error
        if type(out) is not ndarray:  # NumPy makes scalars of arrays without dimensions
            out = as_array(out)
        if (to_a or to_b) is None or not op.formulas or not recording.get():
            return Tensor(settle(op, out, x, y))
        save_a, save_b = op.picks
        values = x, y, out
        saved = to_a and save_a(values), to_b and save_b(values)
        return Tensor(out, Node(op, op.formulas, (to_a, to_b), saved, out.shape))

    return method


def ternary(op: Op) -> Callable:
    """Bind an operation on three tensors, each with a formula: a linear layer, say."""
    op.general = general(op)  # for three that are not all tensors

    def method(*args, **kwargs):
        if kwargs or len(args) != 3:
            return op.general(*args, **kwargs)
        a, b, c = args
        if not (
            isinstance(a, Tensor) and isinstance(b, Tensor) and isinstance(c, Tensor)
        ):
            return op.general(a, b, c)
        x, y, z = a.array, b.array, c.array
        to_a, to_b, to_c = a.edge, b.edge, c.edge
        try:
            out = op.forward(x, y, z)
        except ValueError as error:
            raise refusal(op, (x, y, z), error) from error
        if type(out) is not ndarray or out.base is not None or out.dtype.kind != "f":
            return op.general(a, b, c)
        if (to_a or to_b or to_c) is None or not recording.get():
            return Tensor(out)
        save_a, save_b, save_c = op.picks
        known = x, y, z, out
        saved = to_a and save_a(known), to_b and save_b(known), to_c and save_c(known)
        return Tensor(out, Node(op, op.formulas, (to_a, to_b, to_c), saved, out.shape))

    return method


def general(op: Op) -> Callable:
    """Bind an operation that has any parameters besides, or a list of tensors."""

    def method(*args, **kwargs):
        if kwargs or len(args) != len(op.defaults):
            dtype = kwargs.pop("dtype", None) if op.along else None
            args = in_order(op, args, kwargs)
            args = args if dtype is None else in_dtype(op, dtype, *args)
        if op.along and args[op.along] is not None:
            check_keepdim(op, args)
            args = without_axis_0(op, args)
        listed, bare = isinstance(args[0], list), True
        arrays, targets = [], []
        for value in args[0] if listed else args:
            if isinstance(value, Tensor):
                arrays.append(value.array)
                targets.append(value.edge)
                bare = False
            else:
                if isinstance(value, np.generic) and not bare:  # an option
                    value = value.item()
                arrays.append(value)
                targets.append(None)
        if bare and not has_array(arrays) and not isinstance(args[0], np.generic):
            raise not_a_tensor(op.name, args[0])
        if listed:
            arrays = [arrays, *args[1:]]
        try:
            out, extras = op.forward(*arrays), ()
        except ValueError as error:
            raise refusal(op, arrays, error) from error
        if type(out) is not ndarray or op.extras:
            out, extras = parted(op, out)
        if bare and not listed:  # a formula calls, and wants an array
            return out
        if not listed:
            del targets[len(op.formulas) :]
        node = None
        if any(targets) and recording.get() and out.dtype.kind == "f":
            node = record(op, arrays, out, extras, targets)
        result = Tensor(out, node)
        if out.base is not None and not listed:
            note(result, op, args)
        return result

    return method


def in_dtype(op: Op, dtype: Any, input: Tensor, *rest: Any) -> tuple:
    """Return the arguments, with the tensor in the dtype that a reduction is told."""
    dtype = as_dtype(dtype)
    if dtype.kind == "b":
        raise RuntimeError(f"{op.name.lower()}: not in bools; see any() and all()")
    if input.requires_grad and dtype.kind != "f":
        raise RuntimeError(f"{op.name}: no gradient flows through {dtype}; detach()")
    return to_dtype(input, dtype), *rest


def record(op: Op, arrays: list, out: ndarray, extras: Sequence, targets: list) -> Node:
    """Return the node of an operation that has any parameters, or a list of tensors."""
    known = [*arrays, out, *extras, None]
    formulas, picks, saved = op.formulas, op.picks, []
    if isinstance(arrays[0], list):
        picks = picks * len(targets)
        formulas = [partial(formulas[0], i=i) for i in range(len(targets))]
    for pick, to in zip(picks, targets):
        known[-1] = to and to.shape
        saved.append(to and pick(known))
    if op.plain:
        saved.append(arrays)
    if op.overload and arrays[op.overload] is not None:
        op = op.overloaded
    node = Node(op, formulas, targets, saved, out.shape)
    if op.choosy and not op.frees:
        node.frees = has_array(saved)
    return node


def settle(op: Op, out: ndarray, *given: ndarray) -> ndarray:
    """Return the result of integers as PyTorch would: exp(2) is a float32."""
    if given[0].dtype.kind == "f":
        return out
    check_bools(op, *given)
    if out.dtype.kind == "f" and out.dtype != default:
        return as_array(op.forward(*(a.astype(default) for a in given)))
    small = out.dtype == np.int8 and given[0].dtype == bool  # the square of True
    return out.astype(int64) if small else out


def alike(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors as tensors of the dtype that they make together."""
    dtype = promoted(a.array, b.array)
    return to_dtype(a, dtype), to_dtype(b, dtype)


def to_dtype(a: Tensor, dtype: np.dtype) -> Tensor:
    """Return `a` with numbers of another dtype; `a` itself if they are that already."""
    return a if a.array.dtype == dtype else cast(a, dtype, a.array.dtype)


def called(name: str, tensor: Tensor) -> Tensor:
    """Give a result of several operations the name of the one that PyTorch has."""
    if tensor.grad_fn is not None:
        op = tensor.edge.op
        if name not in op.renamed:
            op.renamed[name] = copy.copy(op)
            op.renamed[name].name = name
        tensor.edge.op = op.renamed[name]
    return tensor


def link(node: Node, name: str, value: Any, make: Callable) -> Any:
    """Return a saved value as a Tensor that leads to where it came from."""
    if name == "y":
        return make(value, node)
    if name not in node.op.arguments:
        return value
    if isinstance(value, list):
        return list(map(make, value, node.targets))
    target = node.targets[node.op.arguments.index(name)]
    return make(value, target) if isinstance(value, Array) else value


def through_plain(node: Node, make: Callable) -> tuple:
    """Return formulas for a fused operation that go through its plain composition."""
    inputs, doors = dict(zip(node.op.parameters, node.saved[-1])), []
    for name, target in zip(node.op.arguments, node.targets):
        x, door = inputs[name], None
        if target is not None:
            # an entrance of its own for each argument, though two be the same tensor
            door = Node(alias, alias.formulas, (target,), ((),), x.shape)
        inputs[name] = make(x, door) if isinstance(x, Array) else x
        doors.append(door)
    y = node.op.plain(**inputs)

    def share(door, g):
        ends = run_backward({y.edge: g}, {door}, True, make) if y.edge else {}
        if door in ends:
            return ends[door]
        return make(zeros(door.shape, g.array), None)

    return [partial(share, door) for door in doors], [()] * len(doors)


cast = Op(
    "ToCopy",
    lambda a, dtype, source: a.astype(dtype),
    a=lambda g, dtype, source: cast(g, source, dtype),
)
alias = Op("Alias", lambda a: a, a=lambda g: g)
