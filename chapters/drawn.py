# ruff: noqa: F401, for the laws use what is imported here
"""What the laws of chapters/*/laws.md are made of: what is drawn, what is compared."""

import copy
import itertools
import math
import operator
import random
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any
from unittest.mock import patch

import numpy as np

import minigrad
import minigrad.nn.functional as F
from classroom.cell import strategies as st
from classroom.cell.equality import show
from classroom.cell.strategies import assume
from minigrad import Tensor, autograd, nn
from minigrad.graph import saved_values
from minigrad.graph.node import AccumulateGrad
from minigrad.optim import SGD, Adam
from minigrad.rules.op import Op
from minigrad.static import Session, placeholder, trace
from minigrad.static.steps import Step
from minigrad.value import Value

NUMBERS = st.integers(-12, 12).map(lambda n: n / 4)  # 0, negative, often equal
SIGNED = NUMBERS.filter(bool)
POSITIVE = st.integers(1, 12).map(lambda n: n / 4)
FULL = st.sampled_from(
    [(3,), (2, 3), (3, 2), (1, 4), (3, 3), (2, 3, 4), (3, 1, 2), (2, 2, 2), (1, 1)]
)
SHAPES = FULL | st.sampled_from([(), (0,), (2, 0), (0, 3), (3, 0, 2)])
LAYOUTS = st.sampled_from(
    [
        np.array,
        np.asfortranarray,
        lambda a: a[..., ::-1] if a.ndim else a,
        lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
    ]
)
SEEDS = st.sampled_from(range(2**16))
DICE = SEEDS.map(random.Random)


def arrays(shape: Any = SHAPES, elements: Any = NUMBERS) -> st.Strategy:
    """Draw arrays of float64, some of them with numbers that do not lie in a row."""
    drawn = st.arrays(shape, elements)
    return st.builds(lambda layout, a: layout(a), LAYOUTS, drawn)


def like(seed: int, *shapes: tuple) -> list[np.ndarray]:
    """Return arrays of these shapes with quarters from -2 to 2, zeros among them."""
    draw = np.random.default_rng(seed).integers
    return [np.asarray(draw(-8, 9, shape) / 4) for shape in shapes]


# Steps of a program: an operation, and how far back that is what it works on
STEPS = st.tuples(st.sampled_from("+-*~"), st.integers(0, 1), st.integers(0, 5))
PROGRAMS = st.lists(STEPS, min_size=2, max_size=7)


def run(program: list, leaves: Any, tanh: Callable = np.tanh) -> list:
    """Return all that a program makes, its leaves first: of any kind of number."""
    known = list(leaves)
    for sign, i, j in program:
        x, y = known[-1 - i % len(known)], known[-1 - j % len(known)]
        known.append(
            {
                "+": lambda x, y: x + y,
                "-": lambda x, y: 2 - x * y,
                "*": lambda x, y: x * y,
            }.get(sign, lambda x, y: tanh(x))(x, y)
        )
    return known


# --- what an answer is compared with --------------------------------------------------


def near(found: Any, expected: Any, within: float = 1e-7, told: str = "") -> None:
    """Fail unless numbers, arrays, or nests of them agree, in shape, too."""
    expected = getattr(expected, "array", expected)
    if isinstance(expected, np.ndarray) and not expected.ndim:
        expected = expected.item()
    told = told or f"    your answer: {show(found)}\n    expected:    {show(expected)}"
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), told
        for pair in zip(found, expected):
            near(*pair, within, told)
        return
    if not isinstance(expected, np.ndarray | float | int) or isinstance(expected, bool):
        assert found == expected, told
        return
    found, expected = (np.asarray(getattr(x, "array", x)) for x in (found, expected))
    assert found.shape == expected.shape and found.dtype.kind in "biufc", told
    assert np.allclose(found, expected, within, within, equal_nan=True), told


def refuses(error: type[Exception], function: Callable, *args: Any) -> str:
    """Return what a call's error of this kind says; fail if none comes."""
    try:
        found = function(*args)
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {error.__name__}, but {found}")


def asked(function: Callable, *args: Any) -> Any:
    """Return function(*args); fail if it has written into one of them."""
    before = copy.deepcopy(args)
    found = function(*args)
    near(
        [getattr(x, "array", x) for x in args if not callable(x)],
        [getattr(x, "array", x) for x in before if not callable(x)],
    )
    return found


