"""The walk back through the graph, which is the heart of autograd.

A computed Tensor refers to its Node. A Node refers to the nodes that get the shares of
its gradient. These are the Nodes that made the arguments, or the AccumulateGrad of a
leaf.
"""

from heapq import heapify, heappop, heappush

from minigrad import errors
from minigrad.array.sums import sums


def walk(roots: dict, inputs=(), retain_graph: bool = False) -> dict:
    """Carry gradients back from the roots, and return those that reach the ends.

    `roots` and the result map nodes to gradients. Gradients are Tensors if the walk is
    to be recorded, otherwise arrays. The ends are `inputs` if given, otherwise leaves.
    """
    wanted = nodes_needed_for(inputs, roots) if inputs else None
    waiting, reached = dict(roots), {}
    heap = [(-node.number, node) for node in roots]
    heapify(heap)
    while heap:  # newest first, so all nodes that use a node's result precede it
        _, node = heappop(heap)
        g = waiting.pop(node)
        for hook in node.hooks:
            g = hook(g)
        if node in inputs or not (inputs or node.parents):
            reached[node] = g
        if not node.parents or (inputs and wanted.isdisjoint(node.parents)):
            continue
        for parent, share in node.input_gradients(g, wanted):
            if share.shape != parent.shape:
                share = sum_to(share, parent.shape, node.name())
            if parent in waiting:
                waiting[parent] = waiting[parent] + share
            else:
                waiting[parent] = share
                heappush(heap, (-parent.number, parent))
        if not retain_graph:
            node.free()
    return reached


def nodes_needed_for(inputs, roots: dict) -> set:
    """Return `inputs` and all nodes on the paths from `roots` to them."""
    reached, to_visit = set(roots), list(roots)
    while to_visit:
        new = {parent for parent in to_visit.pop().parents if parent} - reached
        reached |= new
        to_visit += new
    wanted = set(inputs)
    for node in sorted(reached, key=lambda node: node.number):  # arguments first
        if not wanted.isdisjoint(node.parents):
            wanted.add(node)
    return wanted


def sum_to(share, shape: tuple, name: str):
    """Undo broadcasting: sum over the axes along which an argument was stretched."""
    new = len(share.shape) - len(shape)
    old = (1,) * new + tuple(shape)  # aligned at the right
    if new < 0 or any(n not in (1, size) for n, size in zip(old, share.shape)):
        raise errors.invalid_gradient(name, share.shape, shape)
    axes = tuple(axis for axis, n in enumerate(old) if n == 1)
    if axes:  # with no axes, a Tensor would be summed over all of them
        share = sums(share, axes)
    return share.reshape(shape)
