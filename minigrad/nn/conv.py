"""Convolution of images, (N, C, H, W).

In memory the batch comes last, behind strides that say otherwise: then every shift of
the kernel is a copy of long rows, and a convolution is one matrix product.
"""

import functools
import itertools
import math

import numpy as np

from minigrad.array.dtypes import zeros
from minigrad.array.fast_sums import product_in_pieces
from minigrad.nn.padding import pad
from minigrad.rules.joining import cat
from minigrad.rules.joint import join, unused
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors


def pair(value):
    """Return (height, width), also of a single number."""
    value = tuple(value) if hasattr(value, "__len__") else (value,)
    value = value * 2 if len(value) == 1 else value
    if len(value) != 2 or not all(isinstance(n, int | np.integer) for n in value):
        raise ValueError(f"expected one number, or (height, width); got {value}")
    return value


def batch_last(x):
    """Return an array (N, C, H, W) as (C, H, W, N) in one piece of memory."""
    x = x.transpose(1, 2, 3, 0)
    return x if x.flags.c_contiguous else x.copy()


def batch_first(x):
    """Return an array (C, H, W, N) seen as (N, C, H, W)."""
    return x.transpose(3, 0, 1, 2)


def framed(x, padding):
    """Return an array (C, H, W, N) in a frame of zeros."""
    (c, h, w, n), (ph, pw) = x.shape, padding
    if not ph and not pw:
        return x
    out = zeros((c, h + 2 * ph, w + 2 * pw, n), x)
    out[:, ph : ph + h, pw : pw + w] = x
    return out


@functools.lru_cache(maxsize=1000)
def shifts(kernel, size, stride, dilation):
    """List each place of the kernel, and the slices of its inputs in (C, H, W, N)."""
    found = []
    for place in itertools.product(*map(range, kernel)):
        spans = [
            slice(k * d, k * d + s * (n - 1) + 1, s)
            for k, d, s, n in zip(place, dilation, stride, size)
        ]
        found.append((place, (slice(None), *spans)))
    return found


def out_size(shape, kernel, stride, padding, dilation):
    """Return height and width of what a kernel makes of (N, C, H, W)."""
    return tuple(
        (length + 2 * p - d * (k - 1) - 1) // s + 1
        for length, k, s, p, d in zip(shape[2:], kernel, stride, padding, dilation)
    )


def patches(x, kernel, size, stride, padding, dilation):
    """Return the inputs of every output: (C * kh * kw, oh * ow * N)."""
    x = framed(batch_last(x), padding)
    columns = np.empty_like(x, shape=(len(x), *kernel, *size, x.shape[3]), order="C")
    for (i, j), window in shifts(kernel, size, stride, dilation):
        columns[:, i, j] = x[window]
    return columns.reshape(x.shape[0] * math.prod(kernel), -1)


def convolve(a, weight, bias, stride, padding, dilation):
    """Return the convolution of (N, C, H, W) with (O, C, kh, kw), as arrays."""
    size = out_size(a.shape, weight.shape[2:], stride, padding, dilation)
    columns = patches(a, weight.shape[2:], size, stride, padding, dilation)
    out = weight.reshape(len(weight), -1) @ columns
    if bias is not None:
        out += bias[:, None]
    return batch_first(out.reshape(len(weight), *size, len(a)))


def convolve_back(a, weight, size, stride, padding, dilation):
    """Return the gradient of an input of `size` (H, W); `a` is that of the output."""
    (o, c), kernel, spans = weight.shape[:2], weight.shape[2:], a.shape[2:]
    rows = batch_last(a).reshape(o, -1)
    columns = weight.reshape(o, -1).T @ rows
    columns = columns.reshape(c, *kernel, *spans, len(a))
    (h, w), (ph, pw) = size, padding
    out = zeros((c, h + 2 * ph, w + 2 * pw, len(a)), a)
    for (i, j), window in shifts(kernel, spans, stride, dilation):
        out[window] += columns[:, i, j]
    return batch_first(out[:, ph : ph + h, pw : pw + w])


def kernel_gradient(a, input, kernel, stride, padding, dilation):
    """Return the gradient of the weight; `a` is that of the output."""
    rows = batch_last(a).reshape(a.shape[1], -1)
    columns = patches(input, kernel, a.shape[2:], stride, padding, dilation)
    return product_in_pieces(rows, columns).reshape(a.shape[1], input.shape[1], *kernel)


