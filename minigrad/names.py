"""All names of `minigrad.name`, and the file that each comes from."""
# ruff: noqa: I001, F403
# fmt: off

import os
from math import inf, nan, pi

from minigrad import autograd, data, nn, optim
from minigrad.array.dtypes import bool_ as bool, float32, float64, int64
from minigrad.graph.recording import enable_grad, is_grad_enabled, no_grad
from minigrad.graph.recording import set_grad_enabled
from minigrad.graph.tensor import Tensor
from minigrad.rules.indexing import *
from minigrad.rules.joining import *
from minigrad.rules.matrix_products import *
from minigrad.rules.pointwise import *
from minigrad.rules.reductions import *
from minigrad.rules.shape import *
from minigrad.rules.softmax import *
from minigrad.static.compiling import compile
from minigrad.tensors.creation import arange, empty, eye, from_numpy, full, linspace
from minigrad.tensors.creation import manual_seed, ones, ones_like, rand, rand_like
from minigrad.tensors.creation import randint, randn, tensor, zeros, zeros_like
from minigrad.training.saving import load, save

float, double, long = float32, float64, int64

if not os.environ.get("MINIGRAD_PLAIN"):
    from minigrad import fast

    fast.install()
