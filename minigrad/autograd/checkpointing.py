"""checkpoint: Backward repeats computations whose results were not kept."""

from collections.abc import Callable

from minigrad.autograd.function import Function
from minigrad.graph.recording import enable_grad, is_grad_enabled
from minigrad.graph.tensor import Tensor
from minigrad.tensors.creation import repeatable


class Checkpoint(Function):
    """Runs a function without recording. Backward runs it once more and records it."""

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


def checkpoint(function: Callable, *args, use_reentrant=None):
    """Return function(*args), and keep nothing for backward but the arguments.

    Backward computes the inside again, which takes more time and less memory. Source:
    T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016. One of the
    arguments has to require grad, whatever use_reentrant says. The tensors used inside,
    such as a layer's weights, get their `grad` in every walk back, even in one that
    grad() starts.
    """
    if is_grad_enabled() and not any(getattr(x, "requires_grad", 0) for x in args):
        raise RuntimeError("checkpoint: no argument requires grad, so nothing learns")
    return Checkpoint.apply(repeatable(function), *args)
