"""Pooling of images, (N, C, H, W): the largest, or the mean, of each window.

Each pair of rules is one another's derivative.
"""

import functools
import math

import numpy as np

from minigrad.array.dtypes import float32, int64, zeros
from minigrad.graph.tensor import Tensor
from minigrad.nn.conv import batch_first, batch_last, out_size, pair, shifts
from minigrad.nn.padding import pad
from minigrad.rules.joining import cat
from minigrad.rules.joint import join, same
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors


def windows(kernel, size, stride, dilation=(1, 1)):
    """Yield the slices of (N, C, H, W) that each place of a window sees."""
    for _, window in shifts(kernel, size, stride, dilation):
        yield (slice(None), *window)


def largest(a, kernel, stride, dilation):
    """Return the largest number in each window, and which place it has (the first)."""
    size = out_size(a.shape, kernel, stride, (0, 0), dilation)
    parts = [a[window] for window in windows(kernel, size, stride, dilation)]
    out = functools.reduce(np.maximum, parts) if parts[1:] else parts[0].copy()
    smaller = parts[0] != out
    where = smaller.astype(np.int8 if len(parts) < 128 else np.int64)
    for part in parts[1:-1]:  # count the places before the first largest
        smaller &= part != out
        where += smaller.view(np.int8)
    if np.isnan(out).any():  # nan is not equal to nan: the last one counts
        for i, part in enumerate(parts):
            where[part != part] = i
    return out, {"where": where}


def blank(size, a, like):
    """Return zeros (N, C, *size) and `a`, laid out in memory as `like` is."""
    n, c = a.shape[:2]
    if like.strides[0] > like.itemsize:
        return zeros((n, c, *size), a), a
    return batch_first(zeros((c, *size, n), a)), batch_first(batch_last(a))


def apart(kernel, stride, dilation):
    """Return whether windows do not overlap: then to put is enough, and faster."""
    return all(d * (k - 1) < s for k, s, d in zip(kernel, stride, dilation))


def to_largest(a, where, size, kernel, stride, dilation):
    """Return zeros of height and width `size`, with `a` put where the largest were."""
    out, a = blank(size, a, where)
    for i, window in enumerate(windows(kernel, a.shape[2:], stride, dilation)):
        if apart(kernel, stride, dilation):
            np.multiply(a, where == i, out=out[window])
        else:
            out[window] += a * (where == i)
    return out


def from_largest(a, where, kernel, stride, dilation):
    """Return from each window the number that has the place `where`."""
    out = 0
    for i, window in enumerate(windows(kernel, where.shape[2:], stride, dilation)):
        out = out + a[window] * (where == i)
    return out


MAX = Op(
    "MaxPool2DWithIndices",
    largest,
    a=lambda g, where, shape, kernel, stride, dilation: PUT(
        g, where, shape[2:], kernel, stride, dilation
    ),
)


PUT = Op(
    "MaxUnpool2D",
    to_largest,
    a=lambda g, where, kernel, stride, dilation: PICK(
        g, where, kernel, stride, dilation
    ),
)


PICK = Op(
    "MaxPool2DPick",
    from_largest,
    a=lambda g, where, shape, kernel, stride, dilation: PUT(
        g, where, shape[2:], kernel, stride, dilation
    ),
)


def where_largest(a, kernel, stride, dilation):
    """Return which place the largest number has in each window."""
    return largest(a, kernel, stride, dilation)[1]["where"]


WHERE = Op("MaxPool2DWhere", where_largest)


def averages(a, kernel, stride, over):
    """Return the sum of each window over a number, or over one for each window."""
    size = out_size(a.shape, kernel, stride, (0, 0), (1, 1))
    total = sum(a[window] for window in windows(kernel, size, stride))
    return (total / over).astype(a.dtype, copy=False)  # integers stay integers


def to_all(a, size, kernel, stride):
    """Return zeros of height and width `size`, with `a` added to all of its window."""
    out, a = blank(size, a, a)
    for window in windows(kernel, a.shape[2:], stride):
        out[window] += a
    return out


AVG = Op(
    "AvgPool2D",
    averages,
    a=lambda g, shape, kernel, stride, over: SPREAD(
        g / over, shape[2:], kernel, stride
    ),
)


SPREAD = Op(
    "AvgPool2DBackward",
    to_all,
    a=lambda g, kernel, stride: AVG(g, kernel, stride, 1),
)


join(MAX, "a")
join(AVG, "a")


