"""The same in less time: drop-ins for plain definitions, which nobody has to read.

MINIGRAD_PLAIN=1 leaves them out, and so does whoever puts another definition in the
place of a plain one: then that is what runs.
"""

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from typing import Any

from numpy import ndarray
from numpy._core import umath

from minigrad.graph import saved_values, tensor, walk
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op, edge, value_of

# np.errstate(all="ignore") in a fifth of its time, by what NumPy makes of it
error_state, IGNORE = umath._extobj_contextvar, umath._make_extobj(all="ignore")
plain_call, plain_walk, plain_wrote = Op.__call__, walk.walk, saved_values.wrote
newest_write = [0]


def fast_call(op: Op, *args: Any, **kwargs: Any) -> Any:
    """Do what Op.__call__ does; of one or two tensors of floats without detours."""
    try:
        call = op.fast
    except AttributeError:
        call = op.fast = bound(op)
    return call(*args, **kwargs)


def bound(op: Op) -> Callable:
    """Return the fastest way that there is to call an operation."""
    names = [*op.parameters]
    wanted = {name for wants in op.wants.values() for name in wants}
    simple = type(op) is Op and wanted <= {*names, "y", "shape"}
    if simple and names == [*op.formulas] and names in (["a"], ["a", "b"]):
        return unary(op) if names == ["a"] else binary(op)
    return partial(plain_call, op)


def computed(forward: Callable, *arrays: Any) -> Any:
    """Return what forward makes of arrays, without a word of what overflows."""
    token = error_state.set(IGNORE)
    try:
        return forward(*arrays)
    finally:
        error_state.reset(token)


def unary(op: Op) -> Callable:
    """Bind an operation on one tensor."""
    forward, wants = op.forward, [name for name in op.wants["a"] if name != "shape"]

    def call(*args, **kwargs):
        a = args[0] if len(args) == 1 and not kwargs else None
        if not isinstance(a, Tensor) or a.array.dtype.kind != "f":
            return plain_call(op, *args, **kwargs)
        y = computed(forward, a.array)
        if type(y) is not ndarray or y.base is not None:
            return plain_call(op, a)
        out, to = Tensor(y), edge(a)
        if to is not None and recording.on:
            saved = {name: y if name == "y" else a.array for name in wants}
            out.edge = Node(op, [to], saved, y.shape)
        return out

    return call


def binary(op: Op) -> Callable:
    """Bind an operation on two tensors of one dtype, or a tensor and a number."""
    forward = op.forward
    # dictionaries, not sets, so that what a node saves has the same order in every run
    for_a, for_b = (
        {name: None for name in names if name != "shape"} for names in op.wants.values()
    )
    for_both = for_a | for_b

    def call(*args, **kwargs):
        a, b = args if len(args) == 2 and not kwargs else (None, None)
        x = a.array if isinstance(a, Tensor) else a
        z = b.array if isinstance(b, Tensor) else b
        if not suit(x, z):
            return plain_call(op, *args, **kwargs)
        y = computed(forward, x, z)
        if type(y) is not ndarray or y.base is not None:
            return plain_call(op, a, b)
        out, to_a, to_b = Tensor(y), edge(a), edge(b)
        if (to_a is not None or to_b is not None) and recording.on:
            wanted = for_both if to_a and to_b else for_a if to_a else for_b
            known = {"a": x, "b": z, "y": y}
            saved = {name: known[name] for name in wanted}
            out.edge = Node(op, [to_a, to_b], saved, y.shape)
        return out

    return call


def suit(x: Any, z: Any) -> bool:
    """Return whether these are two arrays of the same floats, or one and a number."""
    if type(x) is ndarray and x.dtype.kind == "f":
        return type(z) in (float, int) or (type(z) is ndarray and z.dtype == x.dtype)
    return type(x) in (float, int) and type(z) is ndarray and z.dtype.kind == "f"


def fast_walk(roots: Any, inputs: Any = (), retain_graph: bool = False) -> dict:
    """Do what walk does; of arrays, and to all leaves, without detours."""
    used = Op.shares, Node.shares, Node.check, value_of, saved_values.wrote
    others = used != AS_KNOWN or any(isinstance(g, Tensor) for g in roots.values())
    if inputs or others:
        return plain_walk(roots, inputs, retain_graph)
    waiting, ends = dict(roots), {}
    heap = sorted((-node.number, node) for node in roots)
    while heap:
        node = heappop(heap)[1]
        g = waiting.pop(node)
        for hook in node.hooks:
            g = hook(g)
        if not node.targets:
            ends[node] = g
            continue
        for target, share in shares_of(node, g):
            if share.shape != target.shape:
                share = walk.sum_to(share, target.shape, node.name())
            if target in waiting:
                waiting[target] = waiting[target] + share
            else:
                waiting[target] = share
                heappush(heap, (-target.number, target))
        if node.saved and not retain_graph:
            node.free()
    return ends


def shares_of(node: Node, g: Any) -> Any:
    """Return the targets that want a share, each with what its formula gives."""
    op, saved = node.op, node.saved
    plain = not isinstance(op, Op) or saved is None
    if plain or len(op.formulas) != len(node.targets):
        return node.shares(g, None)
    if node.number < newest_write[0]:
        node.check()
    shares = []
    rules = zip(op.formulas.values(), op.wants.values())
    for target, (formula, names) in zip(node.targets, rules):
        if target is not None:
            own = {"shape": target.shape, "i": 0}  # `i`: of a list of one tensor
            values = [saved[n] if n in saved else own[n] for n in names]
            shares.append((target, formula(g, *values)))
    return shares


def wrote(array: ndarray) -> None:
    """Note a write, and that it is the newest: nodes made later need no check."""
    plain_wrote(array)
    newest_write[0] = next(saved_values.numbers)


# A page that replaces one of these is heeded
AS_KNOWN = Op.shares, Node.shares, Node.check, value_of, wrote


def install() -> None:
    """Put the fast definitions in the place of the plain ones."""
    Op.__call__, saved_values.wrote = fast_call, wrote
    walk.walk = tensor.walk = fast_walk
