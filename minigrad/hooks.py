"""Hooks: functions that see a gradient on its way, and may change it."""

import copy
import weakref
from collections.abc import Callable
from functools import partial

from minigrad.engine import AccumulateGrad, Node
from minigrad.tensor import Tensor


def hook_tensor(tensor: Tensor, hook: Callable) -> "Handle":
    """Call hook(gradient) as soon as the whole gradient of this tensor is known.

    What the hook returns, if not None, takes the gradient's place. The handle's
    remove() takes the hook off again.
    """
    if tensor.edge is None:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )

    return Handle(tensor.edge, on_tensors(hook))


def on_tensors(hook: Callable) -> Callable:
    """Return the hook as the engine calls it: with arrays, or Tensors if recorded."""

    def run(g):
        result = hook(g if isinstance(g, Tensor) else Tensor(g))
        if result is None:
            return g
        return result if isinstance(g, Tensor) else result.array

    return run


def hook_before(node: Node, hook: Callable) -> "Handle":
    """Call hook((gradient,)) before a node passes it on; it may replace it."""
    return Handle(node, on_tensors(lambda g: (hook((g,)) or (None,))[0]))


def hook_after(node: Node, hook: Callable) -> None:
    """Call hook(grad_inputs, grad_outputs) when a node has computed what it passes on.

    A tuple that it returns replaces the grad_inputs.
    """
    bare, found = copy.copy(node), {}

    def formula(i, g, *saved):
        if not found:
            lift = Tensor if isinstance(g, Tensor) else None
            bare.saved = node.saved
            formulas, values = (
                bare.op.lifted(bare, lift) if lift else (bare.formulas, bare.saved)
            )
            rules = zip(bare.targets, formulas, values)
            shares = tuple(f(g, *v) if target else None for target, f, v in rules)
            wrapped = tuple(s if s is None or lift else Tensor(s) for s in shares)
            new = hook(wrapped, (g if lift else Tensor(g),)) or wrapped
            found.update(
                (k, s if lift else s.array) for k, s in enumerate(new) if s is not None
            )
        return found.pop(i)

    node.formulas = [partial(formula, i) for i in range(len(node.formulas))]


class Handle:
    """What takes a hook off again; also with `with`."""

    def __init__(self, node: Node | AccumulateGrad, hook: Callable):
        self._node, self._hook = weakref.ref(node), hook
        node.hooks = [*(node.hooks or ()), hook]

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        node = self._node()
        if node is not None and self._hook in (node.hooks or ()):
            node.hooks = [hook for hook in node.hooks if hook is not self._hook] or None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


Tensor.register_hook = hook_tensor
Node.register_prehook, Node.register_hook = hook_before, hook_after
