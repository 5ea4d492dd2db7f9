"""Losses, from scores that may be of any size: each with its `reduction`."""

import math
import warnings

import numpy as np

from minigrad import ops, reductions
from minigrad.creation import ones_like
from minigrad.dtypes import int64
from minigrad.indexing import grid, taken
from minigrad.joint import same
from minigrad.op import Op, alike, called
from minigrad.sums import row_sums
from minigrad.tensor import Tensor


def check_reduction(reduction):
    """Raise ValueError for what is no way to take losses together."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"{reduction!r} is not a valid reduction: none, sum or mean")


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
    """Raise ValueError unless the target has the shape of the input."""
    if input.shape != target.shape:
        raise ValueError(
            f"{name}: target size ({target.shape}) must be the same as input size "
            f"({input.shape})"
        )


def fitting(name, input, target):
    """Return the two in one dtype; raise unless the target is of floats, and fits."""
    same_shape(name, input, target)
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
    lambda a, b: ops.sigmoid(a) - b,
    lambda a, b: -a,
)
SOFT = Op("LogSigmoid", soft, a=lambda g, a: -g * ops.sigmoid(-a))


def paired(name, input, target):
    """Return the two in one shape and one dtype; raise unless these are floats."""
    if input.shape != target.shape:
        warnings.warn(
            f"{name}: the target has the shape {target.shape}, the input {input.shape};"
            " they are broadcast, which is seldom what was meant",
            stacklevel=3,
        )
        shape = (input - target).shape
        input, target = input.expand(shape), target.expand(shape)
    input, target = alike(input, target)
    reductions.floats(name, input)
    return input, target


def mse_loss(input, target, *, reduction="mean"):
    """Return the squared differences, or their mean or sum.

    Shapes that differ are broadcast, with a warning.
    """
    check_reduction(reduction)
    input, target = paired("mse_loss", input, target)
    return SQUARED(input, target, reduction)


def l1_loss(input, target, *, reduction="mean"):
    """Return the absolute differences, or their mean or sum.

    Shapes that differ are broadcast, with a warning.
    """
    input, target = paired("l1_loss", input, target)
    return reduced(ops.abs(input - target), reduction)


def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """Return -(t log p + (1 - t) log(1 - p)) for probabilities p; logs end at -100."""
    check_reduction(reduction)
    same_shape("binary_cross_entropy", input, target)
    if input.dtype != target.dtype:
        raise RuntimeError(
            f"binary_cross_entropy: input is {input.dtype}, but target {target.dtype}"
        )
    for name, given in ("input", input), ("target", target):
        if not ((given.array >= 0) & (given.array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    if weight is None:
        return CROSS(input, target, reduction)
    check_constant(weight)
    return reduced(CROSS(input, target, "none") * weight, reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, *, reduction="mean", pos_weight=None
):
    """Return the binary cross-entropy of sigmoid(input), without ever computing that.

    pos_weight multiplies the part of the positive answers.
    """
    check_reduction(reduction)
    input, target = fitting("binary_cross_entropy_with_logits", input, target)
    if weight is None and pos_weight is None:
        return LOGITS(input, target, reduction)
    check_constant(weight, pos_weight)
    if pos_weight is None:
        losses = LOGITS(input, target, "none")
    else:
        weights = 1 + (pos_weight - 1) * target
        losses = (1 - target) * input + weights * SOFT(input)
    losses = losses if weight is None else losses * weight
    return called("BinaryCrossEntropyWithLogits", reduced(losses, reduction))


def check_constant(*weights):
    """Raise RuntimeError for weights that would learn."""
    if any(weight is not None and weight.requires_grad for weight in weights):
        raise RuntimeError("binary_cross_entropy: weights do not learn; detach() them")


# Classes

UNSIGNED = np.dtype("uint64")


def cross_entropy_of(input, target, reduction):
    """Return the cross-entropy of scores (N, C) and classes (N,), and the softmax."""
    below = input - input.max(axis=1, keepdims=True)
    power = np.exp(below)
    total = row_sums(power)
    right = np.arange(len(target)), target
    losses = np.log(total) - below[right]
    power /= total[:, None]
    return reduced(losses, reduction), {"share": power, "right": right}


def plain_cross_entropy(input, target, reduction):
    """Compose the same of plain operations."""
    logs = reductions.log_softmax(input, 1)
    return reduced(-logs[np.arange(len(target)), target], reduction)


def less_target(g, share, right, reduction):
    """Return the gradient of the scores: the softmax, less 1 at the right class."""
    g = each(g, right[1], reduction)
    difference = share.copy()
    difference[right] -= 1
    difference *= g[:, None] if reduction == "none" else g
    return difference


FUSED = Op("NllLoss", cross_entropy_of, plain=plain_cross_entropy, input=less_target)


def cross_entropy(
    input,
    target,
    weight=None,
    *,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
):
    """Return the cross-entropy of scores and the right classes.

    Scores of shape (N, C, ...) or (C,); the target holds class indices, of shape
    (N, ...) or (), or probabilities, of the scores' shape. `weight` weighs the classes;
    targets equal to ignore_index do not count; label_smoothing mixes the target with
    the uniform distribution (C. Szegedy et al., 2015).
    """
    check_reduction(reduction)
    check_scores(input, weight)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        )
    dim = 1 if input.array.ndim > 1 else 0
    if target.array.dtype.kind == "f":
        check_probabilities(input, target)
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
        logs = reductions.log_softmax(input, dim) * target
        if weight is not None:
            logs = logs * along_classes(weight, input)
        losses = -logs.sum(dim)
        if reduction == "mean":
            return called("DivBackward1", losses.sum() / (losses.numel() or math.nan))
        return reduced(losses, reduction)
    ignored = check_classes(input, target, ignore_index)
    if input.array.ndim == 2 and weight is None and not (label_smoothing or ignored):
        return FUSED.method(input, target.array, reduction)
    logs = reductions.log_softmax(input, dim)
    loss = nll_loss(
        logs, target, weight, ignore_index=ignore_index, reduction=reduction
    )
    if not label_smoothing:
        return loss
    weights = ones_like(input) if weight is None else along_classes(weight, input)
    smooth = ops.where(target != ignore_index, -(logs * weights).sum(dim), 0)
    if reduction == "mean":
        smooth = smooth.sum() / total_weight(input, target, weight, ignore_index)
    else:
        smooth = reduced(smooth, reduction)
    share = label_smoothing / input.shape[dim]
    return loss * (1 - label_smoothing) + smooth * share


def check_probabilities(input, target):
    """Raise unless the target has a probability for each score."""
    if target.ndim == input.ndim - 1:
        raise RuntimeError(
            f"cross_entropy: class indices have to be int64, not {target.dtype}: "
            "write target.long()"
        )
    same_shape("cross_entropy", input, target)


def along_classes(weight, input):
    """Return the classes' weights in a shape that broadcasts with (N, C, ...)."""
    return weight.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else weight


