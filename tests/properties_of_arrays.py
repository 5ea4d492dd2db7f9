"""Laws of the exercises with arrays, up to the finished engine: chapters 7 to 13."""

import warnings
import weakref
from functools import partial
from itertools import combinations
from unittest.mock import patch

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, autograd
from minigrad.graph import saved_values
from minigrad.graph.node import AccumulateGrad
from minigrad.rules.op import Op
from tests.properties import (
    DICE,
    FULL,
    NUMBERS,
    POSITIVE,
    PROGRAMS,
    SEEDS,
    SHAPES,
    arrays,
    asked,
    differentiates,
    law,
    leaves,
    like,
    near,
    nudged,
    refuses,
    run,
    slopes,
)

SIZES = st.integers(0, 3)
STRETCHED = [(3,), (2, 1), (2, 3), ()]  # they stretch to one shape


def bare(*grads):
    """Return gradients as arrays, None as None."""
    return [g if g is None else np.asarray(getattr(g, "array", g)) for g in grads]


def constant(array):
    return minigrad.tensor(np.array(array, float))


def agrees(program, shapes, seed):
    """Fail unless a walk back through a program on Tensors finds its slopes."""
    xs = like(seed, *shapes)
    *tensors, data = [*leaves(xs[:-1]), constant(xs[-1])]
    known = run(program, [*tensors, data], minigrad.tanh)
    near(known[-1], np.asarray(run(program, xs)[-1]))
    owned = [known[-1].edge, *known[-1].edge.saved.values()] if known[-1].edge else []
    assert not any(isinstance(each, Tensor) for each in owned)
    if known[-1].requires_grad:
        known[-1].sum().backward()
        expected = slopes(lambda *xs: run(program, xs)[-1], xs)[:-1]
        found = [np.zeros(t.shape) if t.grad is None else t.grad for t in tensors]
        near(found, expected, 1e-6)
    assert data.grad is None
    near([t.array for t in (*tensors, data)], xs)
    return known


@law("7.1", a=arrays(), seed=SEEDS)
def pointwise(its, a, seed):
    (b,) = like(seed, a.shape)
    b = np.where(b == 0, -0.75, b)
    named = {"sub": np.subtract, "div": np.true_divide, "log": np.log, "sqrt": np.sqrt}
    named |= {"tanh": np.tanh, "sigmoid": lambda a: 1 / (1 + np.exp(-a))}
    for name, f in named.items():
        first = np.abs(a) + 0.25 if name in ("log", "sqrt") else a
        rule = getattr(its.pointwise, name)
        differentiates(rule, f, [first, b][: len(rule.parameters)])
        assert rule.name == name.capitalize()


@law("7.2", n=SIZES, k=SIZES, m=SIZES, seed=SEEDS)
def products(its, n, k, m, seed):
    shapes = {"dot": ((k,), (k,)), "mv": ((n, k), (k,)), "mm": ((n, k), (k, m))}
    shapes["bmm"] = (2, n, k), (2, k, m)
    for name, pair in shapes.items():
        rule = getattr(its.matrix_products, name)
        differentiates(rule, np.matmul, like(seed, *pair))
        assert rule.name == name.capitalize()


@law("7.3", program=PROGRAMS, seed=SEEDS, data=st.booleans(), n=st.integers(1, 3))
def remembers(its, program, seed, data, n):
    agrees(program, [(3,), (3,)] + [(3,)] * data, seed)
    x, w = like(seed, (2,), (2,))
    given = constant(x), *leaves([w])
    called = []
    noted = [lambda g: called.append("a") or g, lambda g: called.append("b") or g]
    node = Op("Noted", lambda a, b: a + b, a=noted[0], b=noted[1])(*given).edge
    ((target, _),) = node.op.shares(node, np.ones(2), None)
    assert target is given[1].edge and called == ["b"] and node.saved == {}
    assert node.op(given[0], given[0]).edge is None
    both, other = node.op(w := given[1], w).edge, node.op(v := leaves([x])[0], w).edge
    assert [target for target, _ in both.op.shares(both, x, None)] == [w.edge] * 2
    called.clear()
    assert [t for t, _ in other.op.shares(other, x, {v.edge})] == [v.edge] and called == ["a"]
    kept = Op("Kept", lambda a, b: (a * b, {"m": a > b}), a=lambda g, b, m: g * b, b=lambda g, a: g * a)
    assert {*kept(w, given[0]).edge.saved} == {"b", "m"} and {*kept(*given).edge.saved} == {"a"}
    w = w.array
    power = Op("Power", lambda a, n: a**n, a=lambda g, a, n: g * n * a ** (n - 1))
    differentiates(lambda a: power(a, n=n), lambda a: a**n, [w])
    pile = Op("Pile", lambda rows, n: n * np.stack(rows), rows=lambda g, i, n: n * g[i])
    rows = lambda a, b: n * np.stack([x, a, x, b])
    differentiates(lambda a, b: pile([given[0], a, given[0], b], n), rows, [x, w])
    node = power(given[1], n).edge
    assert node.saved["a"] is given[1].array and node.shape == (2,)
    with minigrad.no_grad():
        assert power(given[1], n).edge is None
    assert Op("Less", np.less, a=lambda g: g)(*given[::-1]).edge is None


@law("7.4", sizes=st.tuples(*[st.integers(1, 3)] * 3), a=arrays(FULL), seed=SEEDS)
def fused(its, sizes, a, seed):
    n, k, m = sizes
    layer = lambda x, w: np.tanh(x @ w)
    differentiates(its.layer, layer, like(seed, (n, k), (k, m)), twice=False)
    differentiates(its.mean, lambda a: a.sum() / a.size, [a], twice=False)
    assert (its.layer.name, its.mean.name) == ("Layer", "Mean")


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


