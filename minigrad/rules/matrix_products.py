"""Rules for products of matrices and vectors."""

import numpy as np

from minigrad.errors import expect, expect_tensors
from minigrad.graph.tensor import methods, ufuncs
from minigrad.rules.op import Op, called

dot = Op("Dot", lambda a, b: a @ b, a=lambda g, b: g * b, b=lambda g, a: g * a)
mv = Op("Mv", np.matmul, a=lambda g, b: g[:, None] * b, b=lambda g, a: a.T @ g)
mm = Op("Mm", np.matmul, a=lambda g, b: g @ b.T, b=lambda g, a: a.T @ g)
bmm = Op("Bmm", np.matmul, a=lambda g, b: g @ b.mT, b=lambda g, a: a.mT @ g)


def matmul(input, other):
    """Multiply matrices, or a matrix and a vector, or stacks of them.

    Shapes (..., n, k) and (..., k, m) give (..., n, m), and the dots broadcast. A
    vector of length k counts as a row on the left and as a column on the right.
    """
    check_fit(input, other)
    m, n = input.ndim, other.ndim
    if m == 1 and n == 1:
        return dot(input, other)
    if m == 2 and n < 3:
        return mm(input, other) if n == 2 else mv(input, other)
    if m == 1:
        out = matmul(input.unsqueeze(0), other).squeeze(-2)
    else:
        out = bmm(input, other) if n > 1 else bmm(input, other[:, None]).squeeze(-1)
    out.source = None  # only this tensor shows the memory of the product
    return out if m + n == 3 else called("UnsafeView", out)


def check_fit(a, b):
    """Raise RuntimeError unless a and b have a matrix product."""
    rows, columns = getattr(a, "shape", ()), getattr(b, "shape", ())
    if not (rows[-1:] == columns[-2:][:1] != () and a.dtype == b.dtype != bool):
        expect_tensors("matmul", a, b)
        wanted = "mat1 and mat2 shapes cannot be multiplied, or are not of one dtype"
        expect(False, f"{wanted} of numbers", a, b)


__all__ = ["matmul"]
methods(["matmul"], globals())
ufuncs[np.matmul] = matmul
