"""Whether a formula can be recorded, so whether it also works on Tensors."""

from collections.abc import Callable, Sequence

import numpy as np

from classroom.cell.asked import BLANK
from classroom.cell.expect import expect
from minigrad.array.finite_differences import array_gradients
from minigrad.graph.tensor import Tensor

WHY = (
    "If a walk is recorded, a formula gets Tensors, and its result has to lead back to "
    "them. Use what arrays and Tensors share, such as operators, methods, NumPy's exp "
    "or reshape. Do not fill an array, and do not take a number out."
)


def expect_recorded(what: str, formula: Callable, arrays: Sequence[np.ndarray]) -> None:
    """Raise WrongAnswer unless a formula does the same with Tensors, and is recorded.

    `arrays` are its arguments. The gradients of its result are compared with nudging,
    because second derivatives depend on them.
    """
    what = f"{what}, given Tensors"
    for k in range(len(arrays)):
        leaves = [Tensor(np.array(array, float)) for array in arrays]
        leaves[k].requires_grad = True
        try:
            share = formula(*leaves)
            found = getattr(share, "requires_grad", f"not a Tensor, but {type(share)}")
        except NotImplementedError as error:
            if str(error) == BLANK:
                raise
            found = f"an error: {error}"
        except Exception as error:
            found = f"an error: {type(error).__name__}: {error}"
        expect(f"{what}: does it lead back to input {k}", found, True, why=WHY)
        expect(what, share, np.asarray(formula(*arrays)), why=WHY)
        weights = np.cos(np.arange(share.array.size)).reshape(share.shape)
        (share * Tensor(weights)).sum().backward()
        nudged = array_gradients(formula, arrays, weights)[k].round(5)
        place = f"{what}: the path back to input {k}"
        expect(place, leaves[k].grad.array.round(5), nudged, why=WHY)
