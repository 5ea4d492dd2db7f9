"""Losses number by number, each with its `reduction`; for classes see class_losses."""

import math
import warnings

import numpy as np

from minigrad.graph.tensor import Tensor, kind
from minigrad.rules import pointwise, reductions
from minigrad.rules.op import Op, alike, called, to_dtype
from minigrad.rules.operands import check_tensors


def check_reduction(reduction):
    """Raise ValueError for what is no way to take losses together."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"{reduction!r} is not a valid reduction: none, sum or mean")


def chosen(size_average, reduce, reduction):
    """Return the reduction; programs from before PyTorch 0.4 say it by two words."""
    if size_average is not None or reduce is not None:
        size_average, reduce = size_average is not False, reduce is not False
        reduction = ("mean" if size_average else "sum") if reduce else "none"
        warnings.warn(
            f"size_average and reduce are old words: write reduction={reduction!r}",
            stacklevel=3,
        )
    check_reduction(reduction)
    return reduction


def reduced(losses, reduction):
    """Return the losses as they are, their sum or their mean."""
    check_reduction(reduction)
    if reduction == "none":
        return losses
    if isinstance(losses, Tensor):
        return losses.sum() if reduction == "sum" else losses.mean()
    total = np.add.reduce(losses, axis=None)
    return total if reduction == "sum" else total / (losses.size or math.nan)


def same_shape(name, input, target):
    """Raise TypeError or ValueError unless the two are tensors of one shape."""
    check_tensors(name, input, target)
    if input.shape != target.shape:
        raise ValueError(
            f"{name}: target size {target.shape} must be the same as input size "
            f"{input.shape}"
        )


def fitting(name, input, target):
    """Return the two in one dtype; raise unless they are floats, and fit together."""
    same_shape(name, input, target)
    reductions.floats(name, input)
    if not target.is_floating_point():
        raise RuntimeError(f"{name}: target has to be of floats, not {target.dtype}")
    return (input, target) if input.dtype == target.dtype else alike(input, target)


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


def log_of(a):
    """Return the logarithm, but not less than -100, as PyTorch does."""
    return np.maximum(np.log(a), -100)


def soft(a):
    """Return log(1 + exp(-a)), without overflow."""
    return np.maximum(-a, 0) + np.log1p(np.exp(-np.abs(a)))


SQUARED = loss_op(
    "MseLoss",
    lambda a, b: np.square(a - b),
    lambda a, b: (a - b) * 2,
    lambda a, b: (b - a) * 2,
)
CROSS = loss_op(
    "BinaryCrossEntropy",
    lambda a, b: -(b * log_of(a) + (1 - b) * log_of(1 - a)),
    lambda a, b: (a - b) / np.maximum((1 - a) * a, 1e-12),
    lambda a, b: np.log(1 - a) - np.log(a),
)
LOGITS = loss_op(
    "BinaryCrossEntropyWithLogits",
    lambda a, b: (1 - b) * a + soft(a),
    lambda a, b: pointwise.sigmoid(a) - b,
    lambda a, b: -a,
)
SOFT = Op("LogSigmoid", soft, a=lambda g, a: -g * pointwise.sigmoid(-a))


def paired(name, input, target):
    """Return the two in one shape, with a warning if they are not."""
    check_tensors(name, input, target)
    if input.shape != target.shape:
        warnings.warn(
            f"{name}: the target has the shape {target.shape}, the input {input.shape};"
            " they are broadcast, which is seldom what was meant",
            stacklevel=3,
        )
        shape = (input - target).shape
        input, target = input.expand(shape), target.expand(shape)
    return input, target


def mse_loss(
    input, target, size_average=None, reduce=None, reduction="mean", weight=None
):
    """Return the squared differences, or their mean, or weighted mean, or sum.

    Shapes that differ are broadcast, with a warning.
    """
    reduction = chosen(size_average, reduce, reduction)
    input, target = alike(*paired("mse_loss", input, target))
    reductions.floats("mse_loss", input)
    if weight is None:
        return SQUARED(input, target, reduction)
    return weighted(SQUARED(input, target, "none"), weight, reduction)


def l1_loss(
    input, target, size_average=None, reduce=None, reduction="mean", weight=None
):
    """Return the absolute differences, or their mean, or weighted mean, or sum.

    Shapes that differ are broadcast, with a warning.
    """
    reduction = chosen(size_average, reduce, reduction)
    input, target = paired("l1_loss", input, target)
    losses = pointwise.abs(input - target)
    if weight is None:
        return reduced(losses, reduction)
    return weighted(losses, weight, reduction)


def weighted(losses, weight, reduction):
    """Return losses times their weights, or the sum of that, or the weighted mean."""
    if weight.shape != losses.shape:
        raise ValueError(
            f"weight {weight.shape} must be the same size as the input {losses.shape}"
        )
    losses = losses * weight
    if reduction == "none":
        return losses
    return losses.sum() / (weight.sum() if reduction == "mean" else 1)


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Return -(t log p + (1 - t) log(1 - p)) for probabilities p; logs end at -100."""
    reduction = chosen(size_average, reduce, reduction)
    same_shape("binary_cross_entropy", input, target)
    if input.dtype != target.dtype:
        raise RuntimeError(
            f"binary_cross_entropy: input is {input.dtype}, but target {target.dtype}"
        )
    reductions.floats("binary_cross_entropy", input)
    for name, given in ("input", input), ("target", target):
        if not ((given.array >= 0) & (given.array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    if weight is None:
        return CROSS(input, target, reduction)
    check_constant(weight)
    return reduced(CROSS(input, target, "none") * weight, reduction)


def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    """Return the binary cross-entropy of sigmoid(input), without ever computing that.

    pos_weight multiplies the part of the positive answers. The target's dtype is the
    loss's, too.
    """
    reduction = chosen(size_average, reduce, reduction)
    a, b = fitting("binary_cross_entropy_with_logits", input, target)
    if weight is None and pos_weight is None:
        return to_dtype(LOGITS(a, b, reduction), target.dtype)
    losses = weighted_logits(a, b, weight, pos_weight)
    loss = to_dtype(reduced(losses, reduction), target.dtype)
    return called("BinaryCrossEntropyWithLogits", loss)


def weighted_logits(a, b, weight, pos_weight):
    """Return the losses of logits a, with weights for all or for positive answers."""
    check_constant(weight, pos_weight)
    if pos_weight is None:
        losses = LOGITS(a, b, "none")
    else:
        weights = 1 + (pos_weight - 1) * b
        losses = (1 - b) * a + weights * SOFT(a)
    return losses if weight is None else losses * weight


def check_constant(*weights):
    """Raise unless weights are tensors, or None, and would not learn."""
    for weight in weights:
        if not isinstance(weight, Tensor | None):
            raise TypeError(
                f"a weight, or pos_weight, must be Tensor, not {kind(weight)}: write "
                f"minigrad.tensor({weight})"
            )
        if weight is not None and weight.requires_grad:
            raise RuntimeError("a weight, or pos_weight, does not learn; detach() it")
