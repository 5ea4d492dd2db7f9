"""Laws of the exercises with losses, layers and steps: chapters 14 to 21."""

import itertools
import math
import random
from functools import partial

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import minigrad
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.optim import SGD, Adam
from minigrad.static import Session, placeholder, trace
from minigrad.static.steps import Step
from tests.properties import (
    DICE,
    FULL,
    NUMBERS,
    POSITIVE,
    SEEDS,
    arrays,
    asked,
    differentiates,
    law,
    leaves,
    like,
    near,
    slopes,
)

SMALL = st.integers(1, 3)


def constant(array):
    return minigrad.tensor(np.array(array, float))


def sigmoid(z):
    return np.exp(-np.logaddexp(0, -np.asarray(z, float)))


@law("14.1", z=st.lists(st.floats(-80, 80) | NUMBERS | st.sampled_from([-1e3, 1e3]), min_size=1, max_size=4))
def survives(its, z):
    (x,) = leaves([np.float32(z)])
    z = x.array.astype(float)
    y = its.stable_sigmoid(x)
    y.sum().backward()
    found = y.array.astype(float), x.grad.array.astype(float)
    for numbers, right in zip(found, (sigmoid(z), sigmoid(z) * sigmoid(-z))):
        within = np.where(z > 0, 1e-6, 1e-36)  # beside 1 float32 has no more digits
        assert (np.abs(numbers - right) <= 1e-4 * right + within).all()
    near(x, z)
    assert "SigmoidBackward0" not in its.names(its.stable_sigmoid(x).grad_fn)


@law("14.2", a=arrays(FULL), seed=SEEDS, reduction=st.sampled_from(["none", "sum", "mean"]))
def logits(its, a, seed, reduction):
    (b,) = like(seed, a.shape)
    take = {"none": lambda x: x, "sum": np.sum, "mean": np.mean}[reduction]
    f = lambda a, b: np.asarray(take(np.log(1 + np.exp(a)) - a * b))
    loss = partial(F.binary_cross_entropy_with_logits, reduction=reduction)
    differentiates(loss, f, [a, b])
    for far in (-900.0, 900.0):
        near(loss(constant([far]), constant([1.0])).sum().array, np.asarray(max(-far, 0.0)))


@law("14.3", n=SMALL, N=SMALL, seed=SEEDS)
def rows(its, n, N, seed):
    x, w, b, y = like(seed, (n,), (n, N), (N,), (N,))
    f = lambda w, b: (np.log(1 + np.exp(x @ w + b)) - y * (x @ w + b)).mean()
    near(asked(its.slopes, x, w, b, y), slopes(f, [w, b]))


@law("14.4", a=arrays(FULL), dice=DICE, far=st.booleans())
def log_softmax(its, a, dice, far):
    dim = dice.randrange(-a.ndim, a.ndim)
    f = lambda a: a - np.log(np.exp(a).sum(axis=dim, keepdims=True))
    differentiates(lambda a: its.softmax_rules.log_softmax(a, dim), f, [a])
    near(F.log_softmax(constant(a + 1000.0 * far), dim), f(a))
    near(F.log_softmax(constant(a * 800), dim), a * 800 - np.logaddexp.reduce(a * 800, axis=dim, keepdims=True))


@law("14.5", epsilon=st.floats(0.01, 0.9), classes=st.integers(2, 1000))
def rests(its, epsilon, classes):
    z = np.zeros(classes)
    z[0] = its.resting_gap(epsilon, classes)
    near(float(np.exp(z)[0] / np.exp(z).sum()), 1 - epsilon + epsilon / classes)