@law("7.5", program=PROGRAMS, pick=st.integers(0, 9), seed=SEEDS)
def newest_first(its, program, pick, seed):
    walked(its, program, like(seed, (2,), (2,)), pick)


@law("8.1", program=PROGRAMS, pick=st.integers(0, 9), seed=SEEDS, long=FULL, short=SHAPES)
def summed(its, program, pick, seed, long, short):
    walked(its, program, like(seed, *STRETCHED), pick)
    bad = Op("Bad", lambda a: a + 0, a=lambda g: np.ones((5, 7)))(*leaves([np.ones(3)]))
    assert "BadBackward0" in refuses(RuntimeError, its.walk, {bad.edge: np.ones(3)})
    for shape in (short, (1, *long), (2, *long), *(long[k:] for k in range(len(long) + 1)), tuple(1 if k % 2 else n for k, n in enumerate(long))):
        share, a = like(seed, long, shape)
        try:
            fits = np.broadcast_shapes(shape, long) == long
        except ValueError:
            fits = False
        if not fits:
            refuses(RuntimeError, its.sum_to, share, shape, "AnyBackward0")
            continue
        found = asked(its.sum_to, share, shape, "AnyBackward0")
        assert found.shape == shape
        near(np.vdot(found, a), np.vdot(share, np.broadcast_to(a, long)))  # adjoint
        if shape != long:
            near(its.sum_to(*(made := leaves([share])), shape, ""), found)
            assert its.sum_to(*made, shape, "").requires_grad


def axes_of(draw, ndim):
    """Return one axis, several in any order, from either end, or None."""
    several = draw.sample(range(ndim), draw.randint(1, ndim))
    signed = tuple(axis - ndim * draw.randint(0, 1) for axis in several)
    return draw.choice([None, signed[0], signed])


@law("8.2", a=arrays(FULL), draw=DICE, keep=st.booleans())
def reduced(its, a, draw, keep):
    dim = axes_of(draw, a.ndim)
    options = {"dim": dim, "keepdim": keep}
    for name, f in {"sum": np.sum, "mean": np.mean}.items():
        rule = getattr(its.reductions, name)
        assert rule.name == name.capitalize() and not {"a", "y"} & {*rule.wants["a"]}
        differentiates(lambda a: rule(a, **options), lambda a: f(a, axis=dim, keepdims=keep), [a])
    for name, f in {"amax": np.max, "amin": np.min}.items():
        assert getattr(its.reductions, name).name == name.capitalize()
        tensors = leaves([a])
        y = getattr(its.reductions, name)(tensors[0], **options)
        near(y, np.asarray(f(a, axis=dim, keepdims=keep)))
        (g,) = like(7, y.shape)
        upstream = leaves([g])[0]
        (found,) = autograd.grad(y, tensors, upstream, create_graph=True)
        hit = a == f(a, axis=dim, keepdims=True)
        whole = g if keep or dim is None else np.expand_dims(g, dim)
        near(found, hit / hit.sum(axis=dim, keepdims=True) * whole)
        (weights,) = like(8, a.shape)
        (again,) = autograd.grad((found * weights).sum(), upstream)
        near(again, np.asarray((hit * weights / hit.sum(axis=dim, keepdims=True)).sum(axis=dim, keepdims=keep)))
        near([tensors[0].array, upstream.array], [a, g])


@law("8.3", a=arrays(), draw=DICE, times=st.integers(1, 3))
def moved(its, a, draw, times):
    rules, n = its.shapes, a.ndim
    size = draw.choice([(a.size,), (1, a.size, 1), a.shape[::-1]])
    differentiates(lambda a: rules.viewed(a, size), lambda a: a.reshape(size), [a])
    wide = (times, *a.shape)
    differentiates(lambda a: rules.broadcast_to(a, wide), lambda a: np.broadcast_to(a, wide), [a])
    if n:
        dims = [axis - n * draw.randint(0, 1) for axis in draw.sample(range(n), n)]
        pair = dims[0], dims[-1]
        differentiates(lambda a: rules.transpose(a, *pair), lambda a: np.swapaxes(a, *pair), [a])
        differentiates(lambda a: rules.permuted(a, tuple(dims)), lambda a: np.transpose(a, dims), [a])
    four = rules.viewed, rules.broadcast_to, rules.transpose, rules.permuted
    assert [rule.name for rule in four] == ["View", "Expand", "Transpose", "Permute"]
    assert not any({"a", "y"} & {*rule.wants["a"]} for rule in four)


@law("8.4", n=st.integers(1, 3), m=st.integers(1, 3), times=st.integers(1, 3), seed=SEEDS)
def blocks(its, n, m, times, seed):
    (a,) = like(seed, (n, m))
    f = lambda a: np.kron(a, np.ones((times, times)))
    differentiates(lambda a: its.enlarge(a, times), f, [a])
    asked(its.repeated, a, times)
    asked(its.to_small, f(a), (n, m), times)


# --- leaves, switches, writes: chapters 9 to 11 ---------------------------------------


@law("9.1", number=NUMBERS)
def who_keeps(its, number):
    made = its.program(number).values()
    expected = [None if t._grad is None else t._grad.item() for t in made]
    near(list(its.predict_grads(number)), expected)


def warned(tensor):
    """Return a tensor's grad, and how many warnings came of asking."""
    with warnings.catch_warnings(record=True, action="always") as heard:
        return tensor.grad, len(heard)


