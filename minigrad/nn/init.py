"""Initial values: torch.nn.init's functions, which write over a tensor."""

import math

from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor
from minigrad.tensors import creation


def fan(tensor: Tensor, mode: str) -> int:
    """Return how many numbers make an output ("fan_in"), or use an input ("fan_out").

    The weight is (outputs, inputs), or (outputs, inputs, height, width) of a kernel.
    """
    axis = {"fan_in": 1, "fan_out": 0}[mode]
    return tensor.shape[axis] * math.prod(tensor.shape[2:])


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with random numbers, uniform from a to b."""
    return tensor.copy_(creation.rand(tensor.shape, dtype=tensor.dtype) * (b - a) + a)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with random numbers, normal."""
    return tensor.copy_(creation.randn(tensor.shape, dtype=tensor.dtype) * std + mean)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu") -> Tensor:
    """Fill normally, variance gain² / fan (K. He et al., 2015).

    The gain makes up for what relu, or leaky_relu with a slope of `a`, takes away.
    """
    slope = {"relu": 0.0, "leaky_relu": a}[nonlinearity]
    gain = math.sqrt(2 / (1 + slope**2))
    return normal_(tensor, 0.0, gain / math.sqrt(fan(tensor, mode)))
