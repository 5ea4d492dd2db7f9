"""Rules for products of matrices and vectors."""

import math

import numpy as np

from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors
from minigrad.rules.shape import reshaped

dot = Op("Dot", lambda a, b: a @ b, a=lambda g, b: g * b, b=lambda g, a: g * a)
mv = Op("Mv", np.matmul, a=lambda g, b: g[:, None] * b, b=lambda g, a: a.T @ g)
mm = Op("Mm", np.matmul, a=lambda g, b: g @ b.T, b=lambda g, a: a.T @ g)
bmm = Op("Bmm", np.matmul, a=lambda g, b: g @ b.mT, b=lambda g, a: a.mT @ g)


def matmul(input, other):
    """Multiply matrices, or a matrix and a vector, or stacks of them.

    Shapes (..., n, k) and (..., k, m) give (..., n, m); the dots broadcast. A vector
    of k counts as a row on the left and as a column on the right.
    """
    inner = inner_size("matmul", input, other)
    m, n = input.ndim, other.ndim
    if m == 1 and n == 1:
        return dot(input, other)
    if m == 1:
        row = matmul(input.unsqueeze(0), other).squeeze(-2)
        return called("SqueezeBackward4" if n == 2 else "UnsafeView", row)
    if n == 1 and m == 2:
        return mv(input, other)
    if n == 1:
        column = matmul(input, other.unsqueeze(1)).squeeze(-1)
        return called("UnsafeView", column)
    if m == 2 and n == 2:
        return mm(input, other)
    if n == 2:  # one product with all rows is faster than one for each matrix
        lengths = input.shape[:-1]
        rows = mm(input.reshape(math.prod(lengths), inner), other)
        return reshaped(rows, (*lengths, other.shape[1]))
    return called("UnsafeView", bmm(input, other))


def inner_size(name, input, other):
    """Return how many products each sum has; raise if the two do not fit together."""
    check_tensors(name, input, other)
    x, y = input.array, other.array
    if not x.ndim or not y.ndim:
        raise RuntimeError(f"both arguments to {name} need to be at least 1D")
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied: {input.shape} and "
            f"{other.shape}, inner sizes {input.shape[-1]} and {inner}"
        )
    if x.dtype != y.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{input.dtype} != {other.dtype}"
        )
    if x.dtype == bool and x.size and y.size:
        raise RuntimeError(f"{name}: not for bools; make them numbers with float()")
    return inner


def check_axes(name, input, other, *axes):
    """Raise RuntimeError unless two tensors have so many axes."""
    if (input.ndim, other.ndim) != axes:
        raise RuntimeError(
            f"{name}: expected tensors with {axes[0]} and {axes[1]} axes, but got the "
            f"shapes {input.shape} and {other.shape}"
        )


def strictly(op, input, other, *axes):
    """Multiply tensors that have so many axes, and no others."""
    inner_size(op.name.lower(), input, other)
    check_axes(op.name.lower(), input, other, *axes)
    if input.shape[:-2] != other.shape[:-2]:
        raise RuntimeError(
            f"bmm: expected as many matrices, but got {input.shape} and {other.shape}"
        )
    return op(input, other)


class strict:
    """Products that take so many axes and no others; their arguments as PyTorch's."""

    dot = staticmethod(lambda input, tensor: strictly(dot, input, tensor, 1, 1))
    mv = staticmethod(lambda input, vec: strictly(mv, input, vec, 2, 1))
    mm = staticmethod(lambda input, mat2: strictly(mm, input, mat2, 2, 2))
    bmm = staticmethod(lambda input, mat2: strictly(bmm, input, mat2, 3, 3))


def outer(input, vec2):
    """Multiply all numbers of one vector with all of another: (n,), (m,) to (n, m)."""
    check_tensors("outer", input, vec2)
    check_axes("outer", input, vec2, 1, 1)
    return input.unsqueeze(1) * vec2


# Einstein sums