@law("9.2", kind=st.integers(0, 2), told=st.lists(st.booleans(), min_size=2, max_size=4), whole=st.booleans(), seed=SEEDS)
def edges(its, kind, told, whole, seed):
    t = Tensor(like(seed, (2,))[0].astype(int if whole and not kind else float))
    if kind:
        t.edge = AccumulateGrad(t)
        t = t * 1 if kind == 2 else t
    for value in told:
        before = t.edge
        if (kind == 2 and not value) or (t.array.dtype == int and value):
            refuses(RuntimeError, setattr, t, "requires_grad", value)
            refuses(RuntimeError, t.requires_grad_, value)
        else:
            t.requires_grad = value
            assert t.requires_grad_(value) is t
            assert (t.edge is before) or value != (before is not None)
        made = t.edge if kind == 2 else None
        assert (t.requires_grad, t.is_leaf, t.grad_fn) == (t.edge is not None, kind < 2, made)
        if t.edge and kind < 2:
            assert t.edge.variable is t
    for shape, dtype in [((2,), float), ((2,), np.float32), ((1,), float), ((), float)]:
        if (shape, dtype) == (t.shape, t.array.dtype):
            t.grad = g = Tensor(np.ones(shape, dtype))
            assert warned(t) == (g, 0)
            t.grad = None
        else:
            refuses(RuntimeError, setattr, t, "grad", Tensor(np.ones(shape, dtype)))
    assert warned(t) == (None, kind == 2)
    if kind == 2:
        t.retain_grad()
        assert warned(t) == (None, 0)


NESTS = st.recursive(
    st.none() | st.integers() | st.just("a") | st.builds(lambda: np.ones(2)),
    lambda each: st.lists(each, max_size=3) | st.lists(each, max_size=3).map(tuple),
)


@law("9.3", nest=NESTS, names=st.sets(st.sampled_from("abc")), shape=SHAPES)
def held(its, nest, names, shape):
    inside = "array" in repr(nest)
    assert its.has_array(nest) is inside
    for saved in ({}, {"dim": nest}, dict.fromkeys(names, nest), {"dim": 1, **dict.fromkeys(names, 2)}):
        node = its.made_by_hand(dict(saved))
        node.check()
        node.free()
        goes = "array" in repr(saved) or {*saved} - {"dim"}
        assert node.saved is None if goes else node.saved is not None
        if goes:
            refuses(RuntimeError, node.check)
    leaf = Tensor(np.zeros(shape))
    ends = [AccumulateGrad(leaf), AccumulateGrad(leaf)]
    assert ends[0].number < ends[1].number and ends[0].variable is leaf
    assert (ends[0].shape, ends[0].hooks) == (shape, ())
    del leaf
    assert ends[0].variable is None


def after(program, known, place, leaves=2):
    """Return the last result of a program as a function of one in the middle."""
    skip, others = max(place + 1 - leaves, 0), known[place + 1 : leaves]
    return lambda x: run(program[skip:], [*known[:place], x, *others])[-1]


@law("9.4", shape=SHAPES, kinds=st.lists(st.booleans(), min_size=1, max_size=4), program=PROGRAMS, seed=SEEDS)
def arrives(its, shape, kinds, program, seed):
    numbers = like(seed, *[shape] * len(kinds))
    (leaf,) = leaves([np.zeros(shape)])
    for k, (recorded, g) in enumerate(zip(kinds, numbers)):
        held, given = leaf._grad, g.copy()
        before = None if held is None else held.array.copy()
        its.accumulate(leaf, leaves([given])[0] * 1 if recorded else given)
        near(leaf._grad, np.asarray(sum(numbers[: k + 1])))
        near(given, g)
        assert leaf._grad.requires_grad is any(kinds[: k + 1])
        if held is not None:
            assert (leaf._grad is held) is not any(kinds[: k + 1])
            near(held, leaf._grad.array if leaf._grad is held else before)
        given += 1
        near(leaf._grad, np.asarray(sum(numbers[: k + 1])))
    xs = like(seed, (2,), (2,))
    tensors = leaves(xs)
    known = run(program, tensors, minigrad.tanh)
    assume(known[-1].requires_grad)
    arrays = run(program, xs)
    for t in known:
        t.retain_grad()
        t.retain_grad()
        assert t.retains_grad is not t.is_leaf
    its.collect([known[-1]], [constant([1.0, 2.0])], None, None, False)
    for place in range(2, len(known)):
        (slope,) = slopes(after(program, arrays, place), [arrays[place]], [1.0, 2.0])
        if known[place]._grad is not None or slope.any():
            near(known[place]._grad, slope, 1e-6)
    expected = slopes(lambda *xs: run(program, xs)[-1], xs, [1.0, 2.0])
    near([t._grad if t._grad is not None else np.zeros(2) for t in tensors], expected, 1e-6)
    weak, h = weakref.ref(known[-1]), known[-1].shape
    del known, t
    assert weak() is None and h == (2,)
    a, b = leaves(xs)
    h = a * b
    h.register_hook(lambda g: None)
    its.collect([h.sum(), h.sum()], [None, constant(2.0)], [h, b], True, False)
    near([h._grad, b._grad], [np.full(2, 3.0), 3 * xs[0]])
    assert a._grad is None and len(h.grad_fn.hooks) == 2
    a.requires_grad, shown = False, [h.edge.hooks[-1], h.shape]
    its.collect([(h * leaves([xs[0]])[0]).sum()], [None], None, None, False)
    near([a._grad, b._grad], [None, 3 * xs[0] + xs[0] ** 2])
    del h
    near(shown[0](xs[1]), xs[1])
    its.accumulate(a, np.ones(2, np.float32))
    assert a._grad.dtype == float
    held, version, seen = a._grad, a._grad._version, []
    with patch.object(saved_values, "wrote", lambda array: seen.append(array.copy())):
        its.accumulate(a, np.ones(2))
    near([a._grad, *seen], [np.full(2, 2.0), np.ones(2)])
    (g,) = leaves([xs[0]])
    its.accumulate(b, g)
    b._grad = None
    its.accumulate(b, g)
    assert b._grad is not g and held is a._grad and version == a._grad._version


