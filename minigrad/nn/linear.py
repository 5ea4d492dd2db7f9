"""Linear layers, x @ weight.T + bias, as one node, and two parameterless layers."""

import math

from minigrad.errors import expect, expect_alike
from minigrad.graph.tensor import Tensor
from minigrad.nn import init
from minigrad.nn.module import Module, Parameter
from minigrad.rules.matrix_products import check_fit
from minigrad.rules.op import Op, called
from minigrad.rules.shape import flatten
from minigrad.tensors import creation


def rows(x):
    """Return a stack of matrices, or a vector, as one matrix of all its rows."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def affine(input, weight, bias):
    """Return input @ weight.T + bias, as arrays."""
    out = rows(input) @ weight.T
    if bias is not None:
        out += bias
    return out if input.ndim == 2 else out.reshape(*input.shape[:-1], len(weight))


addmm = Op(
    "Addmm",
    affine,
    input=lambda g, weight, shape: (rows(g) @ weight).reshape(shape),
    weight=lambda g, input: rows(g).T @ rows(input),
    bias=lambda g: g,
)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return input @ weight.T + bias. (..., in) and (out, in) give (..., out)."""
    expect(getattr(weight, "ndim", 0) == 2, "expected a weight (out, in)", weight)
    check_fit(input, weight.array.T)
    shape = getattr(bias, "shape", None)  # as in PyTorch, a single number is stretched
    shape = shape if shape in ((), (1,)) else weight.shape[:1]
    expect_alike("linear's bias", input, shape, bias)
    out = addmm(input, weight, bias)
    if input.ndim == 2:
        return out if bias is not None else called("Mm", out)
    return called("UnsafeView" if bias is None else "View", out)


class Linear(Module):
    """x @ weight.T + bias. It turns (..., in_features) into (..., out_features).

    Weight and bias start as random numbers, uniform between -b and b, where b is
    1 / sqrt(in_features), as in PyTorch.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(creation.empty(out_features, in_features))
        bias = Parameter(creation.empty(out_features)) if bias else None
        self.register_parameter("bias", bias)
        for parameter in self.parameters():
            bound = 1 / math.sqrt(in_features or 1)
            init.uniform_(parameter, -bound, bound)

    def forward(self, input):
        return linear(input, self.weight, self.bias)


class Flatten(Module):
    """Joins all axes but the first into one."""

    def forward(self, input):
        return flatten(input, 1)


class Identity(Module):
    """Returns its input, so it can replace any layer."""

    def forward(self, input):
        return input
