"""Convolution of images, (N, C, H, W).

In memory the batch is the last axis, although a view shows it as the first. So each
shift of the kernel copies long rows. A convolution is one matrix product of these
copies.
"""

import functools
import itertools
import math

import numpy as np

from minigrad.array.dtypes import zeros
from minigrad.array.sums import product_in_pieces
from minigrad.errors import expect, expect_alike, expect_tensors
from minigrad.nn import init
from minigrad.nn.module import Module, Parameter
from minigrad.rules.op import Op
from minigrad.tensors import creation


def pair(value):
    """Return (height, width), even if `value` is a single number."""
    both = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(both) != 2 or not all(isinstance(n, int | np.integer) for n in both):
        raise TypeError(f"expected a whole number, or a pair of them, not {value!r}")
    return both


def batch_last(x):
    """Return an array (N, C, H, W) as (C, H, W, N) in contiguous memory."""
    x = x.transpose(1, 2, 3, 0)
    return x if x.flags.c_contiguous else x.copy()


def batch_first(x):
    """Return a view of an array (C, H, W, N) as (N, C, H, W)."""
    return x.transpose(3, 0, 1, 2)


def padded(x, padding):
    """Return an array (C, H, W, N) padded with zeros."""
    ph, pw = padding
    return np.pad(x, ((0, 0), (ph, ph), (pw, pw), (0, 0))) if ph or pw else x


@functools.lru_cache(maxsize=1000)
def shifts(kernel, size, stride):
    """List each place in the kernel with the slices of its inputs in (C, H, W, N)."""
    found = []
    for place in itertools.product(*map(range, kernel)):
        spans = [
            slice(k, k + s * (n - 1) + 1, s) for k, s, n in zip(place, stride, size)
        ]
        found.append((place, (slice(None), *spans)))
    return found


def out_size(shape, kernel, stride, padding):
    """Return the height and the width of the result for images (N, C, H, W)."""
    return tuple(
        (length + 2 * p - k) // s + 1
        for length, k, s, p in zip(shape[2:], kernel, stride, padding)
    )


def im2col(x, kernel, size, stride, padding):
    """Return the inputs of every output: (C * kh * kw, oh * ow * N)."""
    x = padded(batch_last(x), padding)
    columns = np.empty_like(x, shape=(len(x), *kernel, *size, x.shape[3]), order="C")
    for (i, j), window in shifts(kernel, size, stride):
        columns[:, i, j] = x[window]
    return columns.reshape(x.shape[0] * math.prod(kernel), -1)


def convolve(a, weight, bias, stride, padding):
    """Return the convolution of (N, C, H, W) with (O, C, kh, kw), as arrays."""
    size = out_size(a.shape, weight.shape[2:], stride, padding)
    columns = im2col(a, weight.shape[2:], size, stride, padding)
    out = weight.reshape(len(weight), -1) @ columns
    if bias is not None:
        out += bias[:, None]
    return batch_first(out.reshape(len(weight), *size, len(a)))


def convolve_back(a, weight, size, stride, padding):
    """Return the gradient of an input of shape `size`. `a` is the output's gradient."""
    (o, c), kernel, spans = weight.shape[:2], weight.shape[2:], a.shape[2:]
    rows = batch_last(a).reshape(o, -1)
    columns = weight.reshape(o, -1).T @ rows
    columns = columns.reshape(c, *kernel, *spans, len(a))
    (h, w), (ph, pw) = size[-2:], padding
    out = zeros((c, h + 2 * ph, w + 2 * pw, len(a)), a)
    for (i, j), window in shifts(kernel, spans, stride):
        out[window] += columns[:, i, j]
    return batch_first(out[:, ph : ph + h, pw : pw + w])


def kernel_gradient(a, input, kernel, stride, padding):
    """Return the gradient of the weight. `a` is the output's gradient."""
    rows, kernel = batch_last(a).reshape(a.shape[1], -1), kernel[-2:]
    columns = im2col(input, kernel, a.shape[2:], stride, padding)
    return product_in_pieces(rows, columns).reshape(a.shape[1], input.shape[1], *kernel)


# Each of the three is linear in its two arrays. Its derivatives are the other two.
convolution = Op(
    "Convolution",
    convolve,
    a=lambda g, weight, shape, stride, padding: conv2d_input(
        g, weight, shape, stride, padding
    ),
    weight=lambda g, a, shape, stride, padding: conv2d_weight(
        g, a, shape, stride, padding
    ),
    bias=lambda g: g.sum(axis=(0, 2, 3)),
)
conv2d_input = Op(
    "ConvolutionInput",
    convolve_back,
    a=lambda g, weight, stride, padding: convolution(g, weight, None, stride, padding),
    weight=lambda g, a, shape, stride, padding: conv2d_weight(
        a, g, shape, stride, padding
    ),
)
conv2d_weight = Op(
    "ConvolutionWeight",
    kernel_gradient,
    a=lambda g, input, stride, padding: convolution(input, g, None, stride, padding),
    input=lambda g, a, shape, stride, padding: conv2d_input(
        a, g, shape, stride, padding
    ),
)


def conv2d(input, weight, bias=None, stride=1, padding=0):
    """Return the convolution of images (N, C, H, W) with kernels (O, C, kh, kw).

    Height and width of the result are (length + 2 padding - kernel) // stride + 1.
    """
    expect_tensors("conv2d", input, weight)
    stride, padding = pair(stride), pair(padding)
    fits = input.ndim == weight.ndim == 4 and input.shape[1] == weight.shape[1]
    fits = fits and input.dtype == weight.dtype != bool
    expect(fits, "conv2d: expected (N, C, H, W) and (O, C, h, w)", input, weight)
    expect_alike("conv2d's bias", input, weight.shape[:1], bias)
    fits = min(*stride, *weight.shape) > 0 <= min(padding)
    unfit = "non-positive stride, negative padding or an empty weight is not supported"
    expect(fits, f"conv2d: {unfit}", stride, padding, weight)
    fits = min(out_size(input.shape, weight.shape[2:], stride, padding)) > 0
    expect(fits, "Kernel size can't be greater than actual input size", input, weight)
    return convolution(input, weight, bias, stride, padding)


class Conv2d(Module):
    """The convolution of images (N, in_channels, H, W).

    Weight and bias start as random numbers, uniform between -b and b, where b is
    1 / sqrt(in_channels * kernel height * kernel width).
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, *, bias=True
    ):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = pair(kernel_size), pair(stride)
        self.padding = pair(padding)
        shape = out_channels, in_channels, *self.kernel_size
        self.weight = Parameter(creation.empty(shape))
        bias = Parameter(creation.empty(out_channels)) if bias else None
        self.register_parameter("bias", bias)
        for parameter in self.parameters():
            bound = 1 / math.sqrt(init.fan(self.weight, "fan_in"))
            init.uniform_(parameter, -bound, bound)

    def forward(self, input):
        return conv2d(input, self.weight, self.bias, self.stride, self.padding)