@law("9.5", program=PROGRAMS, seed=SEEDS, place=st.integers(0, 9), weigh=st.booleans())
def handed_out(its, program, seed, place, weigh):
    xs = like(seed, (2,), (2,))
    tensors = leaves(xs)
    known, made = run(program, tensors, minigrad.tanh), run(program, xs)
    place = 2 + place % (len(known) - 2)
    v = np.array([1.0, -2.0]) if weigh else np.ones(2)
    root, weights = (known[-1], [constant(v)]) if weigh else (known[-1].sum(), None)
    inputs = [*tensors, known[place]]
    (of_middle,) = slopes(after(program, made, place), [made[place]], v)
    of_leaves = slopes(lambda *xs: run(program, xs)[-1], xs, v)
    for create in (True, False):
        found = its.gradients.grad(root, inputs, weights, create_graph=create, allow_unused=True)
        right = [np.zeros(2) if g is None else g for g in found]
        near(right, [*of_leaves, of_middle], 1e-6)
        assert type(found) is tuple and {type(g) for g in found} <= {Tensor, type(None)}
    assert all(t._grad is None for t in known)
    unused = leaves([xs[0]])
    square = (tensors[0] * tensors[0]).sum()
    for inputs in (unused, [tensors[0], *unused]):
        refuses(RuntimeError, partial(its.gradients.grad, retain_graph=True), square, inputs)
    (recorded,) = its.gradients.grad(square, tensors[0], create_graph=True)
    assert recorded.requires_grad and its.gradients.grad(square, tensors[0])
    a, b = tensors
    near(its.gradients.grad((a * a * b).sum(), [a, b]), [2 * xs[0] * xs[1], xs[0] ** 2])
    refuses(RuntimeError, its.gradients.grad, square, tensors[0])
    roots, turns = run(program, tensors, minigrad.tanh), []
    roots[place].register_hook(lambda g: turns.append(g))
    assert its.gradients.backward([roots[-1], roots[place]], [constant(v), constant(v)]) is None
    both = slopes(lambda *xs: run(program, xs)[-1] + run(program, xs)[place], xs, v)
    near([np.zeros(2) if t._grad is None else t._grad for t in tensors], both, 1e-6)
    assert len(turns) == 1
    assert its.gradients.many(t for t in tensors) == tuple(tensors)
    assert its.gradients.many(tensors[0]) == (tensors[0],) and its.gradients.many(None) == (None,)


@law("10.2", a=arrays(), b=arrays(), kind=st.integers(0, 2))
def cut(its, a, b, kind):
    x, value = [Tensor(n * 2) if not kind else leaves([n * 2])[0] for n in (a, b)]
    x = x * 1 if kind == 2 else x
    edge, known = x.edge, getattr(x.edge, "shape", None)
    for taken in (x.detach(), x.data):
        assert taken.edge is None and x.edge is edge and taken.array is x.array
    x.data = value
    assert x.array is value.array and x.edge is edge
    assert getattr(edge, "shape", None) == (b.shape if kind == 1 else known)
    whole = minigrad.tensor([1, 2])
    if kind:
        refuses(RuntimeError, setattr, x, "data", whole)
        assert x.array is value.array
    else:
        x.data = whole
        assert x.array is whole.array


BLOCKS = st.recursive(
    st.just([]),
    lambda inner: st.lists(st.tuples(st.sampled_from("neNED"), inner, st.booleans()), max_size=3),
    max_leaves=6,
)


@law("10.3", blocks=BLOCKS)
def switched(its, blocks):
    def enter(blocks, on):
        for kind, inner, fails in blocks:
            make = {"n": minigrad.no_grad, "e": minigrad.enable_grad}
            inside = kind in "eE"
            block = make.get(kind, lambda: its.set_grad_enabled(inside))()
            assert its.is_grad_enabled() is (on if kind in "ne" else inside)
            if kind == "D":
                seen = block(its.is_grad_enabled)
                assert its.is_grad_enabled() is on and seen() is False
                with minigrad.set_grad_enabled(not on):
                    assert seen() is False and its.is_grad_enabled() is not on
                continue
            try:
                with block:
                    assert its.is_grad_enabled() is inside is its.recording.on
                    enter(inner, inside)
                    if fails:
                        raise KeyError
                assert not fails
            except KeyError:
                assert fails
            assert its.is_grad_enabled() is on

    its.recording.on, its.recording.outside = True, []
    enter(blocks, True)
    assert its.recording.outside == []
    its.recording.on = False
    minigrad.no_grad().__exit__(None, None, None)
    assert its.recording.on


@law("10.4", seed=SEEDS, counts=st.tuples(st.integers(1, 3), st.integers(1, 3)))
def epoch(its, seed, counts):
    data = [[like(seed + 10 * k + j, (2,), (2,)) for j in range(n)] for k, n in enumerate(counts)]
    (w,), place = leaves([0.5]), 0.5
    for notes in (its.graphs, its.held, its.recorded):
        notes.clear()
    found = its.epoch(w, *[[tuple(map(Tensor, pair)) for pair in part] for part in data])
    sums = [0.0, 0.0]
    for k, part in enumerate(data):
        for x, y in part:
            sums[k] += np.mean((place * x - y) ** 2) / len(part)
            place -= 0.1 * np.mean(2 * (place * x - y) * x) * (k == 0)
    near([float(each) for each in found], sums)
    near(w, np.asarray(place))
    assert its.recorded == [True] * counts[0] + [False] * counts[1]
    assert max(its.held) <= 1 and w.requires_grad and w.grad_fn is None


