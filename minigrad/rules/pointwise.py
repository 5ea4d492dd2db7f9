"""The rule table: every operation, and the derivative for each of its arguments.

In a formula `g` is the gradient of the result, `y` the result, `shape` the shape of
the argument that the formula is for, and any other name an argument. Elementwise
formulas need not care about broadcasting: the engine sums where it stretched.
"""

import math

import numpy as np

from minigrad.array.arguments import bools
from minigrad.array.dtypes import check_holds, default
from minigrad.graph.tensor import Tensor
from minigrad.rules.erf import erf_of
from minigrad.rules.op import Op, alike, called, to_dtype
from minigrad.rules.operands import as_numbers, check_tensors, exactly

# Arithmetic

add = Op("Add", np.add, a=lambda g: g, b=lambda g: g)
sub = Op("Sub", np.subtract, a=lambda g: g, b=lambda g: -g)
rsub = Op("RsubBackward1", lambda a, b: b - a, a=lambda g: -g, b=lambda g: g)
mul = Op("Mul", np.multiply, a=lambda g, b: g * b, b=lambda g, a: g * a)
div = Op("Div", np.true_divide, a=lambda g, b: g / b, b=lambda g, a, b: a / b / b * -g)
true_divide = div
power = Op(
    "Pow",
    np.power,
    a=lambda g, a, b: g * b * a ** np.where(b == 0, 0, b - 1),
    b=lambda g, a, b, y: g * y * np.log(np.where((a == 0) & (b >= 0), 1, a)),
)
modulo = Op(
    "Remainder",
    lambda a, b: np.remainder(a, divisor(b)),
    a=lambda g: g,
    b=lambda g, a, b: -g * np.floor_divide(a, b),
)
quotient = Op("FloorDivide", lambda a, b: np.floor_divide(a, divisor(b)))  # in rules
floor_divide = Op(
    "FloorDivide",
    quotient.forward,
    a=lambda g: no_way_back(g),
    b=lambda g: no_way_back(g),
)
maximum = Op(
    "Maximum",
    np.maximum,
    a=lambda g, a, b: np.where(a < b, 0, np.where(a == b, g * 0.5, g)),
    b=lambda g, a, b: np.where(b < a, 0, np.where(a == b, g * 0.5, g)),
)
minimum = Op(
    "Minimum",
    np.minimum,
    a=lambda g, a, b: np.where(a > b, 0, np.where(a == b, g * 0.5, g)),
    b=lambda g, a, b: np.where(b > a, 0, np.where(a == b, g * 0.5, g)),
)

# Functions of one number

