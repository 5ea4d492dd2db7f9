"""The rule table of elementwise operations and their derivatives.

In a formula, `g` is the gradient of the result, `y` is the result, and `shape` is the
shape of the argument that the formula is for. Any other name is an argument. Formulas
can ignore broadcasting, because the engine sums over stretched axes.
"""

import numpy as np

from minigrad.array.dtypes import bool_
from minigrad.errors import short
from minigrad.graph.tensor import Tensor, functions, methods, ufuncs
from minigrad.rules.casting import to_dtype
from minigrad.rules.op import Op, alike, called

NUMBERS = int | float | np.generic

# Arithmetic

add = Op("Add", np.add, a=lambda g: g, b=lambda g: g)
sub = Op("Sub", np.subtract, a=lambda g: g, b=lambda g: -g)
rsub = Op("RsubBackward1", lambda a, b: b - a, a=lambda g: -g, b=lambda g: g)
mul = Op("Mul", np.multiply, a=lambda g, b: g * b, b=lambda g, a: g * a)
div = Op("Div", np.true_divide, a=lambda g, b: g / b, b=lambda g, a, b: a / b / b * -g)
power = Op(
    "Pow",
    np.power,
    a=lambda g, a, b: g * (b * a ** (b + (b == 0) - 1)),
    b=lambda g, a, b, y: g * y * np.log(unless_zero(a, b)),
)
maximum = Op(
    "Maximum",
    np.maximum,
    a=lambda g, a, b: unless(g, a < b, a == b),
    b=lambda g, a, b: unless(g, b < a, a == b),
)


def unless_zero(a, b):
    """Return a, with 1 in place of 0 where b is not negative, in the dtype of a + b."""
    return np.where((a == 0) & (b >= 0), 1, a + np.zeros_like(b))


def unless(g, lost, tied):
    """Return 0 where the other number was taken, half of g at a tie, otherwise g."""
    return np.where(lost, 0, np.where(tied, g * 0.5, g))


# Functions of one number

sign = Op(
    "Sign", lambda a: np.where(a == a, np.sign(a), 0), a=lambda g: np.zeros_like(g)
)
neg = Op("Neg", np.negative, a=lambda g: -g)
abs = Op("Abs", np.absolute, a=lambda g, a: g * sign(a))
exp = Op("Exp", np.exp, a=lambda g, y: g * y)
log = Op("Log", np.log, a=lambda g, a: g / a)
log1p = Op("Log1P", np.log1p, a=lambda g, a: g / (a + 1))
sqrt = Op("Sqrt", np.sqrt, a=lambda g, y: g / (y + y))
rsqrt = Op("Rsqrt", lambda a: 1 / np.sqrt(a), a=lambda g, y: y * y * y * g * -0.5)
square = Op("Pow", np.square, a=lambda g, a: g * (a + a))
reciprocal = Op("Reciprocal", lambda a: 1 / a, a=lambda g, y: y * y * -g)
sin = Op("Sin", np.sin, a=lambda g, a: g * np.cos(a))
cos = Op("Cos", np.cos, a=lambda g, a: -g * np.sin(a))
tanh = Op("Tanh", np.tanh, a=lambda g, y: g - g * y * y)
sigmoid = Op("Sigmoid", lambda a: 1 / (1 + np.exp(-a)), a=lambda g, y: g * y * (1 - y))
relu = Op("Relu", lambda a: np.maximum(a, 0), a=lambda g, y: masked(g, y != 0))
clone = Op("Clone", lambda a: a.copy(), a=lambda g: g)

# Comparisons, through which no gradient flows

eq = Op("Eq", np.equal)
ne = Op("Ne", np.not_equal)
lt = Op("Lt", np.less)
le = Op("Le", np.less_equal)
gt = Op("Gt", np.greater)
ge = Op("Ge", np.greater_equal)
bitwise_and = Op("BitwiseAnd", np.bitwise_and)
bitwise_or = Op("BitwiseOr", np.bitwise_or)
bitwise_not = Op("BitwiseNot", np.invert)
isnan = Op("Isnan", np.isnan)


def pow(input, exponent):
    """Raise to a power. Either of the two arguments may be a number."""
    two = isinstance(exponent, int) and exponent == 2
    return square(input) if two else power(input, exponent)


def masked(g, mask):
    """Return g where the mask is True, and 0 elsewhere, even where g is infinite."""
    return np.where(mask, g, 0)


# Choices

choose = Op(
    "Where",
    lambda a, b, condition: np.where(condition, a, b),
    a=lambda g, condition: np.where(condition, g, 0),
    b=lambda g, condition: np.where(condition, 0, g),
)
clamped = Op(
    "ClampBackward1",
    lambda a, min, max: np.clip(a, min, max),
    a=lambda g, a, min, max: np.where(inside(a, min, max), g, 0),
)


def inside(a, min, max):
    """Return where a lies between two bounds. A bound that is None is ignored."""
    above = True if min is None else a >= min
    return above & (True if max is None else a <= max)


def where(condition, input, other):
    """Take `input` where `condition` is True, else `other`. All three broadcast."""
    if getattr(condition, "dtype", type(condition)) != bool_:
        raise TypeError(f"expected condition to be bools, not {short(condition)}")
    return choose(*alike(input, other), condition)


def clamp(input, min=None, max=None):
    """Limit to the range between the numbers `min` and `max`. Either may be None."""
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds or not all(isinstance(bound, NUMBERS) for bound in bounds):
        raise TypeError("clamp: give numbers for 'min', 'max' or both")
    return clamped(input, min, max)


def masked_fill(input, mask, value):
    """Return the tensor with `value`, a number, where the mask of bools is True."""
    if getattr(mask, "dtype", 0) != bool_ or not isinstance(value, NUMBERS):
        raise TypeError("masked_fill: give a number for 'value', and a mask of bools")
    return called("MaskedFill", to_dtype(choose(value, input, mask), input.dtype))


# What they are called: methods of a Tensor, functions of minigrad, NumPy's functions

METHODS = [
    *("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "clamp", "clone"),
    *("cos", "div", "eq", "exp", "ge", "gt", "isnan", "le", "log", "log1p", "lt"),
    *("masked_fill", "maximum", "mul", "ne", "neg", "pow", "reciprocal", "relu"),
    *("rsqrt", "sigmoid", "sign", "sin", "sqrt", "square", "sub", "tanh"),
]
__all__ = [*METHODS, "where"]
methods(METHODS, globals(), __neg__=neg, __abs__=abs, __invert__=bitwise_not)
methods([], {}, _rsub=rsub, _rpow=lambda input, base: pow(base, input))
methods([], {}, _rdiv=lambda input, other: mul(reciprocal(input), other))
ops = [op for op in vars().copy().values() if isinstance(op, Op)]
ufuncs |= {op.forward: op for op in ops if isinstance(op.forward, np.ufunc)}
ufuncs[np.sign] = sign
functions[np.where] = where
functions[np.zeros_like] = lambda a: Tensor(np.zeros_like(a.array))
functions[np.ones_like] = lambda a: Tensor(np.ones_like(a.array))