@law("11.1", a=NUMBERS, b=NUMBERS)
def reaches(its, a, b):
    def first(write, quietly=False):
        (x,) = leaves([[a, b]])
        with minigrad.set_grad_enabled(not quietly):
            try:
                write(x)
            except RuntimeError:
                return "error"
        return x.array[0].item()

    nine = [lambda x: x.detach(), lambda x: x.detach().clone(), lambda x: x, lambda x: x * 1]
    expected = [first(lambda x, to=to: to(x).__setitem__(0, 9)) for to in nine]
    expected += [first(lambda x: x.add_(x), True)]
    expected += [first(lambda x: x.reshape(2, 1).T.mul_(3), True)]
    near(list(its.predict_x0(a, b)), expected)


WAYS = [lambda a: a.T, lambda a: a[..., ::-1], lambda a: a[:1], lambda a: a[None]]
WAYS += [lambda a: a[..., None, :], lambda a: a.view(np.ndarray)]


@law("11.2", ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=4), others=st.lists(st.booleans(), min_size=2, max_size=5))
def noted(its, ways, others):
    one, other, data = np.zeros((2, 3)), np.zeros(2), its.made_of_bytes()
    kind = np.zeros((1, 3)).view(its.Kind)
    for first in (one, kind, data):
        saved_values._writes.pop(id(first), None)
        view = first
        for way in ways:
            view = way(view)
        assert its.storage(view) is (first if first is not kind else kind.base)
    saved_values._writes.pop(id(other), None)
    gone = np.zeros(2)
    saved_values._writes.pop(id(gone), None)
    its.wrote(gone[:1])
    held, key = weakref.ref(gone), id(gone)
    del gone
    assert held() is None and key not in saved_values._writes
    view = one[:1]
    made, counts = [], [0, 0]
    for which in others:
        made.append((next(saved_values.numbers), list(counts)))
        its.wrote(other if which else view)
        counts[which] += 1
        assert [its.version(view), its.version(one), its.version(other)] == [counts[0], *counts]
    for number, before in made:
        for saved, since in (([one.T], 0), ((None, (3, other[:1])), 1), ([], None), (None, None)):
            expected = since is not None and counts[since] > before[since]
            assert its.written_after(number, saved) is expected
    assert not one.any() and not other.any()


@law("11.3", events=st.lists(st.integers(0, 3), min_size=3, max_size=7))
def stale(its, events):
    y = 2 * leaves([[1.0, 2.0, 3.0]])[0]
    views, now = [], 0
    for event in events:
        now += 1
        if event == 0:
            y[0] = 5.0
            views = [(v, made, now) for v, made, _ in views]
        elif event == 1:
            with minigrad.no_grad():
                y.mul_(2.0)
        else:
            usable = [v for v, made, written in views if written < made]
            source = usable[-1] if event == 3 and usable else y
            views.append((source[:2], now, 0))
            assert views[-1][0]._base is y and (y * 1)._base is None
            assert views[-1][0].source[1] > (views[-2][0].source[1] if views[1:] else 0)
    assert {each._base for each in (y, y[[0, 2]], y.sum(), y.detach())} == {None}
    for view, made, written in views:
        if written > made:
            refuses(RuntimeError, view.sum)
        else:
            view.sum()


@law("11.4", seed=SEEDS, beta=st.sampled_from([0.0, 0.5, 0.75]), rate=POSITIVE, shape=SHAPES)
def sign(its, seed, beta, rate, shape):
    w, v, *grads = like(seed, shape, shape, shape, shape)
    (weight,), velocity = leaves([w]), constant(v)
    memory = weight.array, velocity.array
    for g in grads:
        weight.grad = constant(g)
        versions = weight._version, velocity._version
        its.sign_step([weight], [velocity], rate, beta)
        v = beta * v + (1 - beta) * g
        w = w - rate * np.sign(v)
        near([weight, velocity, weight.grad], [w, v, g])
        assert (weight.array, velocity.array) == memory if not shape else True
        assert weight.array is memory[0] and velocity.array is memory[1]
        assert weight._version > versions[0] and velocity._version > versions[1]
        assert weight.grad_fn is None and weight.requires_grad


# --- the finished walk, Functions, walks that are walked again: chapters 12 and 13 ----


def below(node):
    """Return a node and all that it leads to."""
    return {node}.union(*(below(target) for target in node.targets if target))


@law("12.1", program=PROGRAMS, seed=SEEDS, picks=st.sets(st.integers(0, 9), max_size=3))
def to_inputs(its, program, seed, picks):
    xs = like(seed, *STRETCHED)
    tensors = leaves(xs)
    known, made = run(program, tensors, minigrad.tanh), run(program, xs)
    places = {pick % len(known) for pick in picks}
    inputs, root = {known[place].edge for place in places}, known[-1]
    (g,) = like(seed + 1, root.shape)
    kept = [t.edge.saved and dict(t.edge.saved) for t in known[4:]]
    for retain in (True, False):
        ends = its.walk({root.edge: g}, inputs, retain)
        for place in places or range(4):
            (slope,) = slopes(after(program, made, place, 4), [made[place]], g)
            found = ends.get(known[place].edge, np.zeros(made[place].shape))
            near(found, slope if place < len(known) - 1 else g, 1e-6)
        assert {*ends} <= (inputs or {t.edge for t in tensors})
        assert not retain or kept == [t.edge.saved and dict(t.edge.saved) for t in known[4:]]
    found = its.leading_to(inputs, {root.edge: g})
    assert found == inputs | {node for node in below(root.edge) if below(node) & inputs}
    assert len(inputs) == len(places)
    a, c, notes = *leaves(xs[:2]), []
    three, one = 3 * a, np.ones(3)
    three.register_hook(lambda g: 2 * g)
    a.edge.hooks = (lambda g: 2 * g, lambda g: g + 1)
    added = a + leaves([xs[0]])[0]
    near(its.walk({(added + three).edge: one})[a.edge], np.full(3, 15.0))
    near(one, np.ones(3))
    root = its.Spied.apply(c, notes).sum() * (3 * its.Spied.apply(a * a, notes)).sum()
    b = root.edge.targets[1]
    its.walk({root.edge: np.ones(())}, {b}, True)
    assert notes == [] and root.edge.saved
    its.walk({root.edge: np.ones(())}, {a.edge})
    assert len(notes) == 1 and root.edge.saved is None


