"""Einstein sums."""

import math
import string

import numpy as np

from minigrad.array.dtypes import float32, float64
from minigrad.array.fast_sums import LONG
from minigrad.graph.tensor import Tensor, kind
from minigrad.rules.joining import of_one_dtype
from minigrad.rules.op import Op


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
