"""Batch and layer normalisation: a fused rule, and the plain composition beside it."""

import numpy as np

from minigrad.op import Op
from minigrad.tensor import Tensor


def scaled(input, weight, bias, mean, factor, axes, eps):
    """Return (x - mean) * factor * weight + bias, as arrays, and the part in front."""
    unit = (input - mean) * factor
    out = unit if weight is None else unit * weight
    return out if bias is None else out + bias, {"unit": unit}


def from_scratch(input, weight, bias, mean, factor, axes, eps):
    """Compose the same of plain operations: mean and factor depend on the input."""
    away = input - input.mean(axes, True)
    variance = (away * away).mean(axes, True)
    out = away / (variance + eps).sqrt()
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def through(g, weight, unit, factor, axes):
    """Return the gradient of the input; its mean and its factor depend on it, too."""
    g = g if weight is None else g * weight
    slope = np.mean(g * unit, axis=axes, keepdims=True)
    return (g - g.mean(axis=axes, keepdims=True) - unit * slope) * factor


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


def statistics(x, axes):
    """Return the mean and the variance (over the count) along some axes."""
    mean = x.mean(axis=axes, keepdims=True)
    return mean, np.square(x - mean).mean(axis=axes, keepdims=True)


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
    mean, variance = statistics(input.array, axes)
    if training and running_mean is not None:
        unbiased = variance * (count / (count - 1))
        for running, now in [(running_mean, mean), (running_var, unbiased)]:
            running.array += momentum * (now.reshape(-1) - running.array)
    factor = 1 / np.sqrt(variance + input.dtype.type(eps))
    return NORMS["NativeBatchNorm"](input, weight, bias, mean, factor, axes, eps)


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
    mean, variance = statistics(input.array, axes)
    factor = 1 / np.sqrt(variance + input.dtype.type(eps))
    return NORMS["NativeLayerNorm"](input, weight, bias, mean, factor, axes, eps)
