"""Batch and layer normalization: a fused rule, and the plain composition beside it."""

import numpy as np

from minigrad.array.fast_sums import means
from minigrad.rules.in_place import write
from minigrad.rules.joint import join, unused
from minigrad.rules.op import Op
from minigrad.rules.operands import check_tensors
from minigrad.rules.reductions import floats


def unit_of(x, axes, eps):
    """Return (x - mean) / sqrt(variance + eps), mean, variance and 1 / sqrt(...)."""
    mean = means(x, axes)
    away = x - mean
    variance = means(np.square(away), axes)
    factor = 1 / np.sqrt(variance + eps)
    return away * factor, mean, variance, factor


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
    level, slope = means(g, axes), means(g * unit, axes)
    return (g - level - slope * unit) * factor


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
join(NORMS["NativeBatchNorm"], "input", "weight", tie=unused)
join(NORMS["NativeLayerNorm"], "input", "weight", "bias", tie=unused)
join(FIXED, "input", "scale", tie=unused)


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
    """Normalize each channel of (N, C, ...), by the batch or by running statistics.

    In training the running statistics move towards the batch's, by `momentum`.
    Source: S. Ioffe, C. Szegedy, "Batch Normalization", 2015.
    """
    check_channels(input, weight, bias, running_mean, running_var, training, eps)
    weight, bias = channels(weight, input.ndim), channels(bias, input.ndim)
    if not training and running_mean is not None:
        return by_running(input, running_mean, running_var, weight, bias, eps)
    axes = (0, *range(2, input.ndim))
    unit, mean, variance, factor = unit_of(input.array, axes, eps)
    if training and running_mean is not None and unit.size:
        n = unit.size // mean.size
        unbiased = variance * (n / (n - 1))
        for running, now in (running_mean, mean), (running_var, unbiased):
            write(
                running.array, (1 - momentum) * running.array + momentum * now.ravel()
            )
    return NORMS["NativeBatchNorm"](input, weight, bias, unit, factor, axes, eps)


def by_running(input, running_mean, running_var, weight, bias, eps):
    """Normalize by fixed statistics: one scale and one shift for each channel."""
    mean = channels(running_mean.detach(), input.ndim)
    scale = 1 / (channels(running_var.detach(), input.ndim) + eps).sqrt()
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return FIXED(input, scale, shift)


def channels(values, ndim):
    """Return one number a channel, in a shape that broadcasts with (N, C, ...)."""
    if values is None or ndim == 2:
        return values
    return values.reshape((-1,) + (1,) * (ndim - 2))


def check_channels(input, weight, bias, running_mean, running_var, training, eps):
    """Raise unless there is a number for each channel, and enough to learn from."""
    check_tensors("batch_norm", input)
    floats("batch_norm", input)
    names = "weight", "bias", "running_mean", "running_var"
    for name, values in zip(names, (weight, bias, running_mean, running_var)):
        check_like(name, values, input.shape[1:2] or (0,), input.dtype)
    if not training and (running_mean is None or running_var is None):
        raise ValueError(
            "expected running_mean and running_var to be defined when training=False"
        )
    if (running_mean is None) != (running_var is None):
        raise ValueError("expected running_mean and running_var, or neither")
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, not {eps}")
    if input.ndim < 2 and input.numel():
        raise IndexError(f"batch_norm wants an input (N, C, ...), not {input.shape}")
    if training and input.numel() and input.numel() == input.shape[1]:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{input.shape}"
        )


def check_like(name, values, shape, dtype):
    """Raise RuntimeError unless what a norm goes by has this shape and dtype."""
    if values is None:
        return
    check_tensors(name, values)
    if values.shape != shape or values.dtype != dtype:
        raise RuntimeError(
            f"{name} should be of shape {shape} and {dtype}, as the input; got "
            f"{values.shape} and {values.dtype}"
        )


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalize each example over its last axes, those of `normalized_shape`.

    Source: J. L. Ba et al., "Layer Normalization", 2016.
    """
    check_tensors("layer_norm", input)
    shape = tuple(normalized_shape)
    if input.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size {input.shape}"
        )
    floats("layer_norm", input)
    check_like("weight", weight, shape, input.dtype)
    check_like("bias", bias, shape, input.dtype)
    axes = tuple(range(-len(shape), 0))
    unit, _, _, factor = unit_of(input.array, axes, eps)
    return NORMS["NativeLayerNorm"](input, weight, bias, unit, factor, axes, eps)
