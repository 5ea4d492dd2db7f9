"""Laws of the exercises with single numbers: chapters 1 to 6."""

import math
import operator
from itertools import pairwise, product

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from minigrad.value import Value
from tests.properties import (
    DICE,
    NUMBERS,
    POSITIVE,
    PROGRAMS,
    SIGNED,
    asked,
    law,
    near,
    nudged,
    refuses,
    run,
    slopes,
)

ROWS = st.lists(NUMBERS, max_size=5)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4)


def plain_tanh(x):
    return x.tanh() if isinstance(x, Value) else np.tanh(x)


@law("1.1", w=NUMBERS, pairs=PAIRS)
def snail(its, w, pairs):
    xs, ys = map(list, zip(*pairs))
    (slope,) = slopes(lambda w: sum((w * x - y) ** 2 for x, y in pairs) / len(pairs), [w])
    near(asked(its.loss_slope, w, xs, ys), slope)


@law("1.2", x=NUMBERS, h=POSITIVE, c=st.lists(NUMBERS, min_size=4, max_size=4))
def central(its, x, h, c):
    f = lambda x: c[0] * x**3 + c[1] * x**2 + c[2] * x + c[3]
    exact = 3 * c[0] * x**2 + 2 * c[1] * x + c[2]
    near(its.central_difference(f, x, h), exact + c[0] * h**2)  # its error is known
    near(its.central_difference(f, x), exact, 1e-4)


@law("1.3", sizes=st.permutations(range(1, 16)), signs=st.lists(st.booleans(), min_size=15, max_size=15), x=SIGNED)
def best(its, sizes, signs, x):
    errors = [n if sign else -n for n, sign in zip(sizes, signs)]
    difference = lambda f, x, h: f(x) + errors[round(-math.log10(h)) - 1]
    near(its.best_nudge(difference, lambda x: 2 * x, x, 2 * x), 10.0 ** -(sizes.index(1) + 1), 1e-25)


@law("1.4", xs=ROWS, h=POSITIVE, seed=st.integers(0, 99))
def partials(its, xs, h, seed):
    A = np.random.default_rng(seed).integers(-3, 4, (len(xs), len(xs)))
    f = lambda *xs: float(np.array(xs) @ A @ np.array(xs)) + sum(x**3 for x in xs)
    exact = (A + A.T) @ xs + 3 * np.square(xs)
    for more, off, within in (((h,), h**2, 1e-7), ((), 0, 1e-4)):
        near(asked(its.numerical_gradient, f, xs, *more), (exact + off).tolist(), within)


@law("2.1", x=NUMBERS, row=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=4))
def forward_mode(its, x, row):
    chain = [(lambda a, p=p: p * a + 1, lambda a, q=q, r=r: q * a + r) for p, q, r in row]
    arrived = [x]
    for f, _ in chain:
        arrived.append(f(arrived[-1]))
    width = math.prod(slope(a) for (_, slope), a in zip(chain, arrived))
    near(its.go_forward(chain, x), (arrived[-1], width))


@law("2.2", x=SIGNED)
def with_log(its, x):
    found = [x]
    for f in (np.sin, np.square, np.log):
        found.append(f(found[-1]))
    steps = zip((np.sin, np.square, np.log, np.exp), found)
    near(list(its.slopes_with_log(x)), [slopes(f, [a])[0].item() for f, a in steps])


@law("2.3", row=ROWS)
def to_the_end(its, row):
    near(list(asked(its.from_the_back, row)), [math.prod(row[i:]) for i in range(len(row) + 1)])
    its.Counted.multiplications = 0
    its.from_the_back([its.Counted(n) for n in row])
    assert len(row) - 1 <= its.Counted.multiplications <= len(row)


@law("2.4", widths=st.lists(st.integers(1, 9), min_size=2, max_size=6))
def bills(its, widths):
    matrices = [np.ones((out, into)) for into, out in pairwise(widths)]
    paid = []
    for row in (matrices, [m.T for m in reversed(matrices)]):
        first, *others = row
        paid.append(0)
        for matrix in others:
            paid[-1] += matrix.shape[0] * matrix.shape[1] * first.shape[1]
            first = matrix @ first
    near(list(asked(its.bills, widths)), paid)


SIGNS = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv}


def records(name, a, b, kind):
    """Fail unless a sign makes the number and the edges that it has to make."""
    x, y = Value(a), Value(b)
    left, right = {"left": (x, b), "right": (a, y), "twice": (x, x)}.get(kind, (x, y))
    b = a if kind == "twice" else b
    made = SIGNS[name](left, right)
    near([made.data, made.op, made.grad], [SIGNS[name](a, b), name, 0.0])
    turned = kind == "right" and name in ("Add", "Mul")  # 5 * a records a * 5
    order = slice(None, None, -1 if turned else 1)
    expected = [s.item() for s in slopes(SIGNS[name], [a, b])]
    near([slope for _, slope in made.edges], expected[order])
    for (parent, _), operand in zip(made.edges, (left, right)[order]):
        if isinstance(operand, Value):
            assert parent is operand and operand.edges == []
        else:
            near([parent.data, parent.op], [operand, "constant"])
    near([x.data, y.data], [a if kind != "right" else x.data, y.data])


