"""Losses of numbers and their targets, or of scores and the right classes."""

import math

import numpy as np

from minigrad.array.dtypes import floats, int64
from minigrad.array.sums import sums
from minigrad.errors import expect, expect_tensors
from minigrad.nn.module import Module
from minigrad.rules import pointwise
from minigrad.rules.fused import Fused
from minigrad.rules.op import Op, alike, called
from minigrad.rules.softmax import log_softmax


def reduced(losses, reduction):
    """Return the losses as they are, their sum or their mean."""
    if reduction == "none":
        return losses
    counts = {"sum": 1, "mean": math.prod(losses.shape) or math.nan}
    if reduction not in counts:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return losses.sum() / counts[reduction]


def each(g, a, reduction):
    """Return the gradient of each loss from the gradient of the reduced loss."""
    return g / (math.prod(a.shape) or math.nan) if reduction == "mean" else g


def loss_op(name, loss, slope, slope_of_target):
    """Return the Op of an elementwise loss of `a` and a target `b`, with reduction."""
    return Op(
        name,
        lambda a, b, reduction: reduced(loss(a, b), reduction),
        a=lambda g, a, b, reduction: each(g, a, reduction) * slope(a, b),
        b=lambda g, a, b, reduction: each(g, a, reduction) * slope_of_target(a, b),
    )


def check_shapes(input, target):
    """Raise ValueError for shapes that differ, because NumPy would broadcast them.

    Raise RuntimeError if both are integers or bools.
    """
    floats(alike(input, target)[0], "loss")
    wanted, got = input.shape, target.shape
    if got != wanted:
        raise ValueError(f"Target size {got} must be the same as input size {wanted}")


# Losses of numbers

squared_error = loss_op(
    "MseLoss",
    lambda a, b: np.square(a - b),
    lambda a, b: (a - b) * 2,
    lambda a, b: (b - a) * 2,
)


def mse_loss(input, target, *, reduction="mean"):
    """Return the squared differences, or their mean or sum."""
    check_shapes(input, target)
    return squared_error(*alike(input, target), reduction)


# Losses of scores for yes and no


def softplus(a):
    """Return log(1 + exp(-a)), without overflow."""
    return np.maximum(-a, 0) + np.log1p(np.exp(-np.abs(a)))


bce_with_logits = loss_op(
    "BinaryCrossEntropyWithLogits",
    lambda a, b: (1 - b) * a + softplus(a),
    lambda a, b: pointwise.sigmoid(a) - b,
    lambda a, b: -a,
)
log_sigmoid = Op(
    "LogSigmoid", lambda a: -softplus(a), a=lambda g, a: g * pointwise.sigmoid(-a)
)


def binary_cross_entropy_with_logits(
    input, target, *, reduction="mean", pos_weight=None
):
    """Return the binary cross-entropy of sigmoid(input), without the sigmoid itself.

    pos_weight multiplies the losses of the positive answers.
    """
    check_shapes(input, target)
    a, b = alike(input, target)
    if pos_weight is None:
        return bce_with_logits(a, b, reduction)
    losses = (1 - b) * a - (1 + (pos_weight - 1) * b) * log_sigmoid(a)
    check_shapes(losses, target)
    return called("BinaryCrossEntropyWithLogits", reduced(losses, reduction))


# Losses of scores for several classes


@np.errstate(all="ignore")
def cross_entropies(input, target):
    """Return the loss of each row of scores, and what their gradient needs."""
    rows = np.arange(len(target))
    below = input - input[rows, input.argmax(axis=1)][:, None]  # max() takes longer
    power = np.exp(below)
    total = sums(power, 1, False)
    right = rows, target
    return np.log(total) - below[right], power, total, right


def plain_cross_entropy(input, target, reduction, smoothing=0.0, **known):
    """Compose the loss from plain operations. They use nothing of what is `known`.

    `smoothing` mixes all classes into the target.
    """
    logs = log_softmax(input, 1)
    right, every = logs[np.arange(len(target)), target], logs.mean(1)
    return reduced((smoothing - 1) * right + -smoothing * every, reduction)


def less_target(g, power, total, right, reduction):
    """Return the gradient of the scores: the softmax, minus 1 at the right class."""
    g = each(g, right[1], reduction)
    slopes = power * (g / total)[:, None]
    slopes[right] -= g
    return slopes


def reduced_losses(input, target, reduction, losses, power, total, right):
    """Return the loss from what cross_entropies has returned."""
    return reduced(losses, reduction)


fused_cross_entropy = Fused(
    "NllLoss", reduced_losses, plain=plain_cross_entropy, input=less_target
)


def cross_entropy(input, target, *, reduction="mean", label_smoothing=0.0):
    """Return the cross-entropy of scores (N, C) and the right classes (N,), int64.

    label_smoothing, from 0 to 1, mixes the target with the uniform distribution (C.
    Szegedy et al., 2015). Raises RuntimeError if the arguments do not fit together, and
    IndexError for a class that does not exist.
    """
    expect_tensors("cross_entropy", input, target)
    fits = input.shape[:1] == target.shape and floats(input, "cross_entropy").ndim == 2
    wanted = "cross_entropy: expected target dtype to be Long, (N,), beside (N, C)"
    expect(fits and input.shape[1] > 0 and target.dtype == int64, wanted, target, input)
    smooth = 0 <= label_smoothing <= 1
    expect(smooth, "label_smoothing must be between 0.0 and 1.0", label_smoothing)
    strange = (target.array < 0) | (target.array >= input.shape[1])
    if strange.any():  # NumPy would count -1 from the end
        raise IndexError(f"Target {target.array[strange][0]} is out of bounds")
    if label_smoothing:
        return plain_cross_entropy(input, target.array, reduction, label_smoothing)
    known = cross_entropies(input.array, target.array)
    return fused_cross_entropy(input, target.array, reduction, *known)


# Losses as modules


class MSELoss(Module):
    """The mean of the squared differences."""

    def forward(self, input, target):
        return mse_loss(input, target)


class CrossEntropyLoss(Module):
    """The mean cross-entropy of scores (N, C) and the right classes (N,)."""

    def forward(self, input, target):
        return cross_entropy(input, target)