sign = Op(
    "Sign",
    lambda a: a.copy() if a.dtype == bool else np.nan_to_num(np.sign(a)),
    a=lambda g: np.zeros_like(g),
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
tan = Op("Tan", np.tan, a=lambda g, y: g + g * y * y)
sinh = Op("Sinh", np.sinh, a=lambda g, a: g * np.cosh(a))
cosh = Op("Cosh", np.cosh, a=lambda g, a: g * np.sinh(a))
tanh = Op("Tanh", np.tanh, a=lambda g, y: g - g * y * y)
sigmoid = Op("Sigmoid", lambda a: 1 / (1 + np.exp(-a)), a=lambda g, y: g * y * (1 - y))
erf = Op("Erf", erf_of, a=lambda g, a: g * np.exp(-a * a) * ERF_SLOPE)
relu = Op("Relu", lambda a: np.maximum(a, 0), a=lambda g, y: kept(g, y != 0))
floor = Op("Floor", np.floor, a=lambda g: np.zeros_like(g))
ceil = Op("Ceil", np.ceil, a=lambda g: np.zeros_like(g))
round = Op("Round", lambda a: a.round(), a=lambda g: np.zeros_like(g))
clone = Op("Clone", lambda a: a.copy(), a=lambda g: g)
ERF_SLOPE = 2 / math.sqrt(math.pi)


# Questions: nothing flows through them

eq = Op("Eq", np.equal)
ne = Op("Ne", np.not_equal)
lt = Op("Lt", np.less)
le = Op("Le", np.less_equal)
gt = Op("Gt", np.greater)
ge = Op("Ge", np.greater_equal)
bitwise_and = Op("BitwiseAnd", np.bitwise_and)
bitwise_or = Op("BitwiseOr", np.bitwise_or)
bitwise_xor = Op("BitwiseXor", np.bitwise_xor)
bitwise_not = Op("BitwiseNot", np.invert)
logical_not = Op("LogicalNot", np.logical_not)
logical_and = Op("LogicalAnd", np.logical_and)
logical_or = Op("LogicalOr", np.logical_or)
isnan = Op("Isnan", np.isnan)
isinf = Op("Isinf", np.isinf)
isfinite = Op("Isfinite", np.isfinite)


def pow(input, exponent):
    """Raise to a power; either of the two may be a number."""
    if isinstance(exponent, int) and exponent == 2:
        return square(input)
    if isinstance(exponent, Tensor) and exponent.dtype.kind == "i" and is_whole(input):
        return of_integers(input, exponent)
    if not isinstance(input, Tensor):
        return called("PowBackward2", power(input, exponent))
    out = power(input, exponent)
    return called("PowBackward1", out) if isinstance(exponent, Tensor) else out


def is_whole(value):
    """Return whether a number, or all of a tensor, is of integers or bools."""
    return isinstance(value, int) or getattr(value, "dtype", default).kind != "f"


def of_integers(input, exponent):
    """Return an integer's power; as an integer 1 / n is 0, unless n is 1 or -1."""
    whole = (exponent >= 0) | (input * input == 1)
    return where(whole, power(input, where(exponent < 0, -exponent, exponent)), 0)


def remainder(input, other):
    """Return a - b * floor(a / b), which has the sign of b."""
    out = modulo(input, other)
    return called("RemainderBackward1", out) if isinstance(other, Tensor) else out


def no_way_back(g):
    """Refuse: by // nothing would be learned, and nobody would notice."""
    raise NotImplementedError("the derivative of // is 0: detach() what it divides")


def kept(g, mask):
    """Return g where the mask holds, and 0 elsewhere, be g infinite there or not."""
    if type(g) is not np.ndarray:
        return np.where(mask, g, 0)
    out = g * mask  # np.where takes much longer
    flat = out.ravel("K")
    total = flat.dot(flat)
    return out if total == total else np.where(mask, g, 0)


def divisor(b):
    """Return what to divide by; raise RuntimeError if it is an integer and 0."""
    if b.dtype.kind != "f" and not b.all():
        raise RuntimeError("ZeroDivisionError: integers cannot be divided by 0")
    return b


# Choices

choose = Op(
    "Where",
    lambda a, b, condition: np.where(condition, a, b),
    a=lambda g, condition: np.where(condition, g, 0),
    b=lambda g, condition: np.where(condition, 0, g),
)
clamp_to = Op(
    "Clamp",
    lambda a, min=None, max=None: np.clip(a, min, max),
    a=lambda g, a, min, max: np.where(ordered(min, a) & ordered(a, max), g, 0),
    min=lambda g, a, min, max: np.where((a < min) & (max is None or min < max), g, 0),
    max=lambda g, a, min, max: np.where(
        (a > max) | (min is not None and max < min), g, 0
    ),
)


def ordered(low, high):
    """Return where low <= high; a bound that is None is never out of order."""
    return True if low is None or high is None else low <= high


def where(condition, input=None, other=None):
    """Take from `input` where `condition` holds, else from `other`; they broadcast.

    With the condition alone: the indices where it holds, a tensor for each axis.
    """
    if input is None:
        return tuple(map(Tensor, np.nonzero(np.atleast_1d(condition.array))))
    bools("where", condition)
    tensors = [x for x in (input, other) if isinstance(x, Tensor)]
    if not tensors:
        input = exactly(choose, input, np.dtype(bool))
    beside = (tensors or [input])[0]
    pair = [
        x if isinstance(x, Tensor) else exactly(choose, x, beside.dtype)
        for x in (input, other)
    ]
    if pair[0].dtype is not pair[1].dtype:
        pair = alike(*pair)
    return choose(*pair, condition)


def clamp(input, min=None, max=None):
    """Limit to the range from `min` to `max`; either may be None, or a tensor."""
    check_tensors("clamp", input)
    min, max = as_numbers(min, max)
    bounds = [bound for bound in (min, max) if bound is not None]
    tensors = {isinstance(bound, Tensor) for bound in bounds}
    numbers = all(isinstance(bound, int | float | np.generic) for bound in bounds)
    if len(tensors) != 1 or (tensors == {False}) != numbers:
        raise TypeError("clamp: give 'min', 'max' or both: numbers, or else tensors")
    if tensors == {False}:
        if input.dtype.kind != "f" and not all(map(is_whole, bounds)):
            input = to_dtype(input, default)
        for bound in bounds:
            check_holds(input.dtype, bound)
        return called("ClampBackward1", clamp_to(input, min, max))
    for bound in bounds:
        input, _ = alike(input, bound)
    ends = [b if b is None else to_dtype(b, input.dtype) for b in (min, max)]
    return clamp_to(input, *ends)
