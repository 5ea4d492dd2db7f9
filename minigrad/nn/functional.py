"""Functions of neural networks: torch.nn.functional's, each with its rule."""

import math

import numpy as np

from minigrad.array.dtypes import bool_, check_holds
from minigrad.array.fast_sums import VERY_LONG, column_sums, product_in_pieces
from minigrad.graph.tensor import Tensor
from minigrad.nn.class_losses import cross_entropy, nll_loss  # noqa: F401
from minigrad.nn.conv import conv2d  # noqa: F401
from minigrad.nn.losses import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    l1_loss,
    mse_loss,
)
from minigrad.nn.norm import batch_norm, layer_norm  # noqa: F401
from minigrad.nn.padding import pad  # noqa: F401
from minigrad.nn.pool import (  # noqa: F401
    adaptive_avg_pool2d,
    avg_pool2d,
    max_pool2d,
)
from minigrad.rules import pointwise
from minigrad.rules.in_place import overwrite
from minigrad.rules.indexing import check_places, taken
from minigrad.rules.joint import join
from minigrad.rules.matrix_products import matmul
from minigrad.rules.op import Op, called
from minigrad.rules.operands import check_tensors
from minigrad.rules.reductions import floats
from minigrad.rules.softmax import log_softmax as log_softmax_op
from minigrad.rules.softmax import softmax as softmax_op
from minigrad.tensors import creation

sigmoid, tanh = pointwise.sigmoid, pointwise.tanh


def relu(input, inplace=False):
    """Return max(x, 0), in the tensor's own memory if asked to."""
    return input.relu_() if inplace else pointwise.relu.method(input)


# Linear


def rows(x):
    """Return a stack of matrices as one matrix of all their rows."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def product(a, b):
    """Return a @ b: np.dot starts sooner, but fills the result with zeros first."""
    if len(b) > VERY_LONG:  # each number is a sum of that many: errors would grow
        return product_in_pieces(a, b.T)
    return np.dot(a, b) if type(a) is np.ndarray and len(a) < 100 else a @ b


def affine(input, weight, bias):
    """Return input @ weight.T + bias, as arrays."""
    out = product(rows(input), weight.T)
    if bias is not None:
        out += bias
    return out if input.ndim == 2 else out.reshape(*input.shape[:-1], len(weight))


MATRIX = {
    "input": lambda g, weight: product(g, weight),
    "weight": lambda g, input: product(g.T, input),
    "bias": column_sums,
}
STACK = {
    "input": lambda g, weight, shape: (rows(g) @ weight).reshape(shape),
    "weight": lambda g, input: product(rows(g).T, rows(input)),
    "bias": lambda g: column_sums(rows(g)),
}
LINEAR = {
    (matrix, biased): Op(name, affine, **(MATRIX if matrix else STACK)).method
    for matrix, biased, name in [
        (True, True, "Addmm"),
        (True, False, "Mm"),
        (False, True, "View"),
        (False, False, "UnsafeView"),
    ]
}


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return input @ weight.T + bias: (..., in) and (out, in) give (..., out).

    A weight (in,) gives (...); a bias of another shape than (out,) is broadcast.
    """
    check_linear(input, weight, bias)
    w, b = weight.array, None if bias is None else bias.array
    if w.ndim == 1 or (b is not None and (b.ndim != 1 or len(b) != len(w))):
        out = matmul(input, weight.t())
        return out if bias is None else out + bias.expand(out.shape)
    return LINEAR[input.array.ndim == 2, bias is not None](input, weight, bias)


