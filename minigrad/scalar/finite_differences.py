"""Derivatives found by nudging: slow and not exact, but a check on all others."""

from collections.abc import Callable, Sequence
from math import inf


class GradcheckError(AssertionError):
    """An analytic gradient and the central difference disagree."""


def forward_difference(f: Callable, x: float, h: float = 1e-8) -> float:
    """Estimate f'(x) from one nudge forward. The error shrinks like h.

    Source of the default: Press et al., Numerical Recipes, section 5.7.
    """
    x = float(x)  # float32 has no room for so small a nudge
    return (f(x + h) - f(x)) / h


def central_difference(f: Callable, x: float, h: float = 1e-6) -> float:
    """Estimate f'(x) from a nudge to either side. The error shrinks like h squared.

    The default is near the cube root of float64's epsilon (2.2e-16). Source: Press et
    al., Numerical Recipes, section 5.7.
    """
    x = float(x)
    return (f(x + h) - f(x - h)) / (2 * h)


def numerical_gradient(
    f: Callable, xs: Sequence[float], h: float = 1e-6
) -> list[float]:
    """Estimate every partial derivative of f(*xs), nudging one argument at a time."""
    xs = [float(x) for x in xs]

    def partial(i: int) -> float:
        return central_difference(lambda x: f(*xs[:i], x, *xs[i + 1 :]), xs[i], h)

    return [partial(i) for i in range(len(xs))]


def check_gradient(f: Callable, gradient: Callable, xs: Sequence[float]) -> bool:
    """Compare gradient(*xs), one number per argument, with nudging f(*xs).

    Return True if all agree within 1e-5 plus a thousandth of the numerical gradient,
    which are the default tolerances of torch.autograd.gradcheck. Otherwise raise
    GradcheckError. An infinity agrees only with itself, and nan agrees with nothing.
    """
    analytic, numerical = gradient(*xs), numerical_gradient(f, xs)
    if len(analytic) != len(xs):
        raise GradcheckError(f"{len(analytic)} derivatives for {len(xs)} inputs")
    for i, (a, n) in enumerate(zip(analytic, numerical, strict=True)):
        if not (a == n or abs(a - n) <= 1e-5 + 1e-3 * abs(n) < inf):
            raise GradcheckError(f"input {i}: analytic {a:.6g}, numerical {n:.6g}")
    return True


def gradcheck(f: Callable, inputs: Sequence) -> bool:
    """Compare the gradients that f(*inputs).backward() gives with nudging the inputs.

    The inputs are Values, and their own grads stay as they are. Return True if all
    agree with the tolerances of `check_gradient`. Otherwise raise GradcheckError.
    """
    make = type(inputs[0])

    def value(*xs):
        return f(*map(make, xs)).data

    def gradient(*xs):
        leaves = [make(x) for x in xs]
        f(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    return check_gradient(value, gradient, [x.data for x in inputs])
