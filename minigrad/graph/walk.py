"""The graph, and the walk back through it: the heart of autograd, on plain arrays.

A Tensor that was computed knows its Node. A Node knows what to do with a gradient: for
each argument of its operation a target (the Node that made the argument, or the
AccumulateGrad of a leaf), a formula, and the arrays that this formula wants.
"""

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

from minigrad.array.fast_sums import sums
from minigrad.graph import anomaly, saved_values
from minigrad.graph.node import Node


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
    if unusual or saved is None or node.number < saved_values.latest:
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
