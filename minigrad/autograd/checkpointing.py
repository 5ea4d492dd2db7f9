"""checkpoint: backward computes once more what the forward pass did not keep."""

from collections.abc import Callable
from typing import Any

from minigrad.autograd.function import Function
from minigrad.graph.recording import enable_grad, is_grad_enabled
from minigrad.graph.tensor import Tensor
from minigrad.tensors.creation import repeatable


class Checkpoint(Function):
    """Runs a function without recording; backward runs it once more, recorded."""

    @staticmethod
    def forward(ctx, function, *args):
        ctx.function = function
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.save_for_backward(*(x if isinstance(x, Tensor) else None for x in args))
        return function(*args)

    @staticmethod
    def backward(ctx, g):
        if is_grad_enabled():
            raise RuntimeError("checkpoint does not support create_graph=True")
        args = list(ctx.others)
        for i, x in enumerate(ctx.saved_tensors):
            if x is not None:
                args[i] = x.detach().requires_grad_(ctx.needs_input_grad[i + 1])
        with enable_grad():
            output = ctx.function(*args)
        if output.requires_grad:
            output.backward(g)
        return None, *(getattr(x, "grad", None) for x in args)


def checkpoint(function: Callable, *args: Any, use_reentrant: Any = None) -> Any:
    """Return function(*args), keeping nothing for backward but the arguments.

    Backward computes the inside again: more time for less memory. Source: T. Chen et
    al., "Training Deep Nets with Sublinear Memory Cost", 2016. Whatever use_reentrant
    says, one of the arguments has to require grad; and what is used inside, such as a
    layer's weights, gets its `grad` in every walk back, in that of grad(), too.
    """
    if is_grad_enabled() and not any(getattr(x, "requires_grad", 0) for x in args):
        raise RuntimeError("checkpoint: no argument requires grad: nothing would learn")
    return Checkpoint.apply(repeatable(function), *args)
