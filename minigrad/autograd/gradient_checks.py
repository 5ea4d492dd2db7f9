"""gradcheck compares gradients with central differences."""

from collections.abc import Callable
from functools import partial

import numpy as np

from minigrad.autograd.functional import table_of, vjps
from minigrad.autograd.gradients import many
from minigrad.graph.recording import enable_grad, no_grad
from minigrad.graph.tensor import Tensor
from minigrad.rules.joining import cat
from minigrad.rules.shape import reshape
from minigrad.scalar.finite_differences import GradcheckError, central_difference
from minigrad.tensors.creation import rand_like


def gradcheck(func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Compare the gradients of func at float64 inputs with central differences.

    The defaults agree with torch.autograd.gradcheck. If the Jacobians differ, raise a
    GradcheckError that shows both, or return False if raise_exception is False.
    """
    for k, x in enumerate(to_be_checked(inputs)):
        nudged = by_nudging(func, inputs, x, eps)
        # Back from 2 and not from 1, because a rule has to use the gradient it gets
        (table,) = table_of(all_outputs(func, inputs) * 2, [x], create_graph=False)
        walked = table.array.reshape(nudged.shape) / 2
        if not np.allclose(walked, nudged, rtol, atol):
            message = f"\nnumerical:\n{nudged}\nanalytical:\n{walked}"
            if raise_exception:
                raise GradcheckError(f"Jacobian mismatch for input {k},{message}")
            return False
    return True


def by_nudging(func, inputs, x: Tensor, eps: float) -> np.ndarray:
    """Return the Jacobian of all outputs, with a column for each nudged number of x."""
    columns = []

    def outputs_at(i, number):
        x.array.flat[i] = number
        return all_outputs(func, inputs).array

    with no_grad():
        for i, middle in enumerate(x.array.flatten()):
            try:
                columns.append(central_difference(partial(outputs_at, i), middle, eps))
            finally:
                x.array.flat[i] = middle
    return np.array(columns).T


def all_outputs(func: Callable, inputs) -> Tensor:
    """Return the numbers of all outputs of func(*inputs) in one row."""
    return cat([reshape(output, -1) for output in many(func(*many(inputs)))])


def to_be_checked(inputs) -> list[Tensor]:
    """Return the inputs that require grad. Raise ValueError if they are unfit."""
    checked = [x for x in many(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input with requires_grad=True")
    if any(x.dtype != np.float64 for x in checked):
        raise ValueError("gradcheck needs float64 inputs, as float32 is too coarse")
    return checked


def gradgradcheck(func, inputs, **options) -> bool:
    """Check the second derivatives: gradcheck of the gradient, for random weights."""
    inputs = many(inputs)
    weights = [rand_like(o, requires_grad=True) for o in many(func(*inputs))]
    checked = to_be_checked(inputs)

    def slopes(*_):  # gradcheck nudges the inputs and weights in place
        with enable_grad():
            return vjps(many(func(*inputs)), weights, checked, create_graph=True)

    return gradcheck(slopes, (*inputs, *weights), **options)
