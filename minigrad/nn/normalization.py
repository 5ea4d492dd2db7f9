"""Batch and layer normalization, as a fused rule and as a plain composition."""

import numpy as np

from minigrad.array.axes import sizes
from minigrad.array.dtypes import floats
from minigrad.array.sums import means
from minigrad.errors import expect, expect_alike
from minigrad.graph.tensor import Tensor
from minigrad.nn.module import Module, Parameter
from minigrad.rules.fused import Fused
from minigrad.rules.op import called
from minigrad.tensors import creation


def unit_of(x, axes, eps):
    """Return (x - mean) / sqrt(variance + eps), mean, variance and 1 / sqrt(...)."""
    mean = means(x, axes)
    away = x - mean
    variance = means(np.square(away), axes)
    factor = 1 / np.sqrt(variance + eps)
    return away * factor, mean, variance, factor


def scaled(input, weight, bias, unit, factor, axes, eps):
    """Return unit * weight + bias, as arrays. unit was computed from the input."""
    out = unit.copy() if weight is None else unit * weight
    if bias is not None:
        out += bias
    return out


def from_scratch(input, weight, bias, unit, factor, axes, eps):
    """Compose the result of `scaled` from plain operations, without unit and factor."""
    away = input - input.mean(axes, True)
    variance = (away * away).mean(axes, True)
    out = away / (variance + eps).sqrt()
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def through(g, weight, unit, factor, axes):
    """Return the gradient of the input. Mean and factor also depend on the input."""
    g = g if weight is None else g * weight
    level, slope = means(g, axes), means(g * unit, axes)
    return (g - level - slope * unit) * factor


native_batch_norm = Fused(
    "NativeBatchNorm",
    scaled,
    plain=from_scratch,
    input=through,
    weight=lambda g, unit: g * unit,
    bias=lambda g: g,
)


@np.errstate(all="ignore")
def batch_norm(input, running_mean, running_var, weight=None, bias=None,
               training=False, momentum=0.1, eps=1e-5):  # fmt: skip
    """Normalize each channel of (N, C, ...) with batch or running statistics."""
    check_batch(input, training, eps, running_mean, running_var, weight, bias)
    weight, bias = channels(weight, input.ndim), channels(bias, input.ndim)
    if not training:
        return by_running(input, running_mean, running_var, weight, bias, eps)
    n = input.numel() // (input.shape[1] or 1)
    if n == 1:
        raise ValueError("Expected more than 1 value per channel when training")
    axes = (0, *range(2, input.ndim))
    unit, mean, variance, factor = unit_of(input.array, axes, eps)
    if running_mean is not None:
        for running, now in (running_mean, mean), (running_var, variance * n / (n - 1)):
            running.copy_(running * (1 - momentum) + Tensor(momentum * now.ravel()))
    return native_batch_norm(input, weight, bias, unit, factor, axes, eps)


def check_batch(input, training, eps, *parameters):
    """Raise RuntimeError if the arguments do not fit together."""
    fits = getattr(input, "ndim", 0) > 1 and input.is_floating_point() and eps >= 0
    expect(fits, "batch_norm: expected floats (N, C, ...), and eps >= 0", input, eps)
    names = "running_mean, running_var, weight and bias"
    expect_alike(names, input, input.shape[1:2], *parameters)
    missing = sum(x is None for x in parameters[:2])
    wanted = "running_mean and running_var must be defined, or neither in training"
    expect(missing == 0 or missing == 2 and training, wanted, *parameters[:2])


def by_running(input, running_mean, running_var, weight, bias, eps):
    """Normalize with fixed statistics: one scale and one shift for each channel."""
    mean = channels(running_mean.detach(), input.ndim)
    scale = 1 / (channels(running_var.detach(), input.ndim) + eps).sqrt()
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return called("NativeBatchNorm", input * scale + shift)


def channels(values, ndim):
    """Return one number per channel, in a shape that broadcasts with (N, C, ...)."""
    if values is None or ndim == 2:
        return values
    return values.reshape((-1,) + (1,) * (ndim - 2))


@np.errstate(all="ignore")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalize each example over its last axes, whose sizes are `normalized_shape`.

    Source: J. L. Ba et al., "Layer Normalization", 2016.
    """
    shape = sizes((normalized_shape,))
    if not shape or input.shape[-len(shape) :] != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, got {input.shape}")
    expect_alike("weight and bias", floats(input, "layer_norm"), shape, weight, bias)
    axes = tuple(range(-len(shape), 0))
    unit, _, _, factor = unit_of(input.array, axes, eps)
    out = native_batch_norm(input, weight, bias, unit, factor, axes, eps)
    return called("NativeLayerNorm", out)


class BatchNorm1d(Module):
    """Normalizes each channel of (N, C) or (N, C, L), over the batch in training.

    Source: S. Ioffe, C. Szegedy, "Batch Normalization", 2015.
    """

    dims = "2D or 3D"

    def __init__(self, num_features, eps: float = 1e-5, momentum: float | None = 0.1):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = Parameter(creation.ones(num_features))
        self.bias = Parameter(creation.zeros(num_features))
        self.register_buffer("running_mean", creation.zeros(num_features))
        self.register_buffer("running_var", creation.ones(num_features))
        self.register_buffer("num_batches_tracked", creation.tensor(0))

    def forward(self, input):
        if f"{input.ndim}D" not in self.dims:
            raise ValueError(f"expected {self.dims} input (got {input.ndim}D input)")
        momentum = self.momentum
        if self.training:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the mean of all batches
                momentum = 1 / self.num_batches_tracked.item()
        known = self.running_mean, self.running_var, self.weight, self.bias
        return batch_norm(input, *known, self.training, momentum, self.eps)


class BatchNorm2d(BatchNorm1d):
    """Normalizes each channel of (N, C, H, W), over the batch in training."""

    dims = "4D"


class LayerNorm(Module):
    """Normalizes each example over its last axes."""

    def __init__(self, normalized_shape: int | tuple, eps: float = 1e-5):
        super().__init__()
        self.normalized_shape, self.eps = normalized_shape, eps
        self.weight = Parameter(creation.ones(normalized_shape))
        self.bias = Parameter(creation.zeros(normalized_shape))

    def forward(self, input):
        return layer_norm(input, self.weight.shape, self.weight, self.bias, self.eps)