def slopes(f: Callable, xs: list, g: Any = 1.0) -> list[np.ndarray]:
    """Return the gradients of sum(g * f(*xs)) by steps along the imaginary axis.

    Nothing is subtracted, so they are as exact as f itself. Source: J. Martins and
    others, "The complex-step derivative approximation", 2003.
    """
    xs = [np.asarray(x, complex) for x in xs]
    found = [np.zeros(x.shape) for x in xs]
    for x, slope in zip(xs, found):
        for place in np.ndindex(x.shape):
            x[place] += 1e-30j
            slope[place] = np.sum(np.imag(f(*xs)) * g) / 1e-30
            x[place] -= 1e-30j
    return found


def nudged(f: Callable, xs: list, h: float = 1e-5) -> list[np.ndarray]:
    """Return the gradients of sum(f(*xs)) by central differences: for max and abs."""
    xs = [np.array(x, float) for x in xs]
    found = [np.zeros(x.shape) for x in xs]
    for x, slope in zip(xs, found):
        for place in np.ndindex(x.shape):
            at, ends = x[place], []
            for x[place] in (at + h, at - h):
                ends.append(np.sum(f(*xs)))
            slope[place], x[place] = (ends[0] - ends[1]) / (2 * h), at
    return found


def leaves(xs: list) -> list:
    return [minigrad.tensor(np.array(x), requires_grad=True) for x in xs]


def differentiates(
    operation: Callable, f: Callable, xs: list, gradients: Callable = slopes, twice=True
) -> None:
    """Fail unless an operation on Tensors does what f does, slopes and theirs, too.

    The slopes of the slopes are looked at in one direction, in which all move at once.
    """
    tensors = leaves(xs)
    y = operation(*tensors)
    near(y, np.asarray(f(*xs)))
    (g,) = like(3, y.shape)
    first = gradients(lambda *xs: f(*xs) * g, xs)
    upstream = minigrad.tensor(g.copy(), requires_grad=twice)
    kept = [t.array.copy() for t in (*tensors, y, upstream)]
    walk = partial(minigrad.autograd.grad, allow_unused=True)
    found = walk(y, tensors, upstream, create_graph=twice)
    found = [0 * x if s is None else s for s, x in zip(found, xs)]
    near(found, first, 1e-5)
    near([t.array for t in (*tensors, y, upstream)], kept)
    if not twice:
        return
    weights, (*aside, up) = (
        like(4, *map(np.shape, xs)),
        like(5, *map(np.shape, [*xs, g])),
    )
    total = sum(((s * w).sum() for s, w in zip(found, weights)), 0 * upstream.sum())
    again = walk(total, [*tensors, upstream])
    again = [np.zeros(1) if s is None else s.array for s in again]

    def of_slopes(t):
        moved = [x + t * a for x, a in zip(xs, aside)]
        found = gradients(lambda *xs: f(*xs) * (g + t * up), moved)
        return sum(np.sum(s * w) for s, w in zip(found, weights))

    along = sum(np.sum(s * a) for s, a in zip(again, [*aside, up]))
    near(float(along), float((of_slopes(1e-5) - of_slopes(-1e-5)) / 2e-5), 1e-4)


# --- what several chapters share -----------------------------------------------------

ROWS = st.lists(NUMBERS, max_size=5)


def reached(root):
    """Return all that a root depends on, itself included."""
    found = [root]
    for node in found:
        found += {p for p, _ in node.edges} - set(found)
    return found


STRETCHED = [(3,), (2, 1), (2, 3), ()]  # they stretch to one shape


def constant(array):
    return minigrad.tensor(np.array(array, float))


def walked(its, program, xs, pick):
    """Fail unless a walk from two roots brings each leaf what the slopes say."""
    tensors = leaves(xs)
    known = run(program, tensors, minigrad.tanh)
    places = [len(known) - 1, pick % len(known)]
    outs = [np.shape(known[place].array) for place in places]
    roots = {}
    for place, g in zip(places, like(pick, *outs)):
        roots[known[place].edge] = g
    given = {node: g.copy() for node, g in roots.items()}
    ends = its.walk(roots)
    picked = {known[place].edge: place for place in places}

    def total(*xs):
        made = run(program, xs)
        return sum((made[place] * given[node]).sum() for node, place in picked.items())

    found = [ends.get(t.edge, np.zeros(t.shape)) for t in tensors]
    near(found, slopes(total, xs), 1e-6)
    assert {*ends} <= {t.edge for t in tensors} and roots.keys() == given.keys()
    near([roots[node] for node in given], [given[node] for node in given])
    for node in {k.edge for k in known} - {t.edge for t in tensors}:
        assert not (node.op.name == "Mul" and node in picked and node.saved)


def after(program, known, place, leaves=2):
    """Return the last result of a program as a function of one in the middle."""
    skip, others = max(place + 1 - leaves, 0), known[place + 1 : leaves]
    return lambda x: run(program[skip:], [*known[:place], x, *others])[-1]