def check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise TypeError or RuntimeError unless these fit together."""
    check_tensors("linear", input, weight, weight if bias is None else bias)
    x, w = input.array, weight.array
    if x.dtype != w.dtype or x.dtype is bool_:
        raise RuntimeError(
            "mat1 and mat2 must have the same dtype, of numbers, but got "
            f"{input.dtype} and {weight.dtype}"
        )
    if not 0 < w.ndim < 3 or not x.ndim or x.shape[-1] != w.shape[-1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied: input {input.shape} and "
            f"weight {weight.shape}, which should be (..., in) and (out, in)"
        )
    if bias is None:
        return
    b = bias.array
    if b.dtype != w.dtype or b.ndim > w.ndim or b.ndim == w.ndim == 1:
        raise RuntimeError(f"bias {b.shape}, {b.dtype}; weight {w.shape}, {w.dtype}")


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Return the rows of `weight` that `input` names; `padding_idx` does not learn."""
    check_places("embedding", weight, 0, input)
    index = input.array
    if weight.ndim != 2:
        raise RuntimeError(f"embedding: weight must have 2 axes, not {weight.shape}")
    out = taken["Embedding"](weight, (index,))
    if padding_idx is None:
        return out
    if not -len(weight) <= padding_idx < len(weight):
        raise IndexError(f"padding_idx {padding_idx}: there are {len(weight)} rows")
    learns = Tensor((index != padding_idx % len(weight))[..., None])
    return called("Embedding", pointwise.where(learns, out, out.detach()))


# Activations

leaky = Op(
    "LeakyRelu",
    lambda a, slope: np.where(a > 0, a, a * slope),
    a=lambda g, a, slope: np.where(a > 0, g, g * slope),
)
join(leaky, "a")  # the slope of its slope is 0, as PyTorch's
elu_op = Op(
    "Elu",
    lambda a, alpha: np.where(a > 0, a, alpha * np.expm1(a)),
    a=lambda g, a, alpha: np.where(
        a <= 0, g * np.exp(np.where(a < 0, a, 0)) * alpha, g
    ),
)
silu_op = Op(
    "Silu",
    lambda a: a / (1 + np.exp(-a)),
    a=lambda g, a: g * slope_of_silu(a, pointwise.sigmoid(a)),
)
SOFTPLUS = Op(
    "Softplus",
    lambda a, beta, threshold: np.where(
        a * beta > threshold,
        a,
        np.log1p(np.exp(a * beta)) / beta,
    ),
    a=lambda g, a, beta, threshold: np.where(
        a * beta > threshold, g, g * pointwise.sigmoid(a * beta)
    ),
)


def slope_of_silu(a, s):
    """Return the derivative of a * s, where s is the sigmoid of a."""
    return s * (1 + a * (1 - s))


def placed(op, inplace, input, *args):
    """Return op(input, *args), in the input's own memory if asked to."""
    floats(op.name.lower(), input)
    for number in args:
        if not isinstance(number, Tensor):
            check_holds(input.dtype, number)
    return overwrite(input, op, *args) if inplace else op(input, *args)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """Return x where it is positive, and negative_slope * x elsewhere."""
    return placed(leaky, inplace, input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """Return x where it is positive, and alpha * (exp(x) - 1) elsewhere."""
    return placed(elu_op, inplace, input, alpha)


def silu(input, inplace=False):
    """Return x * sigmoid(x)."""
    return placed(silu_op, inplace, input)


def softplus(input, beta=1.0, threshold=20.0):
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x is large."""
    return placed(SOFTPLUS, False, input, beta, threshold)


HALF_ROOT, BELL = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)


def share_below(a):
    """Return the share of a normal distribution below a."""
    return (pointwise.erf(a * HALF_ROOT) + 1) * 0.5


def exact_gelu(a):
    """Return a times the share of a normal distribution below a, and that share."""
    below = share_below(a)
    return a * below, {"below": below}


GELU = Op(
    "Gelu",
    exact_gelu,
    plain=lambda a: a * share_below(a),
    a=lambda g, a, below: g * (below + a * np.exp(-0.5 * a * a) * BELL),
)
GELU_TANH = Op(
    "Gelu",
    lambda a: 0.5 * a * (1 + np.tanh(ROOT * (a + 0.044715 * a * a * a))),
    a=lambda g, a: g * slope_of_gelu(a, np.tanh(ROOT * (a + 0.044715 * a * a * a))),
)
ROOT = math.sqrt(2 / math.pi)


def slope_of_gelu(a, t):
    """Return the derivative of 0.5 * a * (1 + t), t the tanh in the approximation."""
    inner = ROOT * (1 + 0.134145 * a * a)
    return 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * inner


def gelu(input, approximate="none"):
    """Return x times the share of a normal distribution below x.

    approximate="tanh" is faster. Source: D. Hendrycks, K. Gimpel, "Gaussian Error
    Linear Units", 2016.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(
            f"approximate argument must be either none or tanh, not {approximate!r}"
        )
    floats("gelu", input)
    return (GELU_TANH if approximate == "tanh" else GELU)(input)


