"""Batch and layer normalisation: a fused rule, and the plain composition beside it."""

import math

import numpy as np

from minigrad.op import Op
from minigrad.tensor import Tensor


def unit_of(x, axes, eps):
    """Return (x - mean) / sqrt(variance + eps), mean, variance and 1 / sqrt(...)."""
    n = math.prod(x.shape[axis] for axis in axes)
    mean = np.add.reduce(x, axis=axes, keepdims=True) / n
    unit = x - mean
    variance = np.add.reduce(np.square(unit), axis=axes, keepdims=True) / n
    factor = 1 / np.sqrt(variance + x.dtype.type(eps))
    unit *= factor
    return unit, mean, variance, factor


def scaled(input, weight, bias, unit, factor, axes, eps):
    """Return unit * weight + bias, as arrays; unit and factor belong to the input."""
    out = unit.copy() if weight is None else unit * weight
    if bias is not None:
        out += bias
    return out


def from_scratch(input, weight, bias, unit, factor, axes, eps):
    """Compose the same of plain operations, from the input alone."""
    away = input - input.mean(axes, True)
    variance = (away * away).mean(axes, True)
    out = away / (variance + eps).sqrt()
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def through(g, weight, unit, factor, axes):
    """Return the gradient of the input, on which mean and factor depend, too."""
    g = g if weight is None else g * weight
    n = math.prod(g.shape[axis] for axis in axes)
    level = np.add.reduce(g, axis=axes, keepdims=True) / n
    slope = np.add.reduce(g * unit, axis=axes, keepdims=True) / n
    g = g - level
    g -= unit * slope
    g *= factor
    return g


NORMS = {
    name: Op(
        name,
        scaled,
        plain=from_scratch,
        input=through,
        weight=lambda g, unit: g * unit,
        bias=lambda g: g,
    )
    for name in ["NativeBatchNorm", "NativeLayerNorm"]
}
FIXED = Op(
    "NativeBatchNorm",
    lambda input, scale, shift: input * scale + shift,
    input=lambda g, scale: g * scale,
    scale=lambda g, input: g * input,
    shift=lambda g: g,
)


def channels(values, ndim):
    """Return one number a channel, in a shape that broadcasts with (N, C, ...)."""
    return values if values is None else values.reshape((1, -1) + (1,) * (ndim - 2))


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    """Normalise each channel of (N, C, ...), by the batch or by running statistics.

    In training the running statistics move towards the batch's, by `momentum`.
    Source: S. Ioffe, C. Szegedy, "Batch Normalization", 2015.
    """
    ndim, axes = input.ndim, (0, *range(2, input.ndim))
    for name, values in [("weight", weight), ("running_mean", running_mean)]:
        if values is not None and values.shape != input.shape[1:2]:
            raise RuntimeError(
                f"{name} should contain {input.shape[1:2]} elements not {values.shape}"
            )
    weight, bias = channels(weight, ndim), channels(bias, ndim)
    if not training and running_mean is not None:
        factor = 1 / np.sqrt(channels(running_var.array, ndim) + input.dtype.type(eps))
        mean = channels(running_mean.array, ndim)
        scale = Tensor(factor) if weight is None else weight * Tensor(factor)
        shift = scale * Tensor(-mean)
        return FIXED(input, scale, shift if bias is None else shift + bias)
    count = input.numel() // input.shape[1]
    if training and count <= 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{input.shape}"
        )
    unit, mean, variance, factor = unit_of(input.array, axes, eps)
    if training and running_mean is not None:
        unbiased = variance * (count / (count - 1))
        for running, now in [(running_mean, mean), (running_var, unbiased)]:
            running.array += momentum * (now.reshape(-1) - running.array)
    return NORMS["NativeBatchNorm"](input, weight, bias, unit, factor, axes, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalise each example over its last axes, those of `normalized_shape`.

    Source: J. L. Ba et al., "Layer Normalization", 2016.
    """
    shape = tuple(normalized_shape)
    if input.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size {input.shape}"
        )
    axes = tuple(range(-len(shape), 0))
    unit, _, _, factor = unit_of(input.array, axes, eps)
    return NORMS["NativeLayerNorm"](input, weight, bias, unit, factor, axes, eps)
