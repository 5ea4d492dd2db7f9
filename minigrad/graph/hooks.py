"""Hooks: functions that see a gradient on its way, and may change it."""

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from minigrad.graph.node import AccumulateGrad, Node
from minigrad.graph.tensor import Tensor, kind
from minigrad.graph.walk import ready

numbers = count()  # one for each hook of a module


class Removable:
    """What takes a hook off again: by remove(), or at the end of a `with`."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def register_hook(tensor: Tensor, hook: Callable) -> "Handle":
    """Call hook(gradient) once the whole gradient of this tensor is known.

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
        check_same_kind(result, g)
        return result if isinstance(g, Tensor) else result.array

    return run


def check_same_kind(result: Any, g: Any) -> None:
    """Raise unless what a hook returned can take the place of the gradient g."""
    if not isinstance(result, Tensor):
        raise TypeError(
            f"hook: expected to get a Tensor or None, but got {kind(result)}"
        )
    if result.shape != g.shape or result.dtype != g.dtype:
        raise RuntimeError(
            f"hook has changed the gradient of shape {g.shape} and dtype {g.dtype} to "
            f"one of shape {result.shape} and dtype {result.dtype}"
        )


def hook_before(node: Node, hook: Callable) -> "Handle":
    """Call hook((gradient,)) before a node passes it on; it may replace it."""
    return Handle(node, on_tensors(lambda g: replaced(hook((g,)), (g,))[0]))


def hook_after(node: Node, hook: Callable) -> "After":
    """Call hook(grad_inputs, grad_outputs) when a node has computed what it passes on.

    A tuple that it returns replaces the grad_inputs. remove() takes the hook off again.
    """
    node.formulas = After(hook, node)
    return node.formulas


class After(Removable):
    """The formulas of a node with a hook, which is called once in each walk back."""

    def __init__(self, hook: Callable, node: Node):
        self.hook, self.formulas, self.node = hook, node.formulas, weakref.ref(node)

    def __len__(self) -> int:
        return len(self.formulas)

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        self.hook = lambda grad_inputs, grad_outputs: None

    def __iter__(self) -> Iterator[Callable]:
        """Yield a formula for each argument; the first that is used asks the hook."""
        shares: list = []

        def formula(i, g, *saved):
            if not shares:
                shares.extend(shares_after(self.hook, self.node(), self.formulas, g))
            return shares[i]

        return (partial(formula, i) for i in range(len(self)))


def shares_after(hook: Callable, node: Node, formulas: Any, g: Any) -> list:
    """Return what a node computes of `g` for each argument, as the hook leaves it."""
    lift = Tensor if isinstance(g, Tensor) else None
    before, node.formulas = node.formulas, formulas
    try:
        formulas, saved = ready(node, lift)
    finally:
        node.formulas = before
    rules = zip(node.targets, formulas, saved)
    shares = [rule(g, *values) if to else None for to, rule, values in rules]
    given = tuple(map(wrapped, shares))
    shares = replaced(hook(given, (wrapped(g),)), given)
    return [s if lift or s is None else s.array for s in shares]


def replaced(changed: Any, given: tuple) -> tuple:
    """Return what a hook has left of the gradients; raise unless it gives as many."""
    if changed is None:
        return given
    if not isinstance(changed, tuple | list):
        raise TypeError(f"expected tuple, but hook returned {kind(changed)!r}")
    if len(changed) != len(given):
        raise RuntimeError(
            "hook has returned an incorrect number of values "
            f"(got {len(changed)}, but expected {len(given)})"
        )
    return changed


def wrapped(value: Any) -> Tensor | None:
    """Return an array as a Tensor; a Tensor, or None, as it is."""
    return value if isinstance(value, Tensor | None) else Tensor(value)


class Handle(Removable):
    """A hook on a node: it sees the gradient that the node gets."""

    def __init__(self, node: Node | AccumulateGrad, hook: Callable):
        self._node, self._hook = weakref.ref(node), hook
        last = lambda hook: hook.__name__ == "keep"  # noqa: E731, retain_grad's
        node.hooks = sorted([*(node.hooks or ()), hook], key=last)

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        node = self._node()
        if node is not None and self._hook in (node.hooks or ()):
            node.hooks = [hook for hook in node.hooks if hook is not self._hook] or None


class ForwardHook(Removable):
    """What takes a forward hook off again; `place` says when it is called."""

    def __init__(self, hooks: dict, hook: Callable, place: Callable = lambda n: (0, n)):
        self._hooks, self._place = hooks, place(next(numbers))
        hooks[self._place] = hook
        for later in sorted(hooks):
            if later > self._place:
                hooks[later] = hooks.pop(later)

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        self._hooks.pop(self._place, None)


Node.register_prehook, Node.register_hook = hook_before, hook_after
AccumulateGrad.register_prehook = hook_before