KINDS = "left", "right", "twice", "both"


@law("3.1", a=NUMBERS, b=NUMBERS)
def recorded(its, a, b):
    for name, kind in product(("Add", "Sub", "Mul"), KINDS):
        records(name, a, b, kind)
    near(Value(1.0, "Any", Value(a), 0.0).edges[0][1], 0.0)


@law("3.2", a=SIGNED, b=SIGNED, n=st.integers(-3, 3))
def divided(its, a, b, n):
    for kind in KINDS:
        records("Div", a, b, kind)
    for base in {a, 0.0 if n >= 0 else a}:
        x = Value(base)
        made = x**n
        slope = 0.0 if n == 0 else n * float(base) ** (n - 1)
        near([made.data, made.op], [float(base) ** n, "Pow"])
        assert [parent is x for parent, _ in made.edges] == [True]
        near(made.edges[0][1], slope)


@law("3.3", start=st.integers(-24, 24).map(lambda n: n / 2), n=st.integers(0, 5))
def graph(its, start, n):
    root = its.build(Value(start), n)
    nodes = reached(root)
    made = [node for node in nodes if node.op]
    counts = len(nodes), len(made), sum(len(node.edges) for node in nodes)
    near(list(its.predict_graph(start, n)), [root.data, *counts])


def reached(root):
    """Return all that a root depends on, itself included."""
    found = [root]
    for node in found:
        found += {p for p, _ in node.edges} - set(found)
    return found


@law("4.1", a=st.sampled_from([0.0, -1.25]) | NUMBERS, p=NUMBERS, q=NUMBERS)
def table(its, a, p, q):
    rows = {"__neg__": np.negative, "relu": lambda a: np.maximum(a, 0)}
    for name in ("__neg__", "exp", "log", "sin", "tanh", "relu"):
        f = rows.get(name) or getattr(np, name)
        at = abs(a) + 0.25 if name == "log" else a
        x = Value(at)
        made = getattr(x, name)()
        expected = float(a > 0) if name == "relu" else slopes(f, [at])[0].item()
        near([made.data, made.op, x.data], [float(f(at)), name.strip("_").title(), at])
        assert [parent is x for parent, _ in made.edges] == [True]
        near(made.edges[0][1], expected)
    x, calls = Value(a), []
    made = its.unary("Any", lambda a: calls.append(a) or p * a + 1, lambda a, y: q * a + p * y)(x)
    near([made.data, made.op, made.edges[0][1], calls], [p * a + 1, "Any", q * a + p * (p * a + 1), [a]])


@law("4.2", a=NUMBERS, b=NUMBERS)
def two_inputs(its, a, b):
    assume(a != b and (a or b))
    for name, f in {"Pow": np.power, "Max": np.maximum, "Hypot": np.hypot}.items():
        first = abs(a) + 0.25 if name == "Pow" else a
        near(list(its.slope_table()[name](first, b)), [s.item() for s in nudged(f, [first, b])], 1e-4)


@law("4.3", a=SIGNED, b=SIGNED, c=st.one_of(NUMBERS, st.just(1e12)))
def routed(its, a, b, c):
    slope = nudged(lambda a, b: np.maximum(a * b, 0), [a, b])
    near(list(its.predict_blame(a, b, c)), [*(s.item() for s in slope), 1.0], 1e-4)


@law("4.4", numbers=st.lists(NUMBERS, min_size=6, max_size=6), far=st.booleans())
def neuron(its, numbers, far):
    *weights, x1, x2, y = numbers
    y = y * 1e7 if far else y
    f = lambda w1, w2, b: (np.tanh(w1 * x1 + w2 * x2 + b) - y) ** 2
    near(list(its.neuron_blame(*weights, x1, x2, y)), [s.item() for s in slopes(f, weights)])


@law("5.1", rows=st.lists(st.lists(st.integers(0, 99), max_size=3), min_size=1, max_size=7), order=DICE)
def any_order(its, rows, order):
    graph = [(f"n{i}", [f"n{j % i}" for j in row] if i else []) for i, row in enumerate(rows)]
    order.shuffle(graph)
    found = asked(its.any_order, dict(graph))
    assert sorted(found) == sorted(name for name, _ in graph)
    for name, parents in graph:
        assert all(found.index(name) < found.index(parent) for parent in parents)


@law("5.2", program=PROGRAMS)
def each_before_its_parents(its, program):
    root = run(program, [Value(2.0), Value(-0.5)], plain_tanh)[-1]
    nodes = reached(root)
    edges = [node.edges for node in nodes]
    for _ in range(2):
        order = its.topological_order(root)
        assert len(order) == len(set(order)) and set(order) == {n for n in nodes if n.edges}
        place = {node: i for i, node in enumerate(order)}
        assert all(place.get(p, 99) > place[node] for node in order for p, _ in node.edges)
    assert edges == [node.edges for node in nodes] and not any(n.grad for n in nodes)


