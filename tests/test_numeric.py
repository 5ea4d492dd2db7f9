"""Derivatives by nudging, and the checks made from them."""

import inspect
import math

import numpy as np
import pytest

from minigrad.array.finite_differences import array_gradients
from minigrad.scalar.finite_differences import (
    GradcheckError,
    central_difference,
    check_gradient,
    forward_difference,
    gradcheck,
    numerical_gradient,
)
from minigrad.scalar.value import Value


def product(x, y):
    return x * x * y


def test_differences_are_near_the_derivative():
    assert forward_difference(math.sin, 1.0) == pytest.approx(math.cos(1.0), abs=1e-7)
    assert central_difference(math.sin, 1.0) == pytest.approx(math.cos(1.0), abs=1e-9)


@pytest.mark.parametrize(
    "difference, shrinks", [(forward_difference, 10), (central_difference, 100)]
)
def test_the_error_shrinks_as_promised(difference, shrinks):
    coarse, fine = (abs(difference(math.exp, 0.0, h) - 1) for h in (1e-2, 1e-3))
    assert coarse / fine == pytest.approx(shrinks, rel=0.01)


@pytest.mark.parametrize("difference", [forward_difference, central_difference])
def test_the_default_nudge_is_near_the_best(difference):
    def error(h):
        points = [0.3 + 0.1 * i for i in range(10)]
        return max(abs(difference(math.sin, x, h) - math.cos(x)) for x in points)

    default = difference.__defaults__[0]
    assert error(default) < min(error(default * 100), error(default / 100))


def test_partial_derivatives():
    assert numerical_gradient(product, [3.0, 5.0]) == pytest.approx([30.0, 9.0])
    assert numerical_gradient(lambda: 1.0, []) == []


def test_a_gradient_written_by_hand():
    assert check_gradient(product, lambda x, y: [2 * x * y, x * x], [3.0, 5.0])


def test_a_wrong_gradient_is_named():
    with pytest.raises(GradcheckError, match="input 1: analytic 3, numerical 9"):
        check_gradient(product, lambda x, y: [2 * x * y, x], [3.0, 5.0])
    with pytest.raises(GradcheckError, match="input 0: analytic nan"):
        check_gradient(product, lambda x, y: [math.nan, x * x], [3.0, 5.0])
    with pytest.raises(GradcheckError, match="1 derivatives for 2 inputs"):
        check_gradient(product, lambda x, y: [2 * x * y], [3.0, 5.0])


def test_gradcheck_runs_backward_and_leaves_the_inputs_alone():
    x, y = Value(3.0), Value(5.0)
    assert gradcheck(lambda x, y: (x * y).tanh() + x / y - y**3, [x, y])
    assert x.grad == y.grad == 0.0


def test_gradcheck_catches_a_wrong_slope():
    def square(x):
        return Value(x.data**2, "Square", x, x.data)

    with pytest.raises(GradcheckError, match="input 0: analytic 3, numerical 6"):
        gradcheck(square, [Value(3.0)])


def test_the_step_and_the_tolerances_are_pytorchs():
    torch = pytest.importorskip("torch")
    theirs = inspect.signature(torch.autograd.gradcheck).parameters
    ours = inspect.signature(numerical_gradient).parameters
    assert ours["h"].default == theirs["eps"].default
    slope = 6.0
    allowed = theirs["atol"].default + theirs["rtol"].default * slope
    assert check_gradient(lambda x: x * x, lambda x: [slope + 0.99 * allowed], [3.0])
    with pytest.raises(GradcheckError):
        check_gradient(lambda x: x * x, lambda x: [slope + 1.01 * allowed], [3.0])


def test_arrays_are_nudged_number_by_number():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    upstream = np.array([2.0, 5.0])
    to_a, to_b = array_gradients(np.matmul, [a, b], upstream)
    assert to_a == pytest.approx(np.outer(upstream, b))
    assert to_b == pytest.approx(a.T @ upstream)
    assert a.tolist() == [[1.0, 2.0], [3.0, 4.0]], "the arrays that were given stay"
