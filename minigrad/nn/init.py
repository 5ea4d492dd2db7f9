"""Initial values: torch.nn.init's functions, which overwrite a tensor."""

import math

from minigrad.errors import expect
from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor
from minigrad.tensors import creation


def fan(tensor: Tensor, mode: str) -> int:
    """Return how many inputs make an output, or how many outputs use an input.

    The modes are "fan_in" and "fan_out". The weight is (outputs, inputs), or
    (outputs, inputs, height, width) for a kernel. For an empty weight the result is 1.
    """
    expect(tensor.ndim > 1, "Fan in and fan out can not be computed", tensor)
    expect(mode in ("fan_in", "fan_out"), "mode must be fan_in or fan_out", mode)
    return tensor.shape[1 if mode == "fan_in" else 0] * math.prod(tensor.shape[2:]) or 1


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with random numbers, uniformly distributed from a to b."""
    expect(a <= b, "uniform_ expects to return a [from, to) range", a, b)
    return tensor.copy_(creation.rand(tensor.shape, dtype=tensor.dtype) * (b - a) + a)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normally distributed random numbers."""
    expect(std >= 0, "normal expects std >= 0.0", std)
    return tensor.copy_(creation.randn(tensor.shape, dtype=tensor.dtype) * std + mean)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu") -> Tensor:
    """Fill with normally distributed numbers of variance gain² / fan (He et al., 2015).

    The gain makes up for the part of the variance that relu, or leaky_relu with a slope
    of `a`, removes. Source: K. He et al., "Delving Deep into Rectifiers", 2015.
    """
    slope = {"relu": 0.0, "leaky_relu": a}[nonlinearity]
    gain = math.sqrt(2 / (1 + slope**2))
    return normal_(tensor, 0.0, gain / math.sqrt(fan(tensor, mode)))