@law("15.1", parts=st.lists(st.integers(0, 4), min_size=1, max_size=6), deep=st.booleans())
def once(its, parts, deep):
    shared, made = nn.Linear(2, 2), []
    for k, kind in enumerate(parts):
        layer = {0: lambda: shared, 1: nn.ReLU, 2: lambda: nn.Linear(2, 2, bias=False)}
        made.append(layer.get(kind, lambda: nn.Linear(2, 2))())
        if kind == 4:
            made[-1].weight = shared.weight
    model = nn.Sequential(nn.Sequential(*made)) if deep else nn.Sequential(*made)
    model.own = nn.Parameter(minigrad.ones(2))
    model.register_buffer("center", minigrad.zeros(1))
    right, seen = [("own", model.own)], [model.own]
    for k, part in enumerate(made):
        for name in ("weight", "bias"):
            p = getattr(part, name, None)
            if p is not None and not any(p is other for other in seen):
                seen.append(p)
                right.append((f"0.{k}.{name}" if deep else f"{k}.{name}", p))
    found = list(model.named_parameters())
    assert [name for name, _ in found] == [name for name, _ in right]
    assert all(p is q for (_, p), (_, q) in zip(found, right))
    assert [name for name, _ in model.named_buffers()] == ["center"]


@law("15.2", width=SMALL, depth=SMALL, seed=SEEDS)
def tied(its, width, depth, seed):
    minigrad.manual_seed(seed)
    model = its.Tied(width, depth).double()
    minigrad.manual_seed(seed)
    near(model.layers[0].weight.array, nn.Linear(width, width).double().weight.array)
    assert len(list(model.parameters())) == depth + 1
    weight, biases = model.layers[0].weight, [layer.bias for layer in model.layers]
    x, g = like(seed, (2, width), (2, width))

    def f(W, *biases):
        y = x
        for b in biases:
            y = np.tanh(y @ W.T + b)
        return y

    parameters = [weight, *biases]
    (model(constant(x)) * constant(g)).sum().backward()
    near([p.grad for p in parameters], slopes(f, [p.array for p in parameters], g), 1e-6)


@law("15.3", picks=st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=5))
def frozen(its, picks):
    inner = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model = nn.Sequential(nn.Linear(2, 2), inner, nn.Linear(2, 1))
    parts, states = [*model, model], dict.fromkeys(model.parameters(), True)
    for pick, value in picks:
        kept = [p.array for p in model.parameters()]
        assert parts[pick].requires_grad_(value) is parts[pick]
        states |= dict.fromkeys(parts[pick].parameters(), value)
        assert {p: p.requires_grad for p in states} == states
        assert all(p.array is q for p, q in zip(model.parameters(), kept))
    assert not any(buffer.requires_grad for _, buffer in model.named_buffers())
    model[0].weight.grad = minigrad.ones(2, 2)
    assert model.requires_grad_(False)[0].weight.grad is not None


@law("15.4", sizes=st.tuples(*[SMALL] * 4), drop=st.sets(st.integers(0, 4)))
def fits(its, sizes, drop):
    classes, depth, given_classes, given_depth = sizes
    model, source = its.Centered(classes, depth), its.Centered(given_classes, given_depth)
    source.center.fill_(0.5)
    state = source.state_dict()
    for name in [name for k, name in enumerate(state) if k in drop]:
        del state[name]
    own = model.state_dict()
    before = {name: t.array.copy() for name, t in own.items()}
    objects, given = list(model.parameters()), {name: t.array.copy() for name, t in state.items()}
    fit = {n for n in own if n in given and given[n].shape == before[n].shape}
    assert list(its.load_what_fits(model, state)) == [name for name in own if name not in fit]
    for name, t in model.state_dict().items():
        near(t, given[name] if name in fit else before[name])
    assert all(p is q and p.requires_grad for p, q in zip(objects, model.parameters()))
    with minigrad.no_grad():
        for t in (model.center, *objects):
            t += 1.0
    assert list(state) == list(given)
    near([t.array for t in state.values()], list(given.values()))


GRADS = st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=4)


def stepped(optimizer, p, grads):
    """Yield after each step; fail if a gradient was changed."""
    for k, g in enumerate(grads):
        p.grad = constant(g)
        held = p.array
        optimizer.step()
        near(p.grad, np.array(g))
        assert p.array is held
        yield k + 1, np.array(grads[: k + 1])


