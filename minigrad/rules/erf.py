"""The error function, which NumPy lacks.

Source: W. J. Cody, "Rational Chebyshev Approximations for the Error Function", 1969.
"""

import numpy as np
from numpy import ndarray

# Numerator and denominator, the highest powers first
NEAR_ZERO = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2)
    + (3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2)
    + (1.28261652607737228e3, 2.84423683343917062e3),
)
BEYOND = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594)
    + (6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2)
    + (1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2)
    + (5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3)
    + (4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)


def erf_of(a: ndarray) -> ndarray:
    """Return the error function of each number, to the last digit of a float64."""
    size = np.minimum(np.abs(a), 6.0)  # from there on it is 1
    near = a * ratio(NEAR_ZERO, size * size)
    far = 1 - np.exp(-size * size) * ratio(BEYOND, size)
    return np.where(size < 0.46875, near, np.copysign(far, a))


def ratio(polynomials: tuple, x: ndarray) -> ndarray:
    """Return the value of one polynomial over that of another."""
    above, below = (polynomial(each, x) for each in polynomials)
    return above / below


def polynomial(coefficients: tuple, x: ndarray) -> ndarray:
    """Return the value of a polynomial, by Horner's rule."""
    first, *others, last = coefficients
    y = first * x
    for coefficient in others:
        y += coefficient
        y *= x
    return y + last