@law("12.2", shape=SHAPES, seed=SEEDS, small=st.booleans(), create=st.booleans(), factors=st.lists(NUMBERS, min_size=1, max_size=3))
def first_v(its, shape, seed, small, create, factors):
    a, v = like(seed, shape, shape)
    (x,) = leaves([a.astype(np.float32) if small else a])
    y = x * 1
    found = its.first_gradient(y, constant(v))
    assert found.dtype == x.dtype
    near(found, v)
    if a.size == 1:
        found = its.first_gradient(y, None)
        near(found, np.ones(shape))
        assert found.dtype == x.dtype
    else:
        refuses(RuntimeError, its.first_gradient, y, None)
    refuses(RuntimeError, its.first_gradient, constant(a), constant(v))
    refuses(TypeError, its.first_gradient, y, v)
    refuses(RuntimeError, its.first_gradient, y, constant(np.ones((*shape, 1))))
    outputs, given = [y] * len(factors), [constant(f * v) for f in factors]
    kept = [g.array.copy() for g in given]
    found = its.walk_back(outputs, given, None, None, create)[x.edge]
    near(found, sum(kept), 1e-5)
    assert isinstance(found, Tensor) is create and minigrad.is_grad_enabled()
    near(given, kept)
    refuses(ValueError, its.walk_back, outputs, given[1:])
    refuses(TypeError, its.walk_back, outputs[:1], [v])
    states, retain = [], [None, True, False][len(factors) - 1]
    x.register_hook(lambda g: states.append((minigrad.is_grad_enabled(), np.geterr()["divide"])))
    y = x * 1
    z = y * y
    walk = partial(its.walk_back, [z], [constant(v)])
    assert {*walk([x, y], True)} == {x.edge, y.edge}
    walk(None, retain, create)
    assert states == [(False, "ignore"), (create, "ignore")]
    if create if retain is None else retain:
        walk()
    else:
        refuses(RuntimeError, walk)
    base = leaves([np.ones(2)])[0] * 1
    view = base[:1]
    base.mul_(3)
    refuses(RuntimeError, its.first_gradient, view, None)


turns = []  # of Both's backward


class Same(autograd.Function):
    """The argument itself, part of it, whole numbers, and a name: one memory."""

    @staticmethod
    def forward(ctx, a, b):
        part = 2 * a[:1]
        return a, part, part, minigrad.tensor([1]), "name"

    @staticmethod
    def backward(ctx, g, h, *others):
        return g, None


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


class Both(autograd.Function):
    """a * b and 2 * a, of which one is saved."""

    @staticmethod
    def forward(ctx, a, b, k):
        assert not minigrad.is_grad_enabled()
        assert ctx.needs_input_grad == (a.requires_grad, b.requires_grad, False)
        y = a * b * k
        ctx.k = k
        ctx.save_for_backward(a, None, b, y)
        return y, 2 * a

    @staticmethod
    def backward(ctx, g, h):
        a, nothing, b, y = ctx.saved_tensors
        turns.append(k := ctx.k)
        assert isinstance(g, Tensor) and isinstance(h, Tensor)
        assert nothing is None and isinstance(a, Tensor) and y.shape == a.shape
        return g * b * ctx.k + 2 * h, g * a * ctx.k, None


def as_function(its, seed, used, needed, k):
    """Fail unless a Function with two outputs is one node with the right slopes."""
    xs = like(seed, (2,), (2,))
    a, b = leaves(xs)
    b.requires_grad = needed
    outs = Both.apply(a, b, k)
    assert type(outs) is tuple and outs[0].requires_grad and outs[1].requires_grad
    assert [*outs[0].grad_fn.targets][0] is outs[1].grad_fn.targets[0]
    f = lambda a, b: [a * b * k, 2 * a][used] ** 3
    (outs[used] ** 3).sum().backward(create_graph=True)
    first = slopes(f, xs)
    near(a._grad, first[0], 1e-6)
    near(b._grad if b._grad is not None else np.zeros(2), first[1] * needed, 1e-6)
    (again,) = autograd.grad((a._grad * constant([1.0, 3.0])).sum(), [a], allow_unused=True)
    h = 1e-5
    sides = [slopes(f, [xs[0] + s, xs[1]], np.array([1.0, 3.0]))[0] for s in (h, -h)]
    near(again if again is not None else np.zeros(2), (sides[0] - sides[1]) / (2 * h), 1e-4)
    with minigrad.no_grad():
        assert not any(out.requires_grad for out in Both.apply(a, b, k))
    near([a.array, b.array], xs)
    turns.clear()
    autograd.grad(Both.apply(a, b, k)[0].sum(), [a])
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
    same, *parts, whole, name = Same.apply(a, leaves(xs)[0])
    assert name == "name" and whole.edge is None and same is not a
    made = [a.array, same.array, *(part.array for part in parts)]
    assert not any(np.shares_memory(x, y) for x, y in combinations(made, 2))
    (same.sum() + parts[0].sum()).backward()


@law("12.3", seed=SEEDS, used=st.integers(0, 1), needed=st.booleans(), k=st.integers(-2, 2))
def one_node(its, seed, used, needed, k):
    as_function(its, seed, used, needed, k)


