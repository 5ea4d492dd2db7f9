"""The graph, and the walk back through it: the heart of autograd, on plain arrays.

A Tensor that was computed knows its Node. A Node knows what to do with a gradient: for
each argument of its operation a target (the Node that made the argument, or the
AccumulateGrad of a leaf), a formula, and the arrays that this formula wants.
"""

import weakref
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

from minigrad import anomaly, versions
from minigrad.sums import sums
from minigrad.versions import numbers, written_after

recording = ContextVar("recording", default=True)  # each thread and task has its own
# How names end that get no 0 behind them
AS_IT_IS = ("Backward", "Backward1", "Backward2", "Backward4", "CopySlices")


class Node:
    """One operation that was recorded; `tensor.grad_fn` shows it."""

    __slots__ = ["op", "formulas", "targets", "saved", "shape", "frees"]
    __slots__ += ["number", "hooks", "__weakref__"]

    def __init__(self, op, formulas, targets, saved, shape):
        self.op, self.formulas, self.targets = op, formulas, targets
        self.saved, self.shape, self.frees = saved, shape, op.frees
        self.number = next(numbers)  # whatever uses the result gets a larger one
        self.hooks = None
        if anomaly.on:
            anomaly.remember(self)

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self) -> str:
        """Return the name that PyTorch gives such a node: MulBackward0."""
        name = self.op.name
        return name if name.endswith(AS_IT_IS) else f"{name}Backward0"

    @property
    def next_functions(self) -> tuple:
        """The nodes that the arguments came from, None for constants, each with a 0."""
        return tuple((target, 0) for target in self.targets)

    def check(self, lift: Callable | None = None) -> None:
        """Raise RuntimeError if what was saved is gone, or was written to since."""
        if self.saved is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time: the first time "
                f"freed what {self.name()} had saved. Call the first backward with "
                "retain_graph=True, or compute the result anew."
            )
        wanted = self.saved if lift else self.saved[: len(self.targets)]
        if written_after(self.number, wanted):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been "
                f"modified by an inplace operation: {self.name()} had saved it. Write "
                "to a clone(), or after backward."
            )


class AccumulateGrad:
    """Where a gradient ends: what arrives here is added to the leaf's `grad`."""

    __slots__ = ["leaf", "shape", "number", "hooks", "__weakref__"]
    targets = formulas = saved = next_functions = ()

    def __init__(self, leaf):
        self.leaf, self.shape = weakref.ref(leaf), leaf.array.shape
        self.number, self.hooks = next(numbers), None

    def __repr__(self):
        return "<AccumulateGrad>"

    def name(self) -> str:
        """Return PyTorch's name for it."""
        return "AccumulateGrad"

    @property
    def variable(self):
        """The leaf; None if nobody holds it any more."""
        return self.leaf()


def run_backward(roots: Mapping, inputs=(), retain_graph=False, lift=None) -> dict:
    """Carry the roots' gradients back; return what reached the leaves, or `inputs`."""
    wanted, ends = leading_to(inputs, roots), {}
    unusual = lift or anomaly.on
    waiting = {-node.number: [node, g, False] for node, g in roots.items()}
    heap = sorted(waiting)
    while heap:  # newest first: whatever used a node's result comes before the node
        node, g, _ = waiting.pop(heappop(heap))
        g = hooked(node, g) if node.hooks else g
        is_end = not node.targets if wanted is None else node in inputs
        if is_end:
            ends[node] = g
        if node.targets and (wanted is None or wanted.intersection(node.targets)):
            pass_on(node, g, waiting, heap, wanted, unusual, lift)
            if node.frees and not retain_graph:
                node.saved = None
    for leaf, g, _ in waiting.values():
        ends[leaf] = hooked(leaf, g) if leaf.hooks else g
    return ends


def hooked(node: Any, g: Any) -> Any:
    """Return the gradient of a node, as its hooks leave it."""
    for hook in node.hooks:
        g = hook(g)
    return g


def pass_on(node, g, waiting, heap, wanted, unusual, lift) -> None:
    """Add to the gradient of each target of `node` its share of `g`."""
    formulas, saved = node.formulas, node.saved
    if unusual or saved is None or node.number < versions.latest:
        formulas, saved = ready(node, lift)
    for to, formula, values in zip(node.targets, formulas, saved):
        if to is not None and (wanted is None or to in wanted):
            if (share := formula(g, *values)) is None:
                continue
            if share.shape != to.shape:
                share = sum_to(share, to.shape, node)
            if (entry := waiting.get(key := -to.number)) is None:
                waiting[key] = [to, share, False]
                if to.targets or to.hooks:  # other leaves wait to the end
                    heappush(heap, key)
            elif entry[2]:  # a sum that nobody else holds
                entry[1] += share
            else:
                entry[1:] = entry[1] + share, lift is None


def ready(node: Node, lift: Callable | None) -> tuple:
    """Return the formulas of `node` and what they want, if that is still as it was.

    `lift` makes a Tensor of an array and the node that it came from. With it, gradients
    are Tensors, too, and what the formulas compute is recorded in its turn.
    """
    node.check(lift)
    formulas, saved = node.formulas, node.saved
    if lift and not hasattr(formulas, "hook"):  # a hook asks here again
        formulas, saved = node.op.lifted(node, lift)
    if anomaly.on:
        formulas = anomaly.watched(node, list(formulas))
    return formulas, saved


def leading_to(inputs, roots: Mapping) -> set | None:
    """Return `inputs` and all nodes that lead to them from `roots`; None for all."""
    if not inputs:
        return None
    reached, to_visit = set(roots), list(roots)
    while to_visit:
        new = {target for target in to_visit.pop().targets if target} - reached
        reached |= new
        to_visit += new
    wanted = set(inputs)
    for node in sorted(reached, key=attrgetter("number")):  # arguments before results
        if wanted.intersection(node.targets):
            wanted.add(node)
    return wanted


def sum_to(share: Any, shape: tuple, node: Node) -> Any:
    """Undo broadcasting: sum over the axes along which an argument was stretched."""
    new = len(share.shape) - len(shape)
    pairs = list(zip((1,) * new + tuple(shape), share.shape))
    if new < 0 or any(old not in (1, size) for old, size in pairs):
        raise RuntimeError(
            f"{node.name()} returned an invalid gradient: got shape {share.shape}, "
            f"but expected a shape compatible with {shape}"
        )
    axes = tuple(i for i, (old, size) in enumerate(pairs) if i < new or old != size)
    return sums(share, axes).reshape(shape)