@law("16.1", w=st.lists(NUMBERS, min_size=2, max_size=2), grads=GRADS, lr=POSITIVE, beta=st.sampled_from([0.0, 0.5, 0.9]), decay=st.sampled_from([0.0, 0.5]))
def momentum(its, w, grads, lr, beta, decay):
    for some in (grads, grads[:1]):
        (p,), place, speed = leaves([w]), np.array(w), 0.0
        optimizer = SGD([p], lr=lr, momentum=beta, weight_decay=decay)
        for _, seen in stepped(optimizer, p, some):
            speed = beta * speed + seen[-1] + decay * place
            place = place - lr * speed
            near(p, place)
            if beta:
                near(optimizer.state[p]["momentum_buffer"], speed)
        optimizer.zero_grad(set_to_none=False)
        optimizer.step()
        near(p, place - lr * (beta * speed + decay * place))
    (p,) = leaves([w])
    optimizer, p.grad = SGD([p], lr=lr, momentum=0.5), constant(grads[0])
    for place in np.array(w) - lr * np.outer([1.0, 2.5, 4.25], grads[0]):
        optimizer.step()
        near([p, p.grad], [place, np.array(grads[0])])


@law("16.2", w=NUMBERS, grads=GRADS, size=st.sampled_from([1.0, 1e-6, 1e6]), lr=POSITIVE, betas=st.sampled_from([(0.9, 0.999), (0.5, 0.8)]), eps=st.sampled_from([1e-8, 0.5]))
def adam(its, w, grads, size, lr, betas, eps):
    (p,) = leaves([np.array([w, -w])])
    optimizer, place = Adam([p], lr=lr, betas=betas, eps=eps), np.array([w, -w])
    for t, seen in stepped(optimizer, p, (size * np.array(grads)).tolist()):
        shares = [(1 - b) * b ** np.arange(t)[::-1] for b in betas]
        m, s = shares[0] @ seen, shares[1] @ seen**2
        near([optimizer.state[p][n] for n in ("exp_avg", "exp_avg_sq")], [m, s])
        place = place - lr * m / (1 - betas[0] ** t) / (np.sqrt(s / (1 - betas[1] ** t)) + eps)
        near(p, place)
    (single,) = leaves([w])
    single.grad = constant(1.0)
    Adam([single], lr=lr).step()
    near(single, np.asarray(w - lr / (1 + 1e-8)))


@law("16.3", sizes=st.lists(SMALL, min_size=1, max_size=4), seed=SEEDS, rate=st.sampled_from([0.05, 0.1]))
def trains(its, sizes, seed, rate):
    model, w = its.one_weight(1.0), 1.0
    data = [like(seed + k, (n, 1), (n, 1)) for k, n in enumerate(sizes)]
    losses = []
    found = its.train(model, F.mse_loss, SGD(model.parameters(), lr=rate), [tuple(map(constant, pair)) for pair in data])
    for x, y in data:
        losses += [((w * x - y) ** 2).mean()] * len(x)
        w -= rate * (2 * (w * x - y) * x).mean()
    near(found, float(np.mean(losses)))
    assert type(found) is float
    near(model.weight.array.item(), float(w))


@law("16.4", a=NUMBERS, g=NUMBERS.filter(bool))
def ends(its, a, g):
    by_sgd = [a, a - 0.1 * g]
    right = [by_sgd[0], *[by_sgd[1]] * 3, by_sgd[1] - 0.1 * 0.9 * g, a - 2 * 0.1 * np.sign(g)]
    near(list(its.where_it_ends(a, g)), [float(n) for n in right])


@law("16.5", t=st.integers(0, 14), warm=st.integers(0, 5), more=st.integers(1, 8))
def warms(its, t, warm, more):
    total = warm + more
    turn = np.exp(1j * np.pi * (t - warm) / more)
    right = (t + 1) / warm if t < warm else abs(1 + turn) ** 2 / 4 if t < total else 0.0
    near(its.factor(t, warm, total), float(right))


