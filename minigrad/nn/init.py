"""Initial values: torch.nn.init's functions, which write over a tensor."""

import math

from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor
from minigrad.tensors import creation

GAINS = {
    "linear": 1.0,
    "conv2d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
}


def calculate_gain(nonlinearity: str, param: float = 0.01) -> float:
    """Return by how much an activation asks the weights to be larger."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + param**2))
    if nonlinearity not in GAINS:
        raise ValueError(
            f"Unsupported nonlinearity {nonlinearity!r}: {', '.join(GAINS)}, leaky_relu"
        )
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return (fan_in, fan_out): how many numbers make an output, and use an input."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for a tensor with fewer than "
            "2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def chosen_fan(tensor: Tensor, mode: str) -> int:
    """Return fan_in or fan_out."""
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(
            f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']"
        )
    return fans(tensor)[mode == "fan_out"]


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with random numbers, uniform from a to b."""
    return tensor.uniform_(a, b)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with random numbers, normal."""
    return tensor.normal_(mean, std)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill uniformly, variance 2 gain² / (fan_in + fan_out) (X. Glorot, 2010)."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill normally, variance 2 gain² / (fan_in + fan_out) (X. Glorot, 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))))


def kaiming_uniform_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu") -> Tensor:
    """Fill uniformly, variance gain² / fan (K. He et al., 2015)."""
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / chosen_fan(tensor, mode))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu") -> Tensor:
    """Fill normally, variance gain² / fan (K. He et al., 2015)."""
    std = calculate_gain(nonlinearity, a) / math.sqrt(chosen_fan(tensor, mode))
    return normal_(tensor, 0.0, std)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere."""
    if tensor.ndim != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported, not {tensor.shape}"
        )
    with no_grad():
        return tensor.copy_(creation.eye(*tensor.shape, dtype=tensor.dtype))
