"""Views: tensors on the memory of another one, their base, and how each was made.

After a recorded write the base is the result of another node. Its views show the new
numbers at once, since the memory is the same; their nodes have to be made anew.
"""

import weakref
from typing import Any

import numpy as np

from minigrad.graph.tensor import Tensor


def note(view: Tensor, op: Any, args: tuple) -> None:
    """Remember how a view was made, if op(*args) gave the memory of args[0]."""
    parent = args[0]
    if isinstance(parent, Tensor) and shows(view.array, parent.array):
        base = base_of(parent)
        base = parent if base is None else base
        view.source = base, op, args
        try:
            views = base.views
        except AttributeError:  # the first one
            views = base.views = []
        views.append(weakref.ref(view))
        if (n := len(views)) >= 64 and n & (n - 1) == 0:  # at 64, 128, 256 ...
            views[:] = [known for known in views if known() is not None]


def shows(part: Any, whole: Any) -> bool:
    """Return whether an array is a view of another, or of what that is a view of."""
    memory = part.base
    return memory is not None and (memory is whole or memory is whole.base)


def base_of(view: Tensor) -> Tensor | None:
    """Return the tensor whose memory a view shows; None for one that is no view."""
    source = getattr(view, "source", None)
    if source is None or not shows(view.array, source[0].array):  # has other data now
        return None
    return source[0]


def places(view: Tensor) -> tuple:
    """Return the index in its base of each number of a view."""
    base, op, args = view.source
    if args[0] is base and "index" in op.parameters:  # as y[0] += 1 has it
        return args[1]
    if not base.ndim:
        return (None,) * view.ndim + (...,)
    steps = []
    while view is not base:
        _, op, (view, *rest) = view.source
        steps.append((op, [getattr(value, "array", value) for value in rest]))
    numbers = np.arange(base.numel()).reshape(base.shape)
    for op, rest in reversed(steps):
        numbers = op.forward(numbers, *rest)
    return np.unravel_index(numbers, base.shape)


def renew(base: Tensor) -> None:
    """Let each view of `base` that is in use lead to what `base` has become."""
    for known in list(getattr(base, "views", ())):  # parents first
        view = known()
        if view is None or (view.is_leaf and view.requires_grad):
            continue
        if base_of(view) is base:
            _, op, args = view.source
            lead_to(view, op(*args).edge)


def lead_to(x: Tensor, edge: Any) -> None:
    """Let x be what another node has made; what retains its gradient still does."""
    retains = x.retains_grad
    if retains:
        hooks = [hook for hook in x.edge.hooks if hook.__name__ != "keep"]
        x.edge.hooks = hooks or None
    x.edge = edge
    if retains:
        x.retain_grad()


Tensor._base = property(base_of)