@law("16.6", n=st.integers(1, 5), size=st.integers(0, 3), seed=SEEDS)
def ring(its, n, size, seed):
    lists = like(seed, (n, n * size))[0].tolist()
    own, sent = asked(its.ring_sum, lists)
    near([list(each) for each in own], [np.sum(lists, 0).tolist()] * n)
    near(list(sent), [2 * (n - 1) * size] * n)
    assert len({id(each) for each in own}) == n


@law("17.1", lengths=st.tuples(*[st.integers(1, 9)] * 2), kernel=st.tuples(*[st.integers(1, 4)] * 2), stride=st.tuples(SMALL, SMALL), padding=st.tuples(*[st.integers(0, 2)] * 2))
def places(its, lengths, kernel, stride, padding):
    rows = [n + 2 * p for n, p in zip(lengths, padding)]
    assume(all(row >= k - 1 for row, k in zip(rows, kernel)))
    right = [len(range(0, row - k + 1, s)) for row, k, s in zip(rows, kernel, stride)]
    found = its.conv.out_size((5, 7, *lengths), kernel, stride, padding)
    assert type(found) is tuple and list(found) == right


def slide(x, w, stride, bias=0.0):
    """Convolve by one product for each place of the kernel: of any kind of number."""
    (kh, kw), (sh, sw) = w.shape[2:], stride
    h, v = (x.shape[2] - kh) // sh + 1, (x.shape[3] - kw) // sw + 1
    y = 0
    for k, m in np.ndindex(kh, kw):
        part = x[:, :, k : k + (h - 1) * sh + 1 : sh, m : m + (v - 1) * sw + 1 : sw]
        y = y + np.tensordot(w[:, :, k, m], part, (1, 1)).swapaxes(0, 1)
    return y + np.reshape(bias, (-1, 1, 1))


IMAGES = st.tuples(SMALL, st.integers(1, 2), st.integers(3, 4), st.integers(3, 5))


@law("17.2", shape=IMAGES, kernel=st.tuples(SMALL, SMALL, SMALL), stride=st.tuples(SMALL, SMALL), seed=SEEDS)
def convolves(its, shape, kernel, stride, seed):
    o, *size = kernel
    xs = like(seed, shape, (o, shape[1], *size), (o,))
    convolve = partial(its.conv.convolve, stride=stride, padding=(0, 0))
    near(asked(convolve, *xs), slide(xs[0], xs[1], stride, xs[2]))
    near(asked(convolve, *xs[:2], None), slide(*xs[:2], stride))
    x, w, b = like(seed, (1, 1, 3, 3), (1, 1, 2, 2), (1,))
    differentiates(lambda *xs: F.conv2d(*xs), lambda x, w, b: slide(x, w, (1, 1), b), [x, w, b])


@law("17.3", shape=IMAGES, kernel=st.tuples(SMALL, SMALL), stride=st.tuples(SMALL, SMALL), seed=SEEDS)
def to_largest(its, shape, kernel, stride, seed):
    x = np.random.default_rng(seed).permutation(math.prod(shape)).reshape(shape) / 4
    x[x < 1] = 0.0  # equal ones: the first of them counts
    (t,) = leaves([x])
    y = F.max_pool2d(t, kernel, stride)
    (g,) = like(seed, y.shape)
    right = np.zeros(shape)
    for n, c, i, j in np.ndindex(y.shape):
        at = i * stride[0], j * stride[1]
        window = x[n, c, at[0] : at[0] + kernel[0], at[1] : at[1] + kernel[1]]
        a, b = np.unravel_index(window.argmax(), window.shape)
        right[n, c, at[0] + a, at[1] + b] += g[n, c, i, j]
    (found,) = minigrad.autograd.grad(y, t, leaves([g])[0], create_graph=True)
    near(found, right)
    where = np.zeros(y.shape, int)
    asked(its.pooling.to_largest, g, where, shape[2:], kernel, stride)
    assert its.pooling.to_largest(np.float32(g), where, shape[2:], kernel, stride).dtype == np.float32


