"""Hooks on a Module's way back: identities around it, whose backward calls them."""

from collections import defaultdict
from collections.abc import Callable
from threading import get_ident
from typing import Any

from minigrad.autograd.function import Context, Function
from minigrad.graph.hooks import ForwardHook, Removable, replaced
from minigrad.graph.tensor import Tensor
from minigrad.nn.module import Module


class Passage(Function):
    """The identity; on the way back `seen` gets the gradients, and may replace them."""

    @staticmethod
    def forward(ctx: Context, seen: Callable, *tensors: Tensor) -> tuple:
        ctx.seen = seen
        return tensors

    @staticmethod
    def backward(ctx: Context, *gradients: Tensor) -> tuple:
        return None, *ctx.seen(gradients)


def through(seen: Callable, values: tuple) -> tuple:
    """Return the values, of which those that require grad have gone through a Passage.

    `seen` gets a gradient, or None, for each of the values.
    """
    learn = [isinstance(x, Tensor) and x.requires_grad for x in values]

    def every(gradients):
        parts = iter(gradients)
        given = tuple(next(parts) if yes else None for yes in learn)
        changed = replaced(seen(given), given)
        return [g for g, yes in zip(changed, learn) if yes]

    passed = iter(Passage.apply(every, *(x for x, yes in zip(values, learn) if yes)))
    return tuple(next(passed) if yes else x for x, yes in zip(values, learn))


class Around(Removable):
    """A hook on a module's way back, set by two hooks on its way forward."""

    def __init__(self, module: Module, hook: Callable):
        self.hook = hook
        self.calls = defaultdict(list)  # of forward, under way, of each thread
        # next to forward, after the hooks that change what goes in or comes out; on the
        # way back, the older of two comes first
        before = ForwardHook(module._before, self.before, lambda n: (1, -n))
        self.handles = before, ForwardHook(module._after, self.after, lambda n: (1, n))

    def before(self, module: Module, args: tuple) -> tuple:
        """Return the arguments, in front of which the hook is called."""
        came: list = []  # what will come back to the output, if it is of tensors
        self.calls[get_ident()].append(came)

        def seen(gradients):
            return self.hook(module, gradients, *came) if came else None

        return through(seen, args)

    def after(self, module: Module, args: tuple, out: Any) -> Any:
        """Return the output, which notes what comes back to it."""
        came = self.calls[get_ident()].pop()
        learns = any(getattr(x, "requires_grad", False) for x in args)

        def seen(gradients):
            came[:] = [gradients]
            if not learns:  # nobody comes by the arguments
                self.hook(module, (None,) * len(args), gradients)

        outputs = through(seen, out if isinstance(out, tuple) else (out,))
        return outputs if isinstance(out, tuple) else outputs[0]

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        for handle in self.handles:
            handle.remove()


def register_full_backward_hook(self: Module, hook: Callable) -> Around:
    """Call hook(module, grad_input, grad_output) when both are known, on the way back.

    The two are tuples, of gradients for the arguments by position (None for what is no
    tensor) and for the outputs. What the hook returns, if not None, replaces the first.
    """
    return Around(self, hook)


Module.register_full_backward_hook = register_full_backward_hook
