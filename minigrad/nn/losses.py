"""Losses: each of numbers beside numbers, or of scores beside the right classes."""

import math

import numpy as np

from minigrad.array.sums import sums
from minigrad.nn.module import Module
from minigrad.rules import pointwise
from minigrad.rules.arguments import alike
from minigrad.rules.fused import Fused
from minigrad.rules.node_names import called
from minigrad.rules.op import Op
from minigrad.rules.softmax import log_softmax


def reduced(losses, reduction):
    """Return the losses as they are, their sum or their mean."""
    if reduction == "none":
        return losses
    counts = {"sum": 1, "mean": math.prod(losses.shape) or math.nan}
    return losses.sum() / counts[reduction]


def each(g, a, reduction):
    """Return the gradient of each loss, from that of what they were reduced to."""
    return g / (math.prod(a.shape) or math.nan) if reduction == "mean" else g


def loss_op(name, loss, slope, slope_of_target):
    """Return the Op of an elementwise loss of a and a target b, with its reduction."""
    return Op(
        name,
        lambda a, b, reduction: reduced(loss(a, b), reduction),
        a=lambda g, a, b, reduction: each(g, a, reduction) * slope(a, b),
        b=lambda g, a, b, reduction: each(g, a, reduction) * slope_of_target(a, b),
    )


def check_shapes(input, target):
    """Raise ValueError for shapes that differ: NumPy would broadcast them."""
    wanted, got = input.shape, target.shape
    if got != wanted:
        raise ValueError(f"Target size {got} must be the same as input size {wanted}")


# Of numbers

SQUARED = loss_op(
    "MseLoss",
    lambda a, b: np.square(a - b),
    lambda a, b: (a - b) * 2,
    lambda a, b: (b - a) * 2,
)


def mse_loss(input, target, *, reduction="mean"):
    """Return the squared differences, or their mean or sum."""
    check_shapes(input, target)
    return SQUARED(*alike(input, target), reduction)


# Of scores for yes and no


def soft(a):
    """Return log(1 + exp(-a)), without overflow."""
    return np.maximum(-a, 0) + np.log1p(np.exp(-np.abs(a)))


LOGITS = loss_op(
    "BinaryCrossEntropyWithLogits",
    lambda a, b: (1 - b) * a + soft(a),
    lambda a, b: pointwise.sigmoid(a) - b,
    lambda a, b: -a,
)
SOFT = Op("LogSigmoid", soft, a=lambda g, a: -g * pointwise.sigmoid(-a))


def binary_cross_entropy_with_logits(
    input, target, *, reduction="mean", pos_weight=None
):
    """Return the binary cross-entropy of sigmoid(input), without ever computing that.

    pos_weight multiplies the losses of the positive answers.
    """
    check_shapes(input, target)
    a, b = alike(input, target)
    if pos_weight is None:
        return LOGITS(a, b, reduction)
    losses = (1 - b) * a + (1 + (pos_weight - 1) * b) * SOFT(a)
    return called("BinaryCrossEntropyWithLogits", reduced(losses, reduction))


# Of scores for several classes


def cross_entropy_of(input, target, reduction):
    """Return the cross-entropy of scores (N, C) and classes (N,), and its parts."""
    rows = np.arange(len(target))
    below = input - input[rows, input.argmax(axis=1)][:, None]  # max() takes longer
    power = np.exp(below)
    total = sums(power, 1, False)
    right = rows, target
    losses = np.log(total) - below[right]
    extras = {"power": power, "total": total, "right": right}
    return reduced(losses, reduction), extras


def plain_cross_entropy(input, target, reduction, smoothing=0.0):
    """Compose the same of plain operations; `smoothing` mixes all classes in."""
    logs = log_softmax(input, 1)
    right, every = logs[np.arange(len(target)), target], logs.mean(1)
    return reduced((smoothing - 1) * right + -smoothing * every, reduction)


def less_target(g, power, total, right, reduction):
    """Return the gradient of the scores: the softmax, less 1 at the right class."""
    g = each(g, right[1], reduction)
    slopes = power * (g / total)[:, None]
    slopes[right] -= g
    return slopes


FUSED = Fused("NllLoss", cross_entropy_of, plain=plain_cross_entropy, input=less_target)


def cross_entropy(input, target, *, reduction="mean", label_smoothing=0.0):
    """Return the cross-entropy of scores (N, C) and the right classes (N,), int64.

    label_smoothing mixes the target with the uniform distribution (C. Szegedy et al.,
    2015).
    """
    shapes_fit = input.ndim == 2 and input.shape[:1] == target.shape
    if not shapes_fit or (target.array < 0).any():  # NumPy would count from the end
        raise ValueError("cross_entropy takes scores (N, C) and classes (N,) from 0 on")
    if label_smoothing:
        return plain_cross_entropy(input, target.array, reduction, label_smoothing)
    return FUSED(input, target.array, reduction)


# As modules


class MSELoss(Module):
    """The mean of the squared differences."""

    def forward(self, input, target):
        return mse_loss(input, target)


class CrossEntropyLoss(Module):
    """The mean cross-entropy of scores (N, C) and the right classes (N,)."""

    def forward(self, input, target):
        return cross_entropy(input, target)
