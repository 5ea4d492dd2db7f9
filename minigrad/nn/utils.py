"""minigrad.nn.utils: what is done to all parameters at once."""

from collections.abc import Iterable

import numpy as np

from minigrad.graph import saved_values
from minigrad.graph.tensor import Tensor


def clip_grad_norm_(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Scale all gradients so that their common norm is at most max_norm; return it.

    Source: R. Pascanu et al., "On the difficulty of training RNNs", 2013.
    """
    gradients = [p.grad.array for p in parameters if p.grad is not None]
    with np.errstate(all="ignore"):
        total = sum(float(np.square(g).sum()) for g in gradients) ** 0.5
        factor = max_norm / (total + 1e-6)
        if not factor >= 1:  # nan, too, goes to all
            for g in gradients:
                saved_values.wrote(g)
                g *= factor
    return Tensor(np.asarray(total, np.result_type(np.float32, *gradients)))
