"""Losses of scores for classes: cross-entropy and the negative log-likelihood."""

import math

import numpy as np

from minigrad.array.dtypes import int64
from minigrad.array.fast_sums import row_sums
from minigrad.graph.tensor import Tensor
from minigrad.nn.losses import (
    check_constant,
    chosen,
    each,
    reduced,
    same_shape,
)
from minigrad.rules import pointwise, reductions, softmax
from minigrad.rules.indexing import grid, taken
from minigrad.rules.joint import same
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors
from minigrad.tensors.creation import ones_like

UNSIGNED = np.dtype("uint64")


def cross_entropy_of(input, target, reduction):
    """Return the cross-entropy of scores (N, C) and classes (N,), and its parts."""
    rows = np.arange(len(target))
    below = input - input[rows, input.argmax(axis=1)][:, None]  # max() takes longer
    power = np.exp(below)
    total = row_sums(power)
    right = rows, target
    losses = np.log(total) - below[right]
    extras = {"power": power, "total": total, "right": right}
    return reduced(losses, reduction), extras


def plain_cross_entropy(input, target, reduction):
    """Compose the same of plain operations."""
    logs = softmax.log_softmax(input, 1)
    return reduced(-logs[np.arange(len(target)), target], reduction)


def less_target(g, power, total, right, reduction):
    """Return the gradient of the scores: the softmax, less 1 at the right class."""
    g = each(g, right[1], reduction)
    slopes = power * (g / total)[:, None]
    slopes[right] -= g
    return slopes


FUSED = Op("NllLoss", cross_entropy_of, plain=plain_cross_entropy, input=less_target)


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """Return the cross-entropy of scores and the right classes.

    Scores of shape (N, C, ...) or (C,); the target holds class indices, of shape
    (N, ...) or (), or probabilities, of the scores' shape. `weight` weighs the classes;
    targets equal to ignore_index do not count; label_smoothing mixes the target with
    the uniform distribution (C. Szegedy et al., 2015).
    """
    reduction = chosen(size_average, reduce, reduction)
    check_tensors("cross_entropy", input, target)
    check_scores("cross_entropy", input, weight)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        )
    if target.array.dtype.kind == "f":
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is for class indices, not probabilities")
        return of_probabilities(input, target, weight, reduction, label_smoothing)
    ignored = check_classes(input, target, ignore_index)
    if input.array.ndim == 2 and weight is None and not (label_smoothing or ignored):
        return FUSED.method(input, target.array, reduction)
    dim = class_axis(input)
    logs = softmax.log_softmax(input, dim)
    options = {"ignore_index": ignore_index, "reduction": reduction}
    loss = nll_loss(logs, target, weight, **options)
    if not label_smoothing:
        return loss
    smooth = of_all_classes(logs, target, weight, **options)
    return loss * (1 - label_smoothing) + smooth * share_of_each(label_smoothing, input)


def class_axis(input):
    """Return which axis of the scores is that of the classes."""
    return 1 if input.array.ndim > 1 else 0


def share_of_each(label_smoothing, input):
    """Return the share of label smoothing that each class gets; nan without classes."""
    return label_smoothing / (input.shape[class_axis(input)] or math.nan)


def of_probabilities(input, target, weight, reduction, label_smoothing):
    """Return the cross-entropy for a target with a probability for each class."""
    check_probabilities(input, target)
    dim = class_axis(input)
    target = target * (1 - label_smoothing) + share_of_each(label_smoothing, input)
    logs = softmax.log_softmax(input, dim) * target
    if weight is not None:
        logs = logs * along_classes(weight, input)
    losses = -logs.sum(dim)
    if reduction == "mean":
        rows = losses.numel() if input.numel() else math.nan
        return called("DivBackward1", losses.sum() / rows)
    return reduced(losses, reduction)


def of_all_classes(logs, target, weight, ignore_index, reduction):
    """Return what label smoothing adds: minus the sum of all classes' logarithms."""
    weights = ones_like(logs) if weight is None else along_classes(weight, logs)
    counts = target != ignore_index
    losses = pointwise.where(counts, -(logs * weights).sum(class_axis(logs)), 0)
    if reduction == "mean":
        return losses.sum() / total_weight(logs, target, weight, ignore_index)
    return reduced(losses, reduction)


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


def check_scores(name, input, weight):
    """Raise unless the scores are floats, with a constant weight for each class."""
    reductions.floats(name, input)
    if weight is None:
        return
    check_constant(weight)
    classes = input.shape[class_axis(input)]
    if weight.shape != (classes,) or weight.dtype != input.dtype:
        raise RuntimeError(
            f"weight has to be a {input.dtype} for each of the {classes} classes; got "
            f"{weight.dtype} of shape {weight.shape}"
        )


def check_classes(input, target, ignore_index):
    """Raise unless the target has a class for each of the scores (N, C, ...).

    Return whether some targets may have to be ignored.
    """
    scores, numbers = input.array.shape, target.array
    expected = scores[:1] + scores[2:] if len(scores) > 1 else ()
    if numbers.shape != expected:
        kind = RuntimeError if numbers.shape[:1] == expected[:1] else ValueError
        raise kind(
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
    weights = 1 if weight is None else weight.array[safe]
    return np.where(counts, weights, 0).astype(input.dtype), safe


def total_weight(input, target, weight, ignore_index):
    """Return what the mean of losses divides by; 0 / 0 is nan if nothing counts."""
    return Tensor(picked_weights(input, target, weight, ignore_index)[0].sum())


def nll_loss(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
):
    """Return minus the log-probabilities of the right classes."""
    reduction = chosen(size_average, reduce, reduction)
    check_tensors("nll_loss", input, target)
    check_scores("nll_loss", input, weight)
    check_classes(input, target, ignore_index)
    weights, safe = picked_weights(input, target, weight, ignore_index)
    dim = class_axis(input)
    index = grid(np.expand_dims(safe, dim), dim)
    losses = taken["Gather"](same(input), index).squeeze(dim) * -weights
    losses = pointwise.where(target != ignore_index, losses, 0)
    name = "NllLoss2D" if input.ndim > 2 else "NllLoss"
    if reduction == "mean":
        return called(name, losses.sum() / Tensor(weights.sum()))
    return called(name, reduced(losses, reduction))
