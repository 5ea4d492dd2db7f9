"""checkpoint: backward computes once more what the forward pass did not keep."""

import warnings
from collections.abc import Callable
from typing import Any

from minigrad.autograd.function import Function
from minigrad.autograd.gradients import backward, many
from minigrad.graph.creation import repeatable
from minigrad.graph.recording import (
    enable_grad,
    is_grad_enabled,
)
from minigrad.graph.tensor import Tensor


class Checkpoint(Function):
    """Runs a function without recording; backward runs it once more, recorded."""

    @staticmethod
    def forward(ctx, function, *tensors):
        ctx.function = function
        ctx.save_for_backward(*tensors)
        return function(*tensors)

    @staticmethod
    def backward(ctx, *grad_outputs):
        if is_grad_enabled():
            raise RuntimeError("checkpoint does not support create_graph=True")
        pairs = zip(ctx.saved_tensors, ctx.needs_input_grad[1:])
        leaves = [x.detach().requires_grad_(needed) for x, needed in pairs]
        with enable_grad():
            outputs = many(ctx.function(*leaves))
        pairs = zip(outputs, grad_outputs)
        ends = [(o, g) for o, g in pairs if getattr(o, "requires_grad", False)]
        if ends:
            backward(*zip(*ends))
        return None, *(leaf.grad for leaf in leaves)


def checkpoint(function: Callable, *args: Any, use_reentrant=None, **kwargs) -> Any:
    """Return function(*args), keeping nothing for backward but the arguments.

    Backward computes the inside again: more time for less memory. Source: T. Chen et
    al., "Training Deep Nets with Sublinear Memory Cost", 2016. Whatever use_reentrant
    says, one of the arguments has to require grad; and what is used inside, such as a
    layer's weights, gets its `grad` in every walk back, in that of grad(), too.
    """
    given, names = [*args, *kwargs.values()], list(kwargs)
    tensors = [x for x in given if isinstance(x, Tensor)]
    others = [(i, x) for i, x in enumerate(given) if not isinstance(x, Tensor)]
    if is_grad_enabled() and not any(x.requires_grad for x in tensors):
        warnings.warn("no argument requires grad: nothing inside learns", stacklevel=2)

    @repeatable
    def inside(*tensors):
        every = list(tensors)
        for i, other in others:
            every.insert(i, other)
        unnamed = len(every) - len(names)
        return function(*every[:unnamed], **dict(zip(names, every[unnamed:])))

    return Checkpoint.apply(inside, *tensors)