def softmax(input, dim=None, *, dtype=None):
    """Return exp(x) as shares of its sum along dim."""
    check_tensors("softmax", input)
    return softmax_op(*with_dim(input, dim, dtype))


def log_softmax(input, dim=None, *, dtype=None):
    """Return the logarithm of softmax, without overflow."""
    check_tensors("log_softmax", input)
    return log_softmax_op(*with_dim(input, dim, dtype))


def with_dim(input, dim, dtype):
    """Return the input, and the axis of the classes: 1 of (N, C) and (N, C, H, W)."""
    usual = 0 if input.ndim in (0, 1, 3) else 1
    return input if dtype is None else input.to(dtype), usual if dim is None else dim


# Others


def dropout(input, p=0.5, training=True, inplace=False):
    """Set each number to 0 with probability p, and scale the others by 1 / (1 - p)."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = creation.generator().random(input.shape, np.float32) >= p
    mask = Tensor(kept * input.dtype.type(0 if p == 1 else 1 / (1 - p)))
    return placed(pointwise.mul, inplace, input, mask)


def one_hot(tensor, num_classes=-1):
    """Return a row for each integer: 1 in its place, 0 elsewhere."""
    check_tensors("one_hot", tensor)
    if tensor.dtype.kind != "i" or (tensor.array < 0).any():
        raise RuntimeError("one_hot: the classes have to be int64, from 0 on")
    largest = int(tensor.array.max(initial=-1))
    classes = largest + 1 if num_classes == -1 else num_classes
    if largest >= classes:
        raise RuntimeError(f"one_hot: {classes} classes, but there is a {largest}")
    return Tensor(np.eye(classes, dtype=np.int64)[tensor.array])


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None
):
    """Return softmax(query @ key.mT * scale + mask) @ value, for (..., length, width).

    A boolean mask says where to look; is_causal lets no query look at later keys.
    """
    check_mask(attn_mask, is_causal)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * scale) @ key.mT
    if is_causal:
        attn_mask = Tensor(np.tri(*scores.shape[-2:], dtype=bool))
    if attn_mask is not None and attn_mask.dtype == bool:
        attn_mask = pointwise.where(attn_mask, 0.0, -math.inf)
    if attn_mask is not None:
        scores = scores + attn_mask
    out = dropout(safe_softmax(scores, attn_mask), dropout_p) @ value
    name = "ScaledDotProductFlashAttentionForCpu"
    return called(name, out) if query.ndim == 4 else out


def safe_softmax(scores, attn_mask):
    """Return the softmax along the last axis; zeros in a row that is masked whole."""
    if attn_mask is None:
        return softmax(scores, -1)
    seen = attn_mask.array if attn_mask.dtype == bool else attn_mask.array > -math.inf
    if seen.any(-1).all():
        return softmax(scores, -1)
    blind = Tensor((scores.array == -math.inf).all(-1, keepdims=True))
    return softmax(scores.masked_fill(blind, 0.0), -1).masked_fill(blind, 0.0)


def check_mask(attn_mask, is_causal):
    """Raise RuntimeError for a mask beside is_causal, or one of integers."""
    if attn_mask is not None and is_causal:
        raise RuntimeError("attn_mask and is_causal: only one of them can be set")
    if attn_mask is not None and attn_mask.dtype.kind not in "bf":
        raise RuntimeError(
            "attn_mask: expected bools, or floats to be added to the scores, not "
            f"{attn_mask.dtype}"
        )