def check_scores(input, weight):
    """Raise RuntimeError unless the scores are floats, with a constant weight each."""
    reductions.floats("cross_entropy", input)
    if weight is None:
        return
    classes = input.shape[1 if input.ndim > 1 else 0]
    if (weight.shape, weight.dtype, weight.edge) != ((classes,), input.dtype, None):
        raise RuntimeError(
            f"weight has to be a constant {input.dtype} for each of the {classes} "
            f"classes; got {weight.dtype} of shape {weight.shape}, with requires_grad="
            f"{weight.requires_grad}"
        )


def check_classes(input, target, ignore_index):
    """Raise unless the target has a class for each of the scores (N, C, ...).

    Return whether some targets may have to be ignored.
    """
    scores, numbers = input.array.shape, target.array
    expected = scores[:1] + scores[2:] if len(scores) > 1 else ()
    if numbers.shape != expected:
        raise ValueError(
            f"scores of shape {input.shape} want a target of shape {expected}; "
            f"got {target.shape}"
        )
    if numbers.dtype != int64:
        raise RuntimeError(f"expected target of dtype int64, got {target.dtype}")
    classes = scores[:2][-1]
    if not numbers.size:
        return False
    worst = numbers.ravel()[numbers.view(UNSIGNED).argmax()]  # negative is very large
    if 0 <= worst < classes:
        return 0 <= ignore_index < classes
    bad = (numbers < 0) | (numbers >= classes)
    bad &= numbers != ignore_index
    if bad.any():
        raise IndexError(
            f"Target {numbers[bad][0]} is out of bounds: there are {classes} classes"
        )
    return True


def picked_weights(input, target, weight, ignore_index):
    """Return the weight of each target, and the targets with 0 for ignored ones."""
    counts = target.array != ignore_index
    safe = np.where(counts, target.array, 0)
    weights = counts.astype(input.dtype)
    return weights if weight is None else weights * weight.array[safe], safe


def total_weight(input, target, weight, ignore_index):
    """Return what the mean of losses divides by; 0 / 0 is nan if nothing counts."""
    return Tensor(picked_weights(input, target, weight, ignore_index)[0].sum())


def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """Return minus the log-probabilities of the right classes."""
    check_scores(input, weight)
    check_classes(input, target, ignore_index)
    weights, safe = picked_weights(input, target, weight, ignore_index)
    dim = 1 if input.ndim > 1 else 0
    index = grid(np.expand_dims(safe, dim), dim)
    losses = taken["Gather"](same(input), index).squeeze(dim) * -weights
    losses = ops.where(target != ignore_index, losses, 0)
    name = "NllLoss2D" if input.ndim > 2 else "NllLoss"
    if reduction == "mean":
        return called(name, losses.sum() / Tensor(weights.sum()))
    return called(name, reduced(losses, reduction))