@law("12.4", program=PROGRAMS, seed=SEEDS, create=st.booleans(), alone=st.booleans())
def tables(its, program, seed, create, alone):
    xs = like(seed, *([(2,)] if alone else [(2,), (2, 1)]))
    tensors = leaves(xs)
    f = lambda *xs: run(program, xs)[-1]
    ours = lambda *xs: run(program, xs, minigrad.tanh)[-1]
    inputs = tensors[0] if alone else tuple(tensors)
    y = f(*xs)
    rows = [slopes(f, xs, v.reshape(y.shape)) for v in np.eye(y.size)]
    right = [np.stack(rows).reshape(*y.shape, *x.shape) for rows, x in zip(zip(*rows), xs)]
    found = its.functional.jacobian(ours, inputs, create)
    assert isinstance(found, tuple) is not alone
    near([found] if alone else list(found), right, 1e-6)
    (v,) = like(seed + 1, y.shape)
    value, found = its.functional.vjp(ours, inputs, constant(v))
    near(value, np.asarray(y))
    near([found] if alone else list(found), slopes(f, xs, v), 1e-6)
    assert not value.requires_grad and all(t._grad is None for t in tensors)
    a, b = leaves(like(seed, (2,), (2,)))
    b.requires_grad = False
    with minigrad.no_grad():
        made, new = its.functional.recorded(lambda a, b: a * b, (a, b), create)
    assert made.requires_grad and all(x.requires_grad for x in new)
    assert not b.requires_grad and new[0] is not a and new[1] is not b
    assert [x.edge in getattr(n.grad_fn, "targets", ()) for n, x in zip(new, (a, b))] == [create, False]
    w, outputs = constant([1.0, 3.0]), [a * a * b, b, (a * a).sum()]
    found = its.functional.weighed(outputs, [w, w, constant(-1.0)], [a, a.detach().requires_grad_()])
    near(found, [2 * a.array * b.array * w.array - 2 * a.array, np.zeros(2)])
    near(its.functional.weighed([b], None, [a]), [np.zeros(2)])
    refuses(ValueError, its.functional.weighed, outputs[:1], [w, w], [a])
    if create:
        table = its.functional.jacobian(lambda x: x**3, tensors[0], True)
        table.sum().backward()
        near(tensors[0]._grad, 6 * xs[0], 1e-6)


@law("12.5", program=PROGRAMS, seed=SEEDS, needed=st.booleans(), several=st.booleans())
def again(its, program, seed, needed, several):
    xs = like(seed, (2,), (2,))
    calls, results = [], []

    def piece(k, a, b):
        calls.append((minigrad.is_grad_enabled(), b.requires_grad))
        known = run(program, [a, b], minigrad.tanh)
        return (known[-1] * k, known[-2] * 1) if several else known[-1] * k

    for call in (autograd.checkpoint, lambda piece, *args: piece(*args)):
        a, b = leaves(xs)
        b.requires_grad = needed
        y = call(piece, 3, a, b)
        y = y[0] * y[1] if several else y
        if y.requires_grad:
            y.sum().backward()
        results.append([np.asarray(y.array), *(np.zeros(2) if t._grad is None else t._grad for t in (a, b))])
    near(*results)
    assert calls[0][0] is False and {call[1] for call in calls[1:]} <= {needed}
    kept = leaves(xs)[0] * 1
    y = autograd.checkpoint(minigrad.exp, kept).sum()
    kept.detach().mul_(2)
    refuses(RuntimeError, y.backward)


@law("12.6", p=st.lists(POSITIVE, min_size=2, max_size=2), q=st.lists(NUMBERS, min_size=2, max_size=2), v=st.lists(NUMBERS, min_size=2, max_size=2))
def implicit(its, p, q, v):
    def roots(p, q):
        found = [np.roots([1, 0, 0, 0, a, -b]) for a, b in zip(p, q)]
        return np.array([r[np.argmin(abs(r.imag))].real for r in found]) * v

    tensors = leaves([p, q])
    its.Root.apply(*tensors).backward(constant(v))
    near([t.grad for t in tensors], nudged(roots, [p, q]), 1e-4)


def second(program, xs):
    """Return the slopes of sum(slopes of a program), by central differences."""

    def total(*xs):
        return sum(np.sum(s) for s in slopes(lambda *xs: run(program, xs)[-1], [*xs]))

    return nudged(total, xs)


def twice(program, seed):
    """Fail unless a recorded walk can be walked back through."""
    xs = like(seed, (2,), (2, 1))
    xs = [x / 2 for x in xs]
    tensors = leaves(xs)
    y = run(program, tensors, minigrad.tanh)[-1].sum()
    walk = partial(autograd.grad, allow_unused=True)
    found = [g for g in walk(y, tensors, create_graph=True) if g is not None]
    total = sum(g.sum() for g in found)
    again = walk(total, tensors) if getattr(total, "requires_grad", False) else [None] * 2
    near([x * 0 if g is None else g for g, x in zip(again, xs)], second(program, xs), 1e-3)


@law("13.1", program=PROGRAMS, seed=SEEDS)
def wants(its, program, seed):
    twice(program, seed)
    a, k, b = like(seed, (2,), (2,), (2,))
    tensors = leaves([a, b])
    (s,) = autograd.grad(its.blend(constant(k), *tensors).sum(), tensors[0], create_graph=True)
    near(autograd.grad(s.sum(), tensors[1])[0], k)
    node = (tensors[0] * tensors[1]).edge
    assert its.value_of(node, "b", 0, np.ones(2)) is tensors[1].array
    made = its.value_of(node, "b", 0, constant(np.ones(2)))
    assert made.edge is tensors[1].edge and made.array is tensors[1].array
    pair = minigrad.cat([tensors[0], tensors[1][:1]]).grad_fn
    assert its.value_of(pair, "shape", 1, made) == (1,)
    fill = tensors[0].masked_fill(constant(b) > 0, 0.0).grad_fn
    kept, g = dict(fill.saved), constant(np.ones(2))
    assert its.value_of(fill, "condition", 0, g) is fill.saved["condition"]
    assert fill.saved == kept and node.saved["b"] is tensors[1].array
    assert its.value_of((tensors[0] ** 3).edge, "b", 0, g) == 3
    other = (tensors[0] * constant(k)).edge
    made = its.value_of(other, "b", 0, g)
    assert isinstance(made, Tensor) and made.edge is None
    assert its.value_of(node, "shape", 1, None) == (2,) and its.value_of(node, "i", 1, None) == 1


