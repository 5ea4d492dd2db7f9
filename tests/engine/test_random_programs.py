"""Random programs with reuse, broadcasting and detach agree with PyTorch."""

import numpy as np
import pytest

import minigrad

SHAPES = [(), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3)]
UNARY = ["sin", "tanh", "exp", "sigmoid", "square", "abs", "relu", "neg", "detach"]
UNARY += ["transpose", "sum", "mean", "scale", "shift", "softmax", "first", "twice"]
BINARY = ["add", "sub", "mul", "maximum", "where", "div"]

CALM = {  # what would grow without bound is held by tanh
    "exp": "x.tanh().exp()",
    "square": "x.tanh() * x.tanh()",
    "scale": "1.5 * x - 0.25",
    "shift": "1 - x / 2",
    "div": "x / (y * y + 1)",
    "where": "lib.where(x > y, x, y * 2)",
}
OF_AXES = {  # of a single number, itself
    "softmax": "x.softmax(-1)",
    "transpose": "x.transpose(0, -1)",
    "first": "x[0]",
    "twice": "lib.cat([x, x], -1).sum(-1, keepdim=True)",
}


def step(lib, name, x, y=None):
    """Return one operation's result."""
    if name in OF_AXES and not x.ndim:
        return x
    if text := (CALM | OF_AXES).get(name):
        return eval(text, {"lib": lib, "x": x, "y": y})
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


def programs():
    """Return the strategy that draws programs of up to twelve steps."""
    from hypothesis import strategies as st

    place = st.integers(0, 99)
    one = st.tuples(st.sampled_from(UNARY), place)
    two = st.tuples(st.sampled_from(BINARY), place, place)
    return st.lists(st.one_of(one, two), min_size=1, max_size=12)


def test_a_random_program_agrees_with_pytorch():
    pytest.importorskip("torch")
    from hypothesis import given, settings
    from hypothesis import strategies as st

    drawn = given(programs(), st.integers(0, 2**32 - 1))
    settings(max_examples=250, deadline=None, derandomize=True)(drawn(agree))()


def agree(program, seed):
    """Run one program in both libraries; its numbers and gradients must agree."""
    import torch

    random = np.random.RandomState(seed)
    arrays = [np.asarray(random.standard_normal(shape)) for shape in SHAPES]
    mine, theirs = (run(lib, program, arrays) for lib in (minigrad, torch))
    for a, b in zip(mine, theirs, strict=True):
        if a is None or b is None:
            assert not np.any(a if b is None else b)
        else:
            np.testing.assert_allclose(a, b, 1e-7, 1e-7)
