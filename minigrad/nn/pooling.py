"""Pooling of images, (N, C, H, W): the largest of each window, or the mean of all."""

import functools
import math

import numpy as np

from minigrad.array.dtypes import zeros
from minigrad.nn.conv import batch_first, batch_last, out_size, pair, shifts
from minigrad.nn.module import Module
from minigrad.nn.padding import pad
from minigrad.rules.op import Op


def windows(kernel, size, stride):
    """Yield the slices of (N, C, H, W) that each place of a window sees."""
    for _, window in shifts(kernel, size, stride):
        yield (slice(None), *window)


def largest(a, kernel, stride):
    """Return the largest number in each window, and which place it has (the first)."""
    size = out_size(a.shape, kernel, stride, (0, 0))
    parts = [a[window] for window in windows(kernel, size, stride)]
    out = functools.reduce(np.maximum, parts) if parts[1:] else parts[0].copy()
    smaller = parts[0] != out
    where = smaller.astype(np.int8 if len(parts) < 128 else np.int64)
    for part in parts[1:-1]:  # count the places before the first largest
        smaller &= part != out
        where += smaller
    return out, {"where": where}


def to_largest(a, where, size, kernel, stride):
    """Return zeros of height and width `size`, with `a` put where the largest were."""
    n, c = a.shape[:2]
    out, a = batch_first(zeros((c, *size, n), a)), batch_first(batch_last(a))
    for i, window in enumerate(windows(kernel, a.shape[2:], stride)):
        out[window] += a * (where == i)
    return out


def from_largest(a, where, kernel, stride):
    """Return from each window the number that has the place `where`."""
    n, c, i, j = np.indices(where.shape, sparse=True)
    (_, kw), (sh, sw) = kernel, stride
    return a[n, c, i * sh + where // kw, j * sw + where % kw]


MAX = Op(
    "MaxPool2DWithIndices",
    largest,
    a=lambda g, where, shape, kernel, stride: PUT(g, where, shape[2:], kernel, stride),
)
PUT = Op("MaxUnpool2D", to_largest, a=from_largest)


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """Return the largest number in each window; of equals the first one counts."""
    kernel, (ph, pw) = pair(kernel_size), pair(padding)
    stride = kernel if stride is None else pair(stride)
    if ph > kernel[0] // 2 or pw > kernel[1] // 2:  # a window might see nothing else
        raise RuntimeError(f"pad should be at most half of the window {kernel}")
    if input.ndim != 4 or min(out_size(input.shape, kernel, stride, (ph, pw))) < 1:
        raise RuntimeError(f"max_pool2d: no window {kernel} fits into {input.shape}")
    if ph or pw:
        input = pad(input, (pw, pw, ph, ph), value=-math.inf)
    return MAX(input, kernel, stride)


class MaxPool2d(Module):
    """The largest number in each window; windows touch, unless a stride is given."""

    def __init__(self, kernel_size: int | tuple, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return max_pool2d(input, self.kernel_size, self.stride, self.padding)
