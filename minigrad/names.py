"""All that can be asked for as `minigrad.name`, and where it comes from."""
# ruff: noqa: I001
# fmt: off

import os
from math import inf, nan, pi

from minigrad import autograd, data, fast, nn, optim
from minigrad.array.dtypes import bool_ as bool, float32, float64, int64
from minigrad.graph.recording import (
    enable_grad, is_grad_enabled, no_grad, set_grad_enabled,
)
from minigrad.graph.tensor import Tensor
from minigrad.rules.indexing import unbind
from minigrad.rules.joining import cat, stack
from minigrad.rules.matrix_products import matmul
from minigrad.rules.pointwise import (
    abs, add, clamp, clone, cos, div, exp, isnan, log, log1p, masked_fill, maximum, mul,
    neg, pow, reciprocal, relu, rsqrt, sigmoid, sign, sin, sqrt, square, sub, tanh,
    where,
)
from minigrad.rules.reductions import (
    all, amax, amin, any, argmax, argmin, max, mean, min, norm, std, sum, var,
)
from minigrad.rules.shape import (
    broadcast_to, flatten, permute, reshape, squeeze, t, transpose, tril, unsqueeze,
)
from minigrad.rules.softmax import log_softmax, logsumexp, softmax
from minigrad.tensors.creation import (
    arange, empty, eye, from_numpy, full, linspace, manual_seed, ones, ones_like, rand,
    rand_like, randint, randn, tensor, zeros, zeros_like,
)
from minigrad.training.saving import load, save

float, double, long = float32, float64, int64

if not os.environ.get("MINIGRAD_PLAIN"):
    fast.install()