@law("17.4", layers=st.lists(st.tuples(st.integers(1, 4), SMALL), max_size=4))
def sees(its, layers):
    field = {0}
    for kernel, stride in reversed(layers):
        field = {place * stride + k for place in field for k in range(kernel)}
    assert asked(its.seen, layers) == max(field) - min(field) + 1


@law("17.5", shape=IMAGES, kernel=st.tuples(SMALL, SMALL, SMALL), stride=SMALL, seed=SEEDS)
def kernels(its, shape, kernel, stride, seed):
    o, *size = kernel
    x, w = like(seed, shape, (o, shape[1], *size))
    f = lambda w: slide(x, w, (stride, stride))
    (g,) = like(seed + 1, f(w).shape)
    given = constant(x), constant(g)
    with minigrad.no_grad():  # nobody walks back
        found = its.kernel_slopes(*given, tuple(size), stride)
    near(found, slopes(f, [w], g)[0])
    near([t.array for t in given], [x, g])


@law("18.1", x=arrays(FULL), dice=DICE, eps=st.sampled_from([0.01, 0.75]), far=st.booleans())
def unit(its, x, dice, eps, far):
    axes = tuple(axis - x.ndim * dice.randint(0, 1) for axis in dice.sample(range(x.ndim), dice.randint(1, x.ndim)))
    x = np.float32(x + 5000) if far else x
    unit, mean, var, factor = asked(its.unit_of, x, axes, eps)
    exact = x.astype(float)
    mu, s = exact.mean(axes, keepdims=True), exact.var(axes, keepdims=True)
    right = [(exact - mu) / np.sqrt(s + eps), mu, s, 1 / np.sqrt(s + eps)]
    for found, expected in zip((unit, mean, var, factor), right):
        near(found, expected, 1e-2 if far else 1e-7)
        assert found.dtype == x.dtype


@law("18.2", p=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1]), seed=SEEDS, small=st.booleans(), training=st.booleans())
def drops(its, p, seed, small, training):
    minigrad.manual_seed(seed)
    (x,) = leaves([np.full((40, 50), 2.0, np.float32 if small else float)])
    y = its.dropout(x, p, training)
    y.sum().backward()
    if not training or not p:
        near(y.array, x.array)
        return
    kept = y.array != 0
    assert y.array.dtype == x.array.dtype and abs(kept.mean() - (1 - p)) < 0.06
    near(y.array, np.where(kept, 2 / (1 - p or 1), 0), 1e-6)
    near(x.grad.array, y.array / 2, 1e-6)
    if p < 1:
        assert 0 < np.ptp(kept.mean(0)) < 0.7 and 0 < np.ptp(kept.mean(1)) < 0.7
        again = [its.dropout(x, p).array != 0 for _ in range(4)]
        assert (again[0] != kept).any() and len({each.sum() for each in again}) > 1
        assert len({row.tobytes() for row in kept}) > 30
    minigrad.manual_seed(seed)
    near(its.dropout(x, p).array, y.array)


@law("18.3", n=SMALL, m=SMALL, seed=SEEDS, eps=st.sampled_from([1e-5, 0.5]))
def folds(its, n, m, seed, eps):
    W, b, mean, var, gamma, beta, x = like(seed, (m, n), *[(m,)] * 5, (4, n))
    var = np.abs(var) + 0.25
    new_W, new_b = asked(its.fold, W, b, mean, var, gamma, beta, eps)
    right = gamma * (x @ W.T + b - mean) / np.sqrt(var + eps) + beta
    near(x @ new_W.T + new_b, right)
    assert new_W.shape == W.shape and new_b.shape == b.shape


@law("18.4", slopes_=st.lists(NUMBERS, max_size=6))
def ways(its, slopes_):
    near([float(n) for n in asked(its.by_length, slopes_)], np.poly(-np.array(slopes_)).tolist() if slopes_ else [1.0])


