"""Rules for products of matrices and vectors."""

import math
import string

import numpy as np

from minigrad.dtypes import float32, float64
from minigrad.op import Op, called
from minigrad.operands import check_tensors
from minigrad.shapes import of_one_dtype, reshaped
from minigrad.sums import LONG
from minigrad.tensor import Tensor, kind

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


def summed(equation, *operands):
    """Return an Einstein sum; if it adds up many float32, in float64 on the way."""
    if any(isinstance(x, Tensor) for x in operands):
        return einsum(equation, *operands)
    inputs, output = equation.split("->")
    pairs = zip(inputs.split(","), operands)
    sizes = {c: n for letters, x in pairs for c, n in zip(letters, x.shape)}
    many = math.prod(n for c, n in sizes.items() if c not in output) >= LONG
    dtype = operands[0].dtype
    if many and dtype == float32:
        operands = [x.astype(float64) for x in operands]
    out = np.einsum(equation, *operands, optimize=True)
    return out.astype(dtype, order="C", copy=False)


def to_operand(g, shape, operands, inputs, output, i):
    """Return the sum that leads back to operand i: of g and the other operands."""
    others = [*operands[:i], *operands[i + 1 :]]
    names = [output, *inputs[:i], *inputs[i + 1 :]]
    kept = "".join(letter for letter in inputs[i] if letter in "".join(names))
    share = summed(f"{','.join(names)}->{kept}", g, *others)
    alone = tuple(k for k, letter in enumerate(inputs[i]) if letter not in kept)
    share = np.expand_dims(share, alone) if alone else share
    wide = np.broadcast_shapes(share.shape, shape)  # an operand may have a 1 there
    return share if share.shape == wide else np.broadcast_to(share, wide)


contracted = Op(
    "View",
    lambda operands, inputs, output: summed(f"{','.join(inputs)}->{output}", *operands),
    operands=to_operand,
)


def einsum(equation, *operands):
    """Sum products over indices: einsum("ij,jk->ik", a, b) is a @ b.

    An index that is twice in one operand takes its diagonal; ... stands for all other
    axes; without -> the result has, in order, the letters that occur once.
    """
    if not isinstance(equation, str):
        raise TypeError(f"einsum: wants 'ij,jk->ik', say, first, not {kind(equation)}")
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = operands[0]
    operands = [x if isinstance(x, Tensor) else Tensor(x) for x in operands]
    inputs, output = spelled_out(equation.replace(" ", ""), operands)
    gone = set("".join(inputs)) - set(output)
    if any(sum(c in letters for letters in inputs) > 1 for c in gone):
        check_dtypes(operands)
    operands = of_one_dtype(operands)
    if operands[0].dtype == bool and gone:  # to be counted
        operands = [operand.long() for operand in operands]
    for i, letters in enumerate(inputs):
        for letter in sorted(set(letters)):
            while inputs[i].count(letter) > 1:
                operands[i], inputs[i] = diagonal(operands[i], inputs[i], letter)
    return contracted(operands, tuple(inputs), output)


def check_dtypes(operands):
    """Raise RuntimeError unless sums of products can be made of these."""
    dtypes = sorted({str(operand.dtype) for operand in operands})
    if len(dtypes) > 1 or dtypes == ["bool"]:
        raise RuntimeError(
            "einsum: expected operands of one dtype, of numbers, but got "
            f"{' and '.join(dtypes)}"
        )


def spelled_out(equation, operands):
    """Return the letters of each operand and of the result, without ... and with ->."""
    left, arrow, output = equation.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        raise RuntimeError(
            f"einsum(): {equation!r} names {len(inputs)} operands, got {len(operands)}"
        )
    free = [letter for letter in string.ascii_letters if letter not in equation]
    most = ""
    for i, operand in enumerate(operands):
        extra = operand.ndim - len(inputs[i].replace("...", ""))
        if extra < 0 or (extra and "..." not in inputs[i]):
            raise RuntimeError(
                f"einsum(): {inputs[i]!r} does not fit operand {i}, of shape "
                f"{operand.shape}"
            )
        dots = "".join(free[:extra][::-1])
        most = max(most, dots, key=len)
        inputs[i] = inputs[i].replace("...", dots)
    if not arrow:
        letters = "".join(inputs)
        once = sorted(c for c in set(letters) - set(most) if letters.count(c) == 1)
        return inputs, most + "".join(once)
    return inputs, output.replace("...", most)


def diagonal(x, letters, letter):
    """Return x with the first two axes of one letter taken together."""
    first, second = [i for i, each in enumerate(letters) if each == letter][:2]
    if x.shape[first] != x.shape[second]:
        raise RuntimeError(
            f"einsum(): {letter!r} is repeated, but its axes have the lengths "
            f"{x.shape[first]} and {x.shape[second]}"
        )
    steps = np.arange(x.shape[first])
    axes = [k for k in range(x.ndim) if k not in (first, second)]
    x = x.permute(first, second, *axes)[steps, steps]
    return x, letter + "".join(letters[k] for k in axes)
