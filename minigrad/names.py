"""All that can be asked for as `minigrad.name`, and where it comes from."""
# ruff: noqa: I001
# fmt: off

from math import inf, nan, pi

from minigrad import autograd, data, nn, optim
from minigrad.array import device as cuda
from minigrad.array.device import device
from minigrad.array.dtypes import bool_ as bool, float32, float64, int64
from minigrad.graph.recording import (
    enable_grad, is_grad_enabled, no_grad, set_grad_enabled,
)
from minigrad.rules.methods import Tensor
from minigrad.rules.einsum import einsum
from minigrad.rules.extremes import argmax, argmin, max, maximum, min, minimum
from minigrad.rules.indexing import chunk, gather, index_select, split, unbind
from minigrad.rules.joining import cat, stack
from minigrad.rules.matrix_products import matmul, outer, strict
from minigrad.rules.norms import norm
from minigrad.rules.pointwise import (
    abs, ceil, clamp, clone, cos, cosh, eq, erf, exp, floor, floor_divide, ge, gt,
    isfinite, isinf, isnan, le, log, log1p, logical_and, logical_not, logical_or, lt,
    mul, ne, neg, pow, reciprocal, relu, remainder, rsqrt, sigmoid, sign, sin, sinh,
    sqrt, square, tan, tanh, true_divide, where,
)
from minigrad.rules.options import add, div, round, sub
from minigrad.rules.reductions import (
    all, allclose, amax, amin, any, cumsum, equal, mean, prod, std, sum, var,
)
from minigrad.rules.shape import (
    broadcast_to, flatten, flip, masked_fill, permute, reshape, roll, squeeze, swapaxes,
    t, transpose, tril, triu, unsqueeze,
)
from minigrad.rules.softmax import log_softmax, logsumexp, softmax
from minigrad.graph.creation import (
    arange, as_tensor, empty, empty_like, eye, from_numpy, full, full_like, linspace,
    manual_seed, ones, ones_like, rand, rand_like, randint, randn, randn_like, randperm,
    tensor, zeros, zeros_like,
)
from minigrad.training.saving import load, save

float, double, long = float32, float64, int64
mm, bmm, mv, dot = strict.mm, strict.bmm, strict.mv, strict.dot
