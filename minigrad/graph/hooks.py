"""Hooks: functions that see a gradient on its way, and may change it."""

import weakref
from collections.abc import Callable

from minigrad.graph.tensor import Tensor


class RemovableHandle:
    """Removes a hook, by remove(); calling that a second time does nothing."""

    def __init__(self, remove: Callable):
        self.remove = remove


def register_hook(tensor: Tensor, hook: Callable) -> RemovableHandle:
    """Call hook(gradient) once the whole gradient of this tensor is known.

    What the hook returns, if not None, takes the gradient's place. The handle's
    remove() takes the hook off again.
    """
    if tensor.edge is None:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )

    def run(g):
        result = hook(g if isinstance(g, Tensor) else Tensor(g))
        if result is None:
            return g
        if result.shape != g.shape:
            raise RuntimeError(
                f"hook has changed the gradient's shape {g.shape} to {result.shape}"
            )
        return result if isinstance(g, Tensor) else result.array

    # what retain_grad() keeps is what all other hooks have made of the gradient
    kept = [each for each in tensor.edge.hooks if each.__name__ == "keep"]
    others = [each for each in tensor.edge.hooks if each not in kept]
    tensor.edge.hooks = (*others, run, *kept)
    node = weakref.ref(tensor.edge)

    def remove():
        if node() is not None:
            node().hooks = tuple(each for each in node().hooks if each is not run)

    return RemovableHandle(remove)
