"""Random programs with reuse, broadcasting and detach agree with PyTorch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad

torch = pytest.importorskip("torch")

SHAPES = [(), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3)]
UNARY = ["sin", "tanh", "exp", "sigmoid", "square", "abs", "relu", "neg", "detach"]
UNARY += ["transpose", "sum", "mean", "scale", "shift", "softmax", "first", "twice"]
BINARY = ["add", "sub", "mul", "maximum", "where", "div"]

steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(UNARY), st.integers(0, 99)),
        st.tuples(st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 99)),
    ),
    min_size=1,
    max_size=12,
)


def step(lib, name, x, y=None):
    """Return one operation's result; what would grow without bound is held by tanh."""
    if name == "exp":
        return x.tanh().exp()
    if name == "square":
        return x.tanh() * x.tanh()
    if name == "scale":
        return 1.5 * x - 0.25
    if name == "shift":
        return 1 - x / 2
    if name == "softmax":
        return x.softmax(-1) if x.ndim else x
    if name == "transpose":
        return x.transpose(0, -1) if x.ndim else x
    if name == "first":
        return x[0] if x.ndim else x
    if name == "twice":
        return lib.cat([x, x], -1).sum(-1, keepdim=True) if x.ndim else x + x
    if name == "where":
        return lib.where(x > y, x, y * 2)
    if name == "div":
        return x / (y * y + 1)
    return getattr(x, name)() if y is None else getattr(lib, name)(x, y)


def run(lib, program, arrays):
    """Return the value, the gradients, and the gradients of the gradients' squares."""
    leaves = [lib.tensor(a, requires_grad=True) for a in arrays]
    known = list(leaves)
    for name, *places in program:
        operands = [known[place % len(known)] for place in places]
        known.append(step(lib, name, *operands))
    total = sum((z.tanh().sum() for z in known[len(leaves) :]), leaves[0].sum())
    first = lib.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    second = [None] * len(leaves)
    if squares:
        second = lib.autograd.grad(sum(squares), leaves, allow_unused=True)
    return [
        x if x is None else np.array(x.detach().clone().tolist())
        for x in (total, *first, *second)
    ]


@settings(max_examples=250, deadline=None, derandomize=True)
@given(steps, st.integers(0, 2**32 - 1))
def test_a_random_program_agrees_with_pytorch(program, seed):
    random = np.random.RandomState(seed)
    arrays = [np.asarray(random.standard_normal(shape)) for shape in SHAPES]
    mine, theirs = (run(lib, program, arrays) for lib in (minigrad, torch))
    for a, b in zip(mine, theirs, strict=True):
        if a is None or b is None:
            assert not np.any(a if b is None else b)
        else:
            np.testing.assert_allclose(a, b, 1e-7, 1e-7)