@law("5.3", program=PROGRAMS, numbers=st.lists(NUMBERS, min_size=2, max_size=2))
def blame(its, program, numbers):
    values = [Value(n) for n in numbers]
    known = run(program, values, plain_tanh)
    k = len(known) // 2
    roots = [known[-1], known[k], known[0], known[0], known[-1]]
    total = np.zeros(2)
    for root, place in zip(roots, (-1, k, 0, 0, -1)):
        assert root.backward() is None
        total += [s.item() for s in slopes(lambda *xs: run(program, xs)[place], numbers)]
        near([v.grad for v in values], total.tolist())
    if roots[0] not in values:
        near(roots[0].grad, 1.0)


@law("6.1", w=NUMBERS, rate=NUMBERS, curvature=NUMBERS)
def ten(its, w, rate, curvature):
    place = w
    for _ in range(10):
        place -= rate * curvature * place
    near(its.after_ten_steps(w, rate, curvature), place)


def network(sizes, xs, numbers):
    """Return what a network with these parameters, one after the other, gives."""
    numbers = list(numbers)
    for k, (m, n) in enumerate(pairwise(sizes)):
        xs = xs if k == 0 else np.tanh(xs)
        rows = [[numbers.pop(0) for _ in range(m + 1)] for _ in range(n)]
        xs = np.array([np.dot(row[:m], xs) + row[m] for row in rows])
    return xs


@law("6.2", sizes=st.lists(st.integers(1, 3), min_size=2, max_size=4), seed=DICE, extra=st.integers(-1, 1))
def layers(its, sizes, seed, extra):
    net = its.MLP(sizes, seed)
    for p in net.parameters():
        p.data = seed.randrange(-8, 9) / 4
    numbers, xs = [p.data for p in net.parameters()], [seed.randrange(-8, 9) / 4 for _ in range(sizes[0])]
    found = asked(net, xs)
    near([y.data for y in found], network(sizes, xs, numbers).tolist())
    found[0].backward()
    by_steps = slopes(lambda *numbers: network(sizes, xs, numbers)[0], numbers)
    near([p.grad for p in net.parameters()], [s.item() for s in by_steps])
    assert type(found) is list and len(numbers) == sum((m + 1) * n for m, n in pairwise(sizes))
    if extra:
        refuses(ValueError, net, [1.0] * (sizes[0] + extra))


@law("6.3", pairs=st.lists(st.tuples(NUMBERS, st.sampled_from([-1, 1])), min_size=1, max_size=4), beta=st.sampled_from([0.0, 0.5, 0.9]), rates=st.lists(POSITIVE, min_size=3, max_size=3))
def down(its, pairs, beta, rates):
    assume(all(s * y != 1 for s, y in pairs))
    scores, signs = [Value(s) for s, _ in pairs], [y for _, y in pairs]
    loss = asked(lambda signs: its.hinge_loss(scores, signs), signs)
    plain = lambda *scores: np.mean([max(0.0, 1 - y * s) for s, y in zip(scores, signs)])
    near(loss.data, float(plain(*(s for s, _ in pairs))))
    refuses(ValueError, its.hinge_loss, scores, [*signs, 1])
    loss.backward()
    grads = [s.item() for s in nudged(plain, [s for s, _ in pairs])]
    near([s.grad for s in scores], grads, 1e-4)
    sgd, places, speeds = its.SGD(scores, rates[0], beta), [s for s, _ in pairs], np.zeros(len(pairs))
    for k, sgd.rate in enumerate(rates):
        grads = np.array([s.grad for s in scores])
        speeds = beta * speeds + grads
        places = places - sgd.rate * speeds
        sgd.step()
        near([s.data for s in scores], places.tolist())
        near([s.grad for s in scores], grads.tolist())
        if k == 1:
            sgd.zero_grad()
            assert [s.grad for s in scores] == [0.0] * len(scores)


@law("6.4", moves=st.lists(NUMBERS, min_size=6, max_size=6), most=st.integers(1, 6), signs=st.lists(st.sampled_from([-1, 1]), min_size=7, max_size=7), alike=st.booleans())
def until_right(its, moves, most, signs, alike):
    signs = [1] * 7 if alike else signs
    weight, grads = Value(-3.0), []

    class Plan:
        def zero_grad(self):
            weight.grad = 0.0

        def step(self):
            grads.append(weight.grad)
            weight.data = moves[len(grads) - 1]

    weight.grad, places = 50.0, [-3.0, *moves]
    right = [k + 1 for k, w in enumerate(moves[:most]) if all(w * y > 0 for y in signs)]
    found = its.steps_until_right(lambda p: [weight * 1.0], Plan(), [[1.0]] * 7, signs, most)
    assert found == (right[0] if right else None)
    expected = [np.mean([-y * (1 - y * places[k] > 0) for y in signs[k % 5 :: 5]]) for k in range(len(grads))]
    near(grads, [float(g) for g in expected])
    assert len(grads) == (found or most)
