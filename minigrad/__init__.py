"""minigrad: torch.autograd, small enough to read in a weekend.

Read it in this order:

    value, numeric, neuron     one number at a time, and how to check a gradient
    engine, versions           the graph of nodes, and the walk back through it
    tensor, arraylike          Tensor: an array that knows where it came from
    op, arguments, operands    Op: an operation with a formula for each argument
    ops, options, special, products, reductions, sums, norms, extremes, shapes,
    indexing, joint            the rules
    methods, creation, dtypes, linalg, printing     the rest of a Tensor's surface
    inplace, views             writing over it, and who sees that
    grad_mode, hooks, anomaly, function, autograd   the rest of autograd
    nn/, models/, optim/, data, utils, trainer, serialization   learning machines
    symbols, program, static   graphs without numbers: define, then run
    draw*, render, plot                               pictures
    memory, cuda               who holds an array, and where
"""

from math import inf, nan, pi

from minigrad import autograd, cuda, data, hooks, linalg, methods, nn, optim, utils
from minigrad.autograd import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minigrad.creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    manual_seed,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from minigrad.cuda import device
from minigrad.dtypes import bool_ as bool
from minigrad.dtypes import float32, float64, int64
from minigrad.memory import keep_freed_memory
from minigrad.serialization import load, save
from minigrad.tensor import Tensor

float, double, long = float32, float64, int64
globals().update(methods.named(methods.BOTH) | methods.named(methods.FUNCTIONS))
keep_freed_memory()