def extended(input, spans, stride, padding, ceil_mode, value):
    """Return images in a frame that pooling, in windows of `spans`, is to see."""
    padding, frame = pair(padding), []
    if any(not 0 <= p <= k // 2 for p, k in zip(padding, spans)):
        raise RuntimeError(
            f"pad should be from 0 to half of the window {spans}, not {padding}"
        )
    for n, k, s, p in zip(input.shape[2:], spans, stride, padding):
        rest = (n + 2 * p - k) % s if ceil_mode else 0
        more = s - rest if rest > 0 else 0
        frame = [p, p + (more if more < k - p else 0), *frame]  # not all in the frame
    return pad(input, frame, value=value) if any(frame) else input


def check_not_empty(input, axis):
    """Raise RuntimeError if images (N, C, H, W) have no numbers, from an axis on."""
    if not all(input.shape[axis:]):
        raise RuntimeError(f"expected images with numbers, but got {input.shape}")


def strides(stride, kernel_size):
    """Return the steps from window to window: without any, these lie side by side."""
    return pair(kernel_size if stride is None or np.size(stride) == 0 else stride)


def pooled(
    op, input, kernel_size, stride, padding, ceil_mode, value, dilation=1, over=None
):
    """Return images (N, C, H, W), or one (C, H, W), pooled in windows.

    `over` is a function of the sizes: what to divide by, where the operation asks.
    """
    options = kernel_size, stride, padding, ceil_mode, value, dilation, over
    if input.ndim == 3:
        one = pooled(op, input.unsqueeze(0), *options)
        return called(op.name, one.squeeze(0))
    if input.ndim != 4 or input.dtype == bool:
        raise RuntimeError(
            "expected images (N, C, H, W) of numbers, but got "
            f"{input.shape}, {input.dtype}"
        )
    kernel, dilation = pair(kernel_size), pair(dilation)
    stride = strides(stride, kernel_size)
    if min(kernel + stride + dilation) < 1:
        raise RuntimeError(
            f"kernel {kernel}, stride {stride}, dilation {dilation}: from 1 on"
        )
    check_not_empty(input, 1)
    spans = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    large = extended(input, spans, stride, padding, ceil_mode, value)
    size = out_size(large.shape, kernel, stride, (0, 0), dilation)
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size: {large.shape[2:]}. Calculated output size: {size}. "
            "Output size is too small"
        )
    if over is None:
        return op(large, kernel, stride, dilation)
    return op(large, kernel, stride, over(input.shape[2:], size, kernel, stride))


def max_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """Return the largest number in each window; of equals the first one counts.

    With ceil_mode a window may reach over the end. With return_indices, also where it
    is in its image, whose pixels are counted row by row.
    """
    check_tensors("max_pool2d", input)
    whole = input.dtype.kind == "i"
    lowest = np.iinfo(input.dtype).min if whole else -math.inf
    options = kernel_size, stride, padding, ceil_mode, lowest, dilation
    out = pooled(MAX, input, *options)
    if not return_indices:
        return out
    where = pooled(WHERE, input.detach(), *options).array
    steps = strides(stride, kernel_size), padding, dilation
    return out, Tensor(pixels(where, input.shape[-1], pair(kernel_size), *steps))


def pixels(where, width, kernel, *steps):
    """Return which pixel of its image, row by row, is at `where` in a window."""
    where = where.astype(int64)
    starts = [np.cumsum(np.ones_like(where), axis) - 1 for axis in (-2, -1)]
    places = where // kernel[1], where % kernel[1]
    row, column = (
        start * s - p + place * d
        for start, place, s, p, d in zip(starts, places, *map(pair, steps))
    )
    return row * width + column


def avg_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    """Return the mean of each window.

    The frame of zeros counts, unless count_include_pad says no; what a window sees
    beyond that, with ceil_mode, does not. divisor_override is what to divide by.
    """
    check_tensors("avg_pool2d", input)
    if divisor_override == 0:
        raise RuntimeError("avg_pool2d: divisor_override must not be zero")

    def over(shape, size, kernel, stride):
        if divisor_override is not None:
            return divisor_override
        if not ceil_mode and count_include_pad:
            return math.prod(kernel)
        spans = zip(shape, size, kernel, stride, pair(padding))
        counts = [seen(*span, count_include_pad) for span in spans]
        return np.outer(*counts).astype(float32)  # exact, and no float32 gets wider

    return pooled(AVG, input, kernel_size, stride, padding, ceil_mode, 0.0, 1, over)


def seen(length, size, kernel, stride, padding, count_include_pad):
    """Return how many places along an axis, that count, each window sees."""
    first = np.arange(size) * stride - padding
    last = np.minimum(first + kernel, length + padding)
    if not count_include_pad:
        first, last = np.maximum(first, 0), np.minimum(last, length)
    return last - first


def adaptive_avg_pool2d(input, output_size):
    """Return means over windows that give (N, C, *output_size)."""
    check_tensors("adaptive_avg_pool2d", input)
    if input.ndim not in (3, 4):
        raise RuntimeError(f"expected images (N, C, H, W), but got {input.shape}")
    wanted = (output_size,) * 2 if isinstance(output_size, int) else output_size
    if len(wanted) != 2 or any(n is not None and n < 0 for n in wanted):
        raise RuntimeError(
            f"output_size: expected a number or two, from 0 on; got {output_size}"
        )
    size = [n if m is None else m for m, n in zip(wanted, input.shape[-2:])]
    if size == [1, 1]:
        return input.mean((-1, -2), True)
    if input.ndim == 3:
        one = adaptive_avg_pool2d(input.unsqueeze(0), output_size)
        return called("AdaptiveAvgPool2D", one.squeeze(0))
    check_not_empty(input, 2)
    input = same(input)  # one function to PyTorch, see joint
    for dim, (out, length) in enumerate(zip(size, input.shape[2:])):
        spans = [(i * length // out, -(-(i + 1) * length // out)) for i in range(out)]
        index = (slice(None),) * (2 + dim)
        parts = [input[(*index, slice(*span))].mean(2 + dim, True) for span in spans]
        input = cat(parts, 2 + dim) if parts else input[(*index, slice(0))]
    return called("AdaptiveAvgPool2D", input)