# Each of the three is linear in its two arrays, and the others are its derivatives.
CONV = Op(
    "Convolution",
    convolve,
    a=lambda g, weight, shape, stride, padding, dilation: INPUT(
        g, weight, shape[2:], stride, padding, dilation
    ),
    weight=lambda g, a, shape, stride, padding, dilation: WEIGHT(
        g, a, shape[2:], stride, padding, dilation
    ),
    bias=lambda g: g.sum(axis=(0, 2, 3)),
)
INPUT = Op(
    "ConvolutionInput",
    convolve_back,
    a=lambda g, weight, stride, padding, dilation: CONV(
        g, weight, None, stride, padding, dilation
    ),
    weight=lambda g, a, shape, stride, padding, dilation: WEIGHT(
        a, g, shape[2:], stride, padding, dilation
    ),
)
WEIGHT = Op(
    "ConvolutionWeight",
    kernel_gradient,
    a=lambda g, input, stride, padding, dilation: CONV(
        input, g, None, stride, padding, dilation
    ),
    input=lambda g, a, shape, stride, padding, dilation: INPUT(
        a, g, shape[2:], stride, padding, dilation
    ),
)


join(CONV, "a", "weight", tie=unused)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Return the convolution of images (N, C, H, W) with kernels (O, C/groups, kh, kw).

    Every output is (length + 2 padding - dilation (kernel - 1) - 1) // stride + 1 long.
    """
    check_tensors("conv2d", input, weight)
    if input.ndim == 3 and weight.ndim == 4:
        one = conv2d(
            input.unsqueeze(0), weight, bias, stride, padding, dilation, groups
        )
        return one.squeeze(0)
    check_images(input, weight, groups)
    check_kernels(weight, bias, groups)
    stride, dilation = pair(stride), pair(dilation)
    check_padding(padding, stride)
    check_steps(stride, padding, dilation)
    if padding == "same":
        input, padding = framed_evenly(input, weight.shape[2:], dilation), 0
    padding = pair(0 if padding == "valid" else padding)
    size = out_size(input.shape, weight.shape[2:], stride, padding, dilation)
    if min(size) < 1:
        raise RuntimeError(
            f"Kernel size can't be greater than actual input size: "
            f"{weight.shape[2:]} in {input.shape[2:]} with padding {padding}"
        )
    if groups == 1:
        return CONV(input, weight, bias, stride, padding, dilation)
    parts = [input.chunk(groups, 1), weight.chunk(groups), [None] * groups]
    if bias is not None:
        parts[2] = bias.chunk(groups)
    outs = [CONV(*part, stride, padding, dilation) for part in zip(*parts)]
    return called("Convolution", cat(outs, 1))


def check_images(input, weight, groups):
    """Raise RuntimeError unless these are images and kernels of the same channels."""
    if input.ndim != 4 or weight.ndim != 4:
        raise RuntimeError(
            "conv2d wants an input (N, C, H, W) and a weight (O, C, kh, kw), "
            f"but got shapes {input.shape} and {weight.shape}"
        )
    if input.dtype != weight.dtype or input.dtype == bool:
        raise RuntimeError(
            f"conv2d: input is {input.dtype} and weight {weight.dtype}; both have to "
            "be numbers of one dtype"
        )
    if not all(input.shape[2:]) or not len(weight):
        raise RuntimeError(
            "conv2d: expected images with numbers, and an output channel or more, but "
            f"got shapes {input.shape} and {weight.shape}"
        )
    if input.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input {list(input.shape)} to have {weight.shape[1] * groups} "
            f"channels, but got {input.shape[1]} channels instead"
        )


def check_kernels(weight, bias, groups):
    """Raise RuntimeError unless weight, bias and groups fit together."""
    if groups < 1 or len(weight) % groups:
        raise RuntimeError(
            f"conv2d: {len(weight)} output channels cannot be shared by {groups} groups"
        )
    if bias is None:
        return
    check_tensors("conv2d", bias)
    if bias.shape != weight.shape[:1] or bias.dtype != weight.dtype:
        raise RuntimeError(
            f"conv2d: the weight is {weight.shape}, of {weight.dtype}; the bias has to "
            f"be {weight.shape[:1]}, but is {bias.shape}, of {bias.dtype}"
        )


def check_padding(padding, stride):
    """Raise ValueError for a word that says nothing, or one that is for steps of 1."""
    if isinstance(padding, str) and padding not in ("valid", "same"):
        raise ValueError(f"padding must be numbers, 'valid' or 'same', not {padding!r}")
    if padding == "same" and stride != (1, 1):
        raise ValueError("padding='same' is not supported for strided convolutions")


def check_steps(stride, padding, dilation):
    """Raise RuntimeError for steps that lead nowhere, or a frame of less than 0."""
    least = 0 if isinstance(padding, str) else min(pair(padding))
    if min(*stride, *dilation) < 1 or least < 0:
        raise RuntimeError(
            f"conv2d: stride {stride} and dilation {dilation} have to be 1 or more, "
            f"padding {padding} not negative"
        )


def framed_evenly(input, kernel, dilation):
    """Return images in a frame with which a convolution keeps their size."""
    (h, w) = (d * (k - 1) for k, d in zip(kernel, dilation))
    return pad(input, (w // 2, w - w // 2, h // 2, h - h // 2))
