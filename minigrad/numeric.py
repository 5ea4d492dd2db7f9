"""Derivatives by nudging: slow and not quite exact, but right about everybody else's."""

from collections.abc import Callable, Sequence

STEP = 1e-6


class GradcheckError(AssertionError):
    """An analytic gradient and the central difference disagree."""


def forward_difference(f: Callable, x: float, h: float = 1e-8) -> float:
    """Estimate f'(x) from one nudge forward; the error shrinks like h.

    The default is near the square root of float64's rounding error (2.2e-16): there
    what is cut off the Taylor series and what is lost to rounding are about equal
    (Press et al., Numerical Recipes, section 5.7).
    """
    return (f(x + h) - f(x)) / h


def central_difference(f: Callable, x: float, h: float = STEP) -> float:
    """Estimate f'(x) from a nudge to either side; the error shrinks like h squared.

    The default is near the cube root of float64's rounding error (2.2e-16), for the
    same reason (Press et al., Numerical Recipes, section 5.7).
    """
    return (f(x + h) - f(x - h)) / (2 * h)


def numerical_gradient(f: Callable, xs: Sequence[float], h: float = STEP) -> list[float]:
    """Estimate every partial derivative of f(*xs), nudging one argument at a time."""

    def partial(i: int) -> float:
        return central_difference(lambda x: f(*xs[:i], x, *xs[i + 1 :]), xs[i], h)

    return [partial(i) for i in range(len(xs))]
