"""minigrad.nn.utils: what is done to all parameters at once."""

import math
from collections.abc import Iterable

import numpy as np

from minigrad.graph import saved_values
from minigrad.graph.tensor import Tensor, kind
from minigrad.rules.joining import cat


def forget_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Take their gradients from parameters, or set these to 0."""
    for p in parameters:
        if set_to_none:
            p._grad = None
        elif p.grad is not None:
            if p.grad.requires_grad:
                p.grad = p.grad.detach()
            p.grad.zero_()


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale all gradients so that their common norm is at most max_norm; return it.

    Source: R. Pascanu et al., "On the difficulty of training RNNs", 2013.
    """
    if hasattr(parameters, "parameters"):
        raise TypeError(
            "clip_grad_norm_ takes Tensors, such as model.parameters(), not a "
            f"{kind(parameters)}"
        )
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    gradients = [p.grad.array for p in parameters if p.grad is not None]
    norm_type = float(norm_type)  # "inf", too
    if math.isinf(norm_type):
        total = max((np.abs(g).max(initial=0) for g in gradients), default=0.0)
    else:
        powers = sum(float((np.abs(g) ** norm_type).sum()) for g in gradients)
        total = powers ** (1 / norm_type)
    factor = max_norm / (total + 1e-6)
    if not factor >= 1:  # nan, too, goes to all
        for g in gradients:
            saved_values.wrote(g)
            g *= factor
    dtype = np.result_type(*gradients) if gradients else np.float32
    return Tensor(np.asarray(total, dtype))


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limit every number of the gradients to the range from -clip_value to it."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    for p in parameters:
        if p.grad is not None:
            p.grad.detach().clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all numbers of the parameters in one vector."""
    return cat([p.reshape(-1) for p in parameters])