@law("19.1", inputs=SMALL, outputs=SMALL, stride=st.integers(1, 2), widths=st.lists(SMALL, min_size=1, max_size=3), seed=SEEDS)
def blocks(its, inputs, outputs, stride, widths, seed):
    way = its.resnet.shortcut(inputs, outputs, stride)
    assert (way is None) is (inputs == outputs and stride == 1)
    x = minigrad.tensor(np.float32(like(seed, (2, inputs, 4, 4))[0]))
    if way is not None:
        assert way(x).shape == (2, outputs, 4 // stride, 4 // stride)
        assert sum(p.numel() for p in way.parameters()) == inputs * outputs + 2 * outputs
    minigrad.manual_seed(seed)
    model = its.ResNet([1] * len(widths), 3, widths, inputs, True).eval()
    y = F.relu(model.bn1(model.conv1(x)))
    y = model.maxpool(y)
    for k in range(len(widths)):
        y = getattr(model, f"layer{k + 1}")(y)
    right = y.array.reshape(2, y.shape[1], -1).mean(2) @ model.fc.weight.array.T + model.fc.bias.array
    near(model(x).array, right, 1e-4)


@law("19.2", rounds=st.lists(st.sets(st.sampled_from(["layer1", "layer10", "fc"])), min_size=1, max_size=4))
def tunes(its, rounds):
    tower = its.Tower()
    for names in rounds:
        tower.train()
        asked(its.tune, tower, sorted(names))
        for name, part in tower.named_children():
            assert {p.requires_grad for p in part.parameters()} == {name in names}
            assert {m.training for m in part.modules()} == {name in names}


@law("19.3", learns=st.lists(st.booleans(), min_size=1, max_size=7))
def visits(its, learns):
    found = asked(its.visited, learns)
    behind = list(itertools.dropwhile(lambda each: not each, learns))
    assert found == (1 + sum(3 if each else 2 for each in behind) if behind else "error")


@law("20.1", e=st.integers(2, 36).map(lambda n: n / 4), x=st.integers(2, 36).map(lambda n: n / 4), v=NUMBERS)
def baked(its, e, x, v):
    number = its.number
    its.w.data = number(2)
    functions = [its.first, its.second, its.third, its.fourth, its.fifth]
    made = [*(trace(f, number(e)) for f in functions), trace(its.fifth, number(e), variables=[its.w])]
    its.w.data = number(v)
    near([float(n) for n in its.replayed(e, x, v)], [f(number(x)).item() for f in made])
    its.w.data = number(2)


@law("20.2", xs=st.lists(NUMBERS.map(lambda n: 8 * n), min_size=2, max_size=2), most=st.integers(0, 5))
def halves(its, xs, most):
    right, rounds = np.array(xs), 0
    while right.sum() > 1 and rounds < most:
        right, rounds = right / 2, rounds + 1
    (x,) = leaves([xs])
    y = its.halved_at_most(x, most)
    near(y, right)
    fed = placeholder((2,), minigrad.float64)
    near(Session().run(its.halved_at_most(fed, most), {fed: np.array(xs)}), right)
    replay = trace(lambda x: its.halved_at_most(x, most), constant([1.0, 2.0]))
    near(replay(constant(xs)), right)
    if y.requires_grad and most:
        y.sum().backward()
        near(x.grad, np.full(2, 0.5**rounds))
    near(x, np.array(xs))


@law("20.3", kinds=st.lists(st.booleans(), min_size=1, max_size=2), seed=SEEDS)
def constants(its, kinds, seed):
    numbers = like(seed, *[(3,)] * len(kinds))
    known = [its.constant(n) for n in numbers]
    fed = [placeholder((3,), minigrad.float64), its.variable(np.ones(3))][seed % 2]
    fed = its.as_step(fed)
    arguments = [step if kind else fed for kind, step in zip(kinds, known)]
    call, options = ("multiply", {}) if len(kinds) == 2 else ("add.reduce", {"axis": 0, "keepdims": True})
    step = Step(call, known, options, (3,), np.dtype(float), line="here")
    for each in (fed, known[0]):
        assert its.execution.fold(each, []) is each
    found = its.execution.fold(step, arguments)
    assert found is not step and found.line == "here" and step.arguments == known
    if all(kinds):
        near(found.value, np.prod(numbers, 0) if len(kinds) == 2 else numbers[0].sum(keepdims=True))
        assert (found.call, found.arguments, found.options) == ("constant", [], {})
    else:
        assert (found.call, found.arguments, found.options) == (call, arguments, options)


def attends(q, k, v, scale, mask=0.0):
    weights = np.exp(scale * q @ np.swapaxes(k, -1, -2) + mask)
    return weights / weights.sum(-1, keepdims=True) @ v


@law("21.1", heads=st.sampled_from([(), (2,), (2, 2)]), sizes=st.tuples(*[SMALL] * 4), seed=SEEDS, kind=st.integers(0, 3), scale=st.sampled_from([None, 0.3]))
def attention(its, heads, sizes, seed, kind, scale):
    n, m, d, width = sizes
    q, k, v, numbers = like(seed, (*heads, n, d), (*heads, m, d), (*heads, m, width), (n, m))
    sees = numbers > 0
    sees[:, 0] = True
    used = scale or 1 / math.sqrt(d)
    ours = partial(its.F.scaled_dot_product_attention, scale=scale)
    with np.errstate(divide="ignore"):
        hidden = np.log([np.zeros((n, m)), np.tri(n, m), sees][kind % 3].astype(float))
    if kind == 3:
        f = lambda q, k, v, a: attends(q, k, v, used, a)
        differentiates(ours, f, [q, k, v, numbers], twice=not heads)
        return
    options = [{}, {"is_causal": True}, {"attn_mask": minigrad.tensor(sees)}][kind]
    f = lambda q, k, v: attends(q, k, v, used, hidden if kind else 0.0)
    differentiates(lambda *xs: ours(*xs, **options), f, [q, k, v], twice=not heads)
    if kind == 2:
        near(options["attn_mask"].array * 1, sees * 1)
        nowhere = ours(*map(constant, (q, k, v)), attn_mask=minigrad.tensor(sees & False))
        near(nowhere, np.zeros((*heads, n, width)))


@law("21.2", sizes=st.tuples(*[SMALL] * 4), seed=SEEDS)
def by_hand(its, sizes, seed):
    n, m, d, width = sizes
    G, *QKV = like(seed, (n, width), (n, d), (m, d), (m, width))
    near(list(asked(its.back_through_attention, G, *QKV)), slopes(lambda *xs: attends(*xs, 1 / math.sqrt(d)), QKV, G), 1e-6)


@law("21.3", seed=st.integers(0, 5), texts=st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=3), count=st.integers(0, 3))
def generates(its, seed, texts, count):
    model, given = its.wild(seed), minigrad.tensor(texts)
    right = [list(text) for text in texts]
    for text in right:
        for _ in range(count):
            text.append(int(model(minigrad.tensor([text])).array[0, -1].argmax()))
    assert model.generate(given, count).tolist() == right and given.tolist() == texts


@law("21.4", seed=SEEDS, layers=st.integers(1, 3))
def hears(its, seed, layers):
    dice = random.Random(seed)
    first = [dice.choice("012+") for _ in range(dice.randint(1, 5))]
    other = dice.sample(first, len(first))
    draw = np.random.default_rng(seed).normal
    matrices, table = draw(size=(layers, 3, 5, 5)), draw(size=(4, 5))

    def network(text):
        x = table[["012+".index(sign) for sign in text]]
        for q, k, v in matrices:
            rows = [attends(x[t] @ q, x[: t + 1] @ k, x[: t + 1] @ v, 0.5) for t in range(len(x))]
            x = x + np.array(rows)
        return x

    apart = np.abs(network(first) - network(other)).max(1) > 1e-9
    assert its.told_apart("".join(first), "".join(other), layers) == np.flatnonzero(apart).tolist()
