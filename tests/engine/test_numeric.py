"""Derivatives by nudging, and the checks made from them."""

import inspect
import math

import numpy as np
import pytest

import minigrad
from minigrad.array.finite_differences import array_gradients
from minigrad.rules.op import Op
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


def test_nudges_are_of_float64_whatever_is_nudged():
    three = np.float32(3)
    assert forward_difference(lambda x: x * x, three) == pytest.approx(6, abs=1e-6)
    assert central_difference(lambda x: x * x, three) == pytest.approx(6, abs=1e-6)
    found = numerical_gradient(product, np.array([3, 5], np.float32))
    assert found == pytest.approx([30, 9])
    (found,) = array_gradients(lambda x: x * x, [np.array([3], np.float32)])
    assert found == pytest.approx([6])


INF, NAN = math.inf, math.nan
CORNERS = {  # f, what stands for its derivative, at, and whether that is right
    "the middle of a kink": (abs, 0.0, 0.0, True),
    "one side of a kink": (lambda x: np.maximum(x, 0.0), 0.0, 0.0, False),
    "nan": (lambda x: x * NAN, NAN, 1.0, False),
    "a jump to infinity": (lambda x: np.where(x > 1, INF, -INF), INF, 1.0, True),
    "the other infinity": (lambda x: np.where(x > 1, INF, -INF), -INF, 1.0, False),
}


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_checks_agree_on_kinks_nan_and_infinity(corner):
    f, slope, x, right = CORNERS[corner]
    op = Op("Corner", lambda a: np.asarray(f(a)), a=lambda g: g * slope)
    at = minigrad.tensor([x], dtype=minigrad.float64, requires_grad=True)
    ways = [
        lambda: check_gradient(lambda x: float(f(x)), lambda x: [slope], [x]),
        lambda: gradcheck(
            lambda v: Value(float(f(v.data)), "Corner", v, slope), [Value(x)]
        ),
        lambda: minigrad.autograd.gradcheck(op, at),
    ]
    for check in ways:
        if right:
            assert check()
        else:
            with pytest.raises(GradcheckError):
                check()
