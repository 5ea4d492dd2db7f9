"""The walk back through the graph: the heart of autograd.

A Tensor that was computed knows its Node. A Node knows where the shares of a gradient
go: to the Nodes that made the arguments, or to the AccumulateGrad of a leaf.
"""

from heapq import heapify, heappop, heappush
from typing import Any

from minigrad import errors
from minigrad.array.sums import sums


def walk(roots: dict, inputs: Any = (), retain_graph: bool = False) -> dict:
    """Carry gradients back from the roots; return what has reached the ends, by node.

    `roots` maps nodes to gradients: arrays, or Tensors if the walk is to be recorded.
    The ends are the leaves, or the nodes in `inputs`.
    """
    wanted = leading_to(inputs, roots) if inputs else None
    waiting, ends = dict(roots), {}
    heap = [(-node.number, node) for node in roots]
    heapify(heap)
    while heap:  # newest first: whatever used a node's result comes before the node
        _, node = heappop(heap)
        g = waiting.pop(node)
        for hook in node.hooks:
            g = hook(g)
        if node in inputs or not (inputs or node.targets):
            ends[node] = g
        if not node.targets or (inputs and wanted.isdisjoint(node.targets)):
            continue
        for target, share in node.shares(g, wanted):
            if share.shape != target.shape:
                share = sum_to(share, target.shape, node.name())
            if target in waiting:
                waiting[target] = waiting[target] + share
            else:
                waiting[target] = share
                heappush(heap, (-target.number, target))
        if not retain_graph:
            node.free()
    return ends


def leading_to(inputs: Any, roots: dict) -> set:
    """Return `inputs` and all nodes on the way to them from `roots`."""
    reached, to_visit = set(roots), list(roots)
    while to_visit:
        new = {target for target in to_visit.pop().targets if target} - reached
        reached |= new
        to_visit += new
    wanted = set(inputs)
    for node in sorted(reached, key=lambda node: node.number):  # arguments first
        if not wanted.isdisjoint(node.targets):
            wanted.add(node)
    return wanted


def sum_to(share: Any, shape: tuple, name: str) -> Any:
    """Undo broadcasting: sum over the axes along which an argument was stretched."""
    new = len(share.shape) - len(shape)
    old = (1,) * new + tuple(shape)  # aligned at the right
    if new < 0 or any(n not in (1, size) for n, size in zip(old, share.shape)):
        raise errors.invalid_gradient(name, share.shape, shape)
    axes = tuple(axis for axis, n in enumerate(old) if n == 1)
    return sums(share, axes).reshape(shape)