turns = []  # of Product's backward


class Same(autograd.Function):
    """What is made of the argument: itself, part of it, whole numbers."""

    @staticmethod
    def forward(ctx, a, made):
        return made(a)

    @staticmethod
    def backward(ctx, g):
        return g.sum() * minigrad.ones(2).double(), None


class Tanh(autograd.Function):
    """tanh, which saves its result."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(y := a.tanh())
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)


class Returns(autograd.Function):
    """The first argument; backward returns what it was told to."""

    @staticmethod
    def forward(ctx, a, b, shares):
        ctx.shares = shares
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.shares


class Product(autograd.Function):
    """a * b * k, of which all is saved."""

    @staticmethod
    def forward(ctx, a, b, k):
        assert not minigrad.is_grad_enabled()
        assert ctx.needs_input_grad == (a.requires_grad, b.requires_grad, False)
        y = a * b * k
        ctx.k = k
        ctx.save_for_backward(a, None, b, y)
        return y

    @staticmethod
    def backward(ctx, g):
        a, nothing, b, y = ctx.saved_tensors
        turns.append(ctx.k)
        assert isinstance(g, Tensor)
        assert nothing is None and isinstance(a, Tensor) and y.shape == a.shape
        return g * b * ctx.k, g * a * ctx.k, None


def as_function(its, seed, needed, k):
    """Fail unless a Function is one node with the right slopes."""
    xs = like(seed, (2,), (2,))
    a, b = leaves(xs)
    b.requires_grad = needed
    out = Product.apply(a, b, k)
    assert out.grad_fn.targets[0] is a.edge

    def f(a, b):
        return (a * b * k) ** 3

    (out**3).sum().backward(create_graph=True)
    first = slopes(f, xs)
    near(a._grad, first[0], 1e-6)
    near(b._grad if b._grad is not None else np.zeros(2), first[1] * needed, 1e-6)
    (again,) = autograd.grad(
        (a._grad * constant([1.0, 3.0])).sum(), [a], allow_unused=True
    )
    h = 1e-5
    sides = [slopes(f, [xs[0] + s, xs[1]], np.array([1.0, 3.0]))[0] for s in (h, -h)]
    near(
        again if again is not None else np.zeros(2),
        (sides[0] - sides[1]) / (2 * h),
        1e-4,
    )
    with minigrad.no_grad():
        assert not Product.apply(a, b, k).requires_grad
    near([a.array, b.array], xs)
    turns.clear()
    autograd.grad(Product.apply(a, b, k).sum(), [a])
    assert len(turns) == 1
    y = Tanh.apply(a)
    node, held = y.grad_fn, weakref.ref(y.array)
    ((_, share),) = node.shares(constant(np.ones(2)), None)
    with minigrad.no_grad():
        ((_, quiet),) = node.shares(np.ones(2), None)
    assert isinstance(share, Tensor) and isinstance(quiet, np.ndarray)
    assert not [*node.shares(np.ones(2), set())]
    y.sum().backward()
    del y, share
    assert held() is None and node.shape == (2,)
    kinds = (lambda a: a), (lambda a: a[:1]), (lambda a: a.long())
    same, part, whole = (Same.apply(a, made) for made in kinds)
    assert whole.edge is None and same is not a and a.is_leaf
    arrays = [x.array for x in (a, same, part)]
    assert not any(np.shares_memory(x, y) for x, y in combinations(arrays, 2))
    for given in (a, a.detach()):
        refuses(TypeError, Same.apply, given, lambda a: (a, a))
    held = constant([1.0, 2.0])
    assert np.shares_memory(Same.apply(a, lambda a: held).array, held.array)
    assert held.grad_fn is None
    b.requires_grad = True

    def walked(shares):
        Returns.apply(a, b, shares).sum().backward()

    assert "expected 3, got 2" in refuses(RuntimeError, walked, (held, held))
    assert "expected 3, got 1" in refuses(RuntimeError, walked, held)
    for shares in ((held, 1.0, None), (held, None, held.array)):
        assert "must be Tensor" in refuses(TypeError, walked, shares)
    single, shares = minigrad.ones(2, requires_grad=True), [held, None, None]
    walked(shares)
    node = Returns.apply(single, b, shares).grad_fn
    with minigrad.no_grad():
        ((_, share),) = node.shares(np.ones(2, np.float32), None)
    assert share.dtype == np.float32 and len(shares) == 3 and shares[0] is held
    (same.sum() + part.sum()).backward()


SMALL = st.integers(1, 3)
