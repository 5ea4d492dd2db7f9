"""Slopes by nudging: always right to a few digits, never cheap."""

from collections.abc import Callable, Sequence


class GradcheckError(AssertionError):
    """A claimed slope is not what finite differences give."""


def forward_difference(f: Callable, x: float, h: float = 1e-8) -> float:
    """Return the slope of f at x from one nudge; off by about h * f''(x) / 2.

    A float has 16 digits; half of them, h = 1e-8, loses least to rounding and to h.
    """
    return (f(x + h) - f(x)) / h


def central_difference(f: Callable, x: float, h: float = 1e-5) -> float:
    """Return the slope of f at x from two nudges; off by about h**2 * f'''(x) / 6.

    A third of a float's 16 digits, h = 1e-5, loses least to rounding and to h.
    """
    return (f(x + h) - f(x - h)) / (2 * h)


def numerical_gradient(f: Callable, xs: Sequence[float], h: float = 1e-5) -> list:
    """Return the slope of f(*xs) in each of its inputs, the others held still."""

    def slope(i):
        return central_difference(lambda x: f(*xs[:i], x, *xs[i + 1 :]), xs[i], h)

    return [slope(i) for i in range(len(xs))]


def gradcheck(f: Callable, xs: Sequence[float], slopes: Sequence[float]) -> bool:
    """Return True if the claimed slopes of f(*xs) are what finite differences give.

    Raises GradcheckError at the first slope that is off by more than 1e-5 plus a
    thousandth of itself: the tolerances of torch.autograd.gradcheck.
    """
    numeric = numerical_gradient(f, xs)
    for i, (claimed, slope) in enumerate(zip(slopes, numeric, strict=True)):
        if not abs(claimed - slope) <= 1e-5 + 1e-3 * abs(slope):  # nan is refused too
            raise GradcheckError(
                f"slope in input {i}: {claimed:.6g} was claimed, "
                f"finite differences give {slope:.6g}"
            )
    return True
