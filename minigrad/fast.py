"""The same in less time: drop-ins for plain definitions, which nobody has to read.

MINIGRAD_PLAIN=1 leaves them out, and so does whoever puts another definition in the
place of a plain one: then that is what runs.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from numpy import ndarray
from numpy._core import umath

from minigrad.graph import anomaly, saved_values, tensor, walk
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op

# np.errstate(all="ignore") in a fifth of its time, by what NumPy makes of it
error_state, IGNORE = umath._extobj_contextvar, umath._make_extobj(all="ignore")


def fast_call(op: Op, *args: Any, **kwargs: Any) -> Any:
    """Do what Op.__call__ does; of one or two tensors of floats without detours."""
    try:
        call = op.fast
    except AttributeError:
        call = op.fast = bound(op)
    return call(*args, **kwargs)


def bound(op: Op) -> Callable:
    """Return the fastest way that there is to call an operation."""
    names = list(op.parameters)
    wanted = [name for wants in op.wants.values() for name in wants]
    if op.plain or op.overload or not set(wanted) <= {*names, "y", "shape"}:
        return lambda *args, **kwargs: plain_call(op, *args, **kwargs)
    if names == ["a"] and names == list(op.formulas):
        return unary(op, "a" in wanted, "y" in wanted)
    if names == ["a", "b"] and names == list(op.formulas):
        return binary(op)
    return lambda *args, **kwargs: plain_call(op, *args, **kwargs)


def unary(op: Op, keeps_a: bool, keeps_y: bool) -> Callable:
    """Bind an operation on one tensor."""
    forward = op.forward

    def call(*args, **kwargs):
        a = args[0] if len(args) == 1 and not kwargs else None
        if not isinstance(a, Tensor) or a.array.dtype.kind != "f":
            return plain_call(op, *args, **kwargs)
        x = a.array
        token = error_state.set(IGNORE)
        try:
            y = forward(x)
        finally:
            error_state.reset(token)
        if type(y) is not ndarray or y.base is not None:
            return plain_call(op, a)
        out, to = Tensor(y), a.edge
        if to is not None and recording.on:
            if a.source is not None:
                a.check_view()
            saved = {"a": x} if keeps_a else {}
            if keeps_y:
                saved["y"] = y
            out.edge = Node(op, [to], saved, y.shape)
        return out

    return call


def binary(op: Op) -> Callable:
    """Bind an operation on two tensors of one dtype, or a tensor and a number."""
    forward, (for_a, for_b) = op.forward, op.wants.values()
    both = tuple({*for_a, *for_b} - {"shape"})

    def call(*args, **kwargs):
        if len(args) != 2 or kwargs:
            return plain_call(op, *args, **kwargs)
        a, b = args
        x = a.array if isinstance(a, Tensor) else a
        z = b.array if isinstance(b, Tensor) else b
        kinds = type(x) is ndarray and x.dtype, type(z) is ndarray and z.dtype
        if not all(k or type(n) in NUMBERS for k, n in zip(kinds, (x, z))):
            return plain_call(op, a, b)
        dtype = kinds[0] or kinds[1]
        if not dtype or dtype.kind != "f" or (kinds[1] or dtype) != dtype:
            return plain_call(op, a, b)
        token = error_state.set(IGNORE)
        try:
            y = forward(x, z)
        finally:
            error_state.reset(token)
        if type(y) is not ndarray or y.base is not None:
            return plain_call(op, a, b)
        out = Tensor(y)
        to_a = a.edge if a is not x else None
        to_b = b.edge if b is not z else None
        if (to_a is not None or to_b is not None) and recording.on:
            for each in args:
                if isinstance(each, Tensor) and each.source is not None:
                    each.check_view()
            wanted = both if to_a and to_b else for_a if to_a else for_b
            known = {"a": x, "b": z, "y": y}
            saved = {name: known[name] for name in wanted if name != "shape"}
            out.edge = Node(op, [to_a, to_b], saved, y.shape)
        return out

    return call


def fast_walk(roots: Any, inputs: Any = (), retain_graph: bool = False) -> dict:
    """Do what walk does; of arrays, and to all leaves, without detours."""
    if inputs or anomaly.on or any(isinstance(g, Tensor) for g in roots.values()):
        return plain_walk(roots, inputs, retain_graph)
    waiting, ends, sums = dict(roots), {}, set()
    heap = sorted((-node.number, node) for node in roots)
    while heap:
        node = heappop(heap)[1]
        g = waiting.pop(node)
        for hook in node.hooks:
            g = hook(g)
        if not node.targets:
            ends[node] = g
            continue
        op, saved = node.op, node.saved
        if (
            type(op) is Op
            and len(op.formulas) == len(node.targets)
            and saved is not None
        ):
            if node.number < newest[0]:
                node.check()
            shares = shares_of(op, node.targets, saved, g)
        else:
            shares = node.shares(g, None)
        for target, share in shares:
            if share.shape != target.shape:
                share = walk.sum_to(share, target.shape, node.name())
            if target not in waiting:
                waiting[target] = share
                heappush(heap, (-target.number, target))
            elif target in sums:  # which nobody else holds
                waiting[target] += share
            else:
                waiting[target] = waiting[target] + share
                sums.add(target)
        if saved and not retain_graph:
            node.free()
    return ends


def shares_of(op: Op, targets: list, saved: dict, g: ndarray) -> list:
    """Return the targets that want a share, each with what its formula gives."""
    shares = []
    for target, formula, names in zip(targets, op.formulas.values(), op.wants.values()):
        if target is not None:
            own = {"shape": target.shape, "i": 0}  # `i`: of a list of one tensor
            values = [saved[n] if n in saved else own[n] for n in names]
            shares.append((target, formula(g, *values)))
    return shares


def wrote(array: ndarray) -> None:
    """Note a write, and that it is the newest: nodes made later need no check."""
    plain_wrote(array)
    newest[0] = next(saved_values.numbers)


NUMBERS = (float, int)
newest = [0]
plain_call, plain_walk, plain_wrote = Op.__call__, walk.walk, saved_values.wrote


def install() -> None:
    """Put the fast definitions in the place of the plain ones."""
    Op.__call__, saved_values.wrote = fast_call, wrote
    for module in (walk, tensor):
        module.walk = fast_walk
