"""Pooling of images (N, C, H, W): the largest number of each window."""

import functools

import numpy as np

from minigrad.array.dtypes import zeros
from minigrad.errors import expect
from minigrad.nn.conv import batch_first, batch_last, out_size, pair, shifts
from minigrad.nn.module import Module
from minigrad.rules.joining import cat
from minigrad.rules.op import Op


def windows(kernel, size, stride):
    """For each position in a window, yield slices of its numbers in (N, C, H, W)."""
    for _, window in shifts(kernel, size, stride):
        yield (slice(None), *window)


def largest(a, kernel, stride):
    """Return the largest number in each window, and its (first) position."""
    size = out_size(a.shape, kernel, stride, (0, 0))
    parts = [a[window] for window in windows(kernel, size, stride)]
    out = functools.reduce(np.maximum, parts) if parts[1:] else parts[0].copy()
    smaller = parts[0] != out
    where = smaller.astype(np.int8 if len(parts) < 128 else np.int64)
    for part in parts[1:-1]:  # count the places before the first largest
        smaller &= part != out
        where += smaller
    for place, part in enumerate(parts if np.isnan(out).any() else ()):
        where[np.isnan(part)] = place  # of several nan, PyTorch takes the last
    return out, where


def to_largest(a, where, size, kernel, stride):
    """Return zeros of height and width `size`, with `a` where the maxima were."""
    n, c = a.shape[:2]
    out, a = batch_first(zeros((c, *size, n), a)), batch_first(batch_last(a))
    for i, window in enumerate(windows(kernel, a.shape[2:], stride)):
        out[window] += a * (where == i)
    return out


def from_largest(a, where, kernel, stride):
    """Return from each window the number at the position `where`."""
    n, c, i, j = np.indices(where.shape, sparse=True)
    (_, kw), (sh, sw) = kernel, stride
    return a[n, c, i * sh + where // kw, j * sw + where % kw]


max_pool2d_with_indices = Op(
    "MaxPool2DWithIndices",
    lambda a, largest, where, kernel, stride: largest,
    a=lambda g, where, shape, kernel, stride: max_unpool2d(
        g, where, shape[2:], kernel, stride
    ),
)
max_unpool2d = Op("MaxUnpool2D", to_largest, a=from_largest)


def edged(input, padding):
    """Return (N, C, H, W) with its edges repeated, which changes no maximum."""
    ph, pw = padding
    if ph:
        input = cat([input[:, :, :1]] * ph + [input] + [input[:, :, -1:]] * ph, 2)
    if pw:
        input = cat([input[..., :1]] * pw + [input] + [input[..., -1:]] * pw, 3)
    return input


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """Return the largest number in each window.

    If several numbers are largest, the first gets the gradient.
    """
    kernel, padding = pair(kernel_size), pair(padding)
    stride = kernel if stride is None else pair(stride)
    fits = all(0 <= p <= k // 2 for p, k in zip(padding, kernel))
    wanted = "pad must be non-negative, and should be at most half of the window"
    expect(fits, wanted, padding, kernel)
    fits = getattr(input, "ndim", 0) == 4
    fits = fits and min(*input.shape[1:], *kernel, *stride) > 0
    fits = fits and min(out_size(input.shape, kernel, stride, padding)) > 0
    wanted = f"max_pool2d: expected (N, C, H, W), and a window {kernel}, {stride} apart"
    expect(fits and input.dtype != bool, wanted, input)
    input = edged(input, padding)
    found = largest(input.array, kernel, stride)
    return max_pool2d_with_indices(input, *found, kernel, stride)


class MaxPool2d(Module):
    """The largest number in each window. The default stride is the window's size."""

    def __init__(self, kernel_size: int | tuple, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return max_pool2d(input, self.kernel_size, self.stride, self.padding)