@law("13.2", seed=SEEDS, used=st.integers(0, 1), needed=st.booleans(), k=st.integers(-2, 2))
def linked(its, seed, used, needed, k):
    as_function(its, seed, used, needed, k)
    (a,) = leaves([np.abs(like(seed, (2,))[0]) + 0.25])
    first, second = its.Roots.apply(a)
    for y, f in ((first, np.sqrt), (second, lambda a: 2 * np.sqrt(a))):
        (s,) = autograd.grad(y.sum(), a, create_graph=True)
        near(s, slopes(f, [a.array])[0])
        near(autograd.grad(s.sum(), a, retain_graph=True)[0], -f(a.array) / (4 * a.array**2), 1e-6)
    notes = []
    its.Curve.apply(a, notes).sum().backward()
    assert notes[0][0] is a and notes[0][1].grad_fn is not None
    ctx, out, same = its.Context((True,)), *leaves([a.array] * 2)
    ctx.save_for_backward(a, None, out.detach(), same := same.detach())
    call = its.Call(its.Curve, ctx, (a, "text"), (out, same, "text"))
    assert (call.name, call.dtypes) == ("CurveBackward", [a.dtype, None])
    assert call.kinds == [((2,), a.dtype)] * 2 + [None]
    assert call.sources == [a.edge, None, None, 1]
    node, other = (a * 1).edge, leaves([a.array])[0]
    for leaf in (a, other):  # the one has other numbers, the other is gone
        array, edge = leaf.array, leaf.edge
        a.data, leaf, other = constant([1.0, 2.0]), None, None
        found = its.linked(array, edge, node)
        near(found, array)
        assert found.edge is edge


@law("13.3", program=PROGRAMS, seed=SEEDS, alone=st.booleans())
def products_of_two_walks(its, program, seed, alone):
    shapes = [(2,)] if alone else [(2,), (2, 1)]
    xs, vs = like(seed, *shapes), like(seed + 1, *shapes)
    xs = [x / 2 for x in xs]
    f = lambda *xs: run(program, xs)[-1]
    ours = lambda *xs: run(program, xs, minigrad.tanh)[-1]
    given, v = ([t[0] if alone else tuple(t) for t in (list(map(constant, each)),)][0] for each in (xs, vs))
    value, moved = its.autograd.jvp(ours, given, v)
    near(value, np.asarray(f(*xs)))
    near(moved, np.imag(f(*[x + 1e-30j * u for x, u in zip(xs, vs)])) / 1e-30, 1e-6)
    value, product = its.autograd.hvp(lambda *xs: ours(*xs).sum(), given, v)
    sides = [slopes(f, [x + h * u for x, u in zip(xs, vs)]) for h in (1e-5, -1e-5)]
    right = [(one - other) / 2e-5 for one, other in zip(*sides)]
    near([product] if alone else list(product), right, 1e-3)
    assert not any(t.requires_grad for t in (value, moved, *its.functional.many(product)))
    tensors = leaves(xs)
    slope = its.functional.slope_of(lambda *xs: ours(*xs).sum() + (xs[0] ** 3).sum(), given)(*tensors)
    right = slopes(lambda *xs: f(*xs).sum() + (xs[0] ** 3).sum(), xs)
    near([slope] if alone else list(slope), right, 1e-6)
    first = slope if alone else slope[0]
    assert first.requires_grad and autograd.grad(first.sum(), tensors[0], retain_graph=True)
    its.autograd.hvp(lambda *xs: ours(*xs).sum(), slope, v)
    assert all(t._grad is None for t in tensors)
    several = lambda *xs: (ours(*xs), xs[0] * xs[0])
    near(its.autograd.jvp(several, given, v)[1], (moved, 2 * xs[0] * vs[0]))


@law("13.4", program=PROGRAMS, seed=SEEDS, only=st.booleans())
def forward(its, program, seed, only):
    xs = like(seed, *STRETCHED[:2])
    vs = like(seed + 1, *STRETCHED[:2])
    tensors = leaves(xs)
    y = run(program, tensors, minigrad.tanh)[-1]
    vs[1] = vs[1] * (not only)
    nudges = {t.edge: constant(v) for t, v in [*zip(tensors, vs)][: 2 - only]}
    assume(its.leading_to(nudges, [y.edge]) >= {y.edge})
    f = lambda *xs: run(program, xs)[-1]
    given = dict(nudges)
    moved = np.imag(f(*[x + 1e-30j * v for x, v in zip(xs, vs)])) / 1e-30
    near(its.carry(nudges, y), np.asarray(moved), 1e-6)
    assert nudges == given and all(t._grad is None for t in tensors)


@law("13.5", w=st.lists(NUMBERS, min_size=1, max_size=4), c=NUMBERS, d=NUMBERS, longest=POSITIVE, size=st.sampled_from([1.0, 1e-4]))
def newton(its, w, c, d, longest, size):
    bend = 2 * d + 6 * c * np.array(w)
    slope = 3 * c * np.square(w) + 2 * d * np.array(w) + 1
    assume(np.all(bend != 0))
    given = constant(w)
    found = its.downhill(lambda w: size * (c * w**3 + d * w**2 + w), given, longest)
    near(found, w - np.clip(slope / np.abs(bend), -longest, longest))
    near(given, np.array(w))
    assert not found.requires_grad and not given.requires_grad
