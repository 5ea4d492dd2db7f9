"""compile(): the same as eager code, bit for bit, or eager code and a warning."""

import contextlib
import itertools
import math
import re
import warnings
from collections import deque

import numpy as np
import pytest

import minigrad
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.models import GPT, resnet_digits
from minigrad.optim import SGD, AdamW
from minigrad.optim.lr_scheduler import LambdaLR
from minigrad.static import passes
from minigrad.static.steps import Step
from tests.engine import test_random_programs as programs
from tests.engine.test_sessions import same, tensor


def agrees(function, *calls, traces=1, warned=False):
    """Compare compiled and eager results, and return the compiled function."""
    compiled = minigrad.compile(function)
    compiled(*calls[0])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for args in calls:
            minigrad.manual_seed(3)
            found = compiled(*args)
            minigrad.manual_seed(3)
            assert same(found, function(*args)), args
    assert len(compiled.codes) == traces and bool(said) == warned, compiled.why_not
    assert len(said) < 2
    return compiled


# Programs and trainings


@pytest.mark.parametrize("seeds", [range(0, 100), range(100, 200)])
def test_random_programs_are_the_same_bit_by_bit(seeds):
    for seed in seeds:
        random = np.random.RandomState(seed)
        leaves = [
            tensor(np.asarray(random.standard_normal(s))) for s in programs.SHAPES
        ]
        for x in leaves:
            x.requires_grad_()
        program = []
        for _ in range(random.randint(1, 13)):
            one = random.randint(2)
            name = random.choice(programs.UNARY if one else programs.BINARY)
            program.append((name, *random.randint(0, 99, 1 if one else 2)))

        def step(program=program, leaves=leaves):
            known = list(leaves)
            for name, *places in program:
                operands = [known[place % len(known)] for place in places]
                if len({x.shape for x in operands if x.ndim}) < 2:
                    known.append(programs.step(minigrad, name, *operands))
            total = sum((z.tanh().sum() for z in known), leaves[0].sum())
            for x in leaves:
                x.grad = None
            total.backward()
            return total

        compiled = minigrad.compile(step)
        for _ in range(3):
            found = [compiled(), *(x.grad for x in leaves)]
            wanted = [step(), *(x.grad for x in leaves)]
            for a, b in zip(found, wanted, strict=True):
                assert a.array.tobytes() == b.array.tobytes(), (seed, program)
            for x in leaves:
                x.array[...] = random.standard_normal(x.shape)
        assert not compiled.failures and len(compiled.codes) < 3, compiled.why_not


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 6), nn.ReLU(), nn.Linear(6, 5))


def cnn():
    seen = nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2)
    judged = nn.Flatten(), nn.Dropout(0.3), nn.Linear(48, 5)
    return nn.Sequential(*seen, nn.Conv2d(3, 3, 3, padding=1), *judged)


def gpt():
    return GPT(5, 8, width=8, layers=1, heads=2)


OPTIMIZERS = {
    "SGD": lambda p: SGD(p, lr=0.1),
    "momentum": lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: AdamW(p, lr=0.01),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("make", [mlp, cnn, resnet_digits, gpt])
def test_a_training_is_the_same_bit_by_bit(make, optimizer):
    numbers = np.random.RandomState(0)
    runs = []
    for change in (lambda step: step), minigrad.compile:
        minigrad.manual_seed(0)
        model = make()
        rule = OPTIMIZERS[optimizer](list(model.parameters()))
        schedule = LambdaLR(rule, lambda n: 0.9**n)

        def step(x, y, model=model, rule=rule, schedule=schedule):
            rule.zero_grad()
            scores = model(x)
            loss = F.cross_entropy(scores.reshape(-1, 5), y.reshape(-1))
            loss.backward()
            rule.step()
            schedule.step()
            return loss

        again, numbers = change(step), np.random.RandomState(0)
        losses = []
        for _ in range(5):
            x, y = numbers.standard_normal((4, 1, 8, 8)), numbers.randint(0, 5, 4)
            x = minigrad.tensor(x.astype(np.float32))
            if make is gpt:
                x, y = (minigrad.tensor(numbers.randint(0, 5, (4, 8))) for _ in "xy")
            y = y if make is gpt else minigrad.tensor(y)
            losses.append(again(x, y).item())
        arrays = [x.array for x in model.state_dict().values()]
        arrays += [p.grad.array for p in model.parameters()]
        runs.append((losses, arrays, rule.param_groups[0]["lr"]))
    assert len(again.codes) == 1 and not again.failures
    assert runs[0][0] == runs[1][0] and runs[0][2] == runs[1][2]
    assert all(map(np.array_equal, runs[0][1], runs[1][1]))


# What is guarded


def test_another_shape_dtype_or_number_gets_a_text_of_its_own():
    a, b = tensor([1.0, 2.0]), tensor([-1.0, -2.0, 4.0])
    agrees(lambda x: x * 2, (a,), (b,), (a.float(),), (a,), (b,), traces=3)
    agrees(lambda x, n: x * n, (a, 2), (a, 3), (a, 2.0), (a, True), traces=4)
    agrees(lambda x: 2 * x if x.sum() > 0 else -x, (a,), (-a,), (b,), (-b,), traces=4)
    agrees(lambda x, n: x / n, (a, 0.0), (a, -0.0), (a, 0.0), traces=2)
    agrees(lambda x, n: (x * n).isnan(), *[(a, math.nan)] * 2)
    asked = [(tensor([n, 1.0]),) for n in (3.0, 2.0, 0.0, -0.0)]
    agrees(lambda x: x.sum() / x[0].item(), *asked, traces=4)
    agrees(lambda x: 2 * x * x.item(), (tensor(3.0),), (tensor(2.0),), traces=2)
    agrees(lambda x: [None, None, x.std().item() > 0], (a[:1],), (b[:1],))


def test_a_tensor_that_is_given_twice_is_one_tensor():
    a, b = tensor([1.0]), tensor([10.0])
    calls = (a, a, b), (a, b, b), (a, b, a), (b, a, a), (a, b, b.clone())
    agrees(lambda x, y, z: x + 2 * y + 4 * z, *calls, traces=4)
    layer, others = nn.Linear(1, 1), []

    def step(x, y):
        layer.zero_grad()
        ((layer(x) - y) ** 2).sum().backward()

    x = minigrad.ones(3, 1)
    for function in (step, minigrad.compile(step)):
        for _ in range(2):
            function(x, x)
        others.append([p.grad.tolist() for p in layer.parameters()])
    assert others[0] == others[1] and x.grad is None


def test_a_guard_that_fails_draws_no_random_numbers():
    a = tensor([1.0, 2.0])

    def noisy(x):
        noise = minigrad.randn(2)
        return noise if (noise * x).sum() > 0 else noise * 2

    agrees(noisy, (a,), (-a,), (a,), (-a,), traces=2)


def test_a_guard_that_fails_has_written_nothing():
    runs = []
    for change in (lambda f: f), minigrad.compile:
        w = minigrad.tensor([1.0, 1.0])

        def step(x, w=w):
            w.sub_(x)
            return w * 1 if w.sum() > 0 else w * 2

        again = change(step)
        found = [again(tensor([n, n]).float()).tolist() for n in (0.5, 0.25, 3.0, 4.0)]
        runs.append((found, w.tolist()))
    assert runs[0] == runs[1] and len(again.codes) == 2


def test_an_argument_that_the_function_can_get_at_is_not_written():
    compiled = minigrad.compile(lambda x: x * 2 + FIXED)
    with pytest.warns(UserWarning, match="is an argument, too"):
        found = [compiled(x).tolist() for x in (FIXED, FIXED, FIXED + 1)]
    assert found == [[3.0, 3.0], [3.0, 3.0], [5.0, 5.0]]


FIXED = minigrad.ones(2)


def test_modes_and_what_requires_grad_are_guarded():
    minigrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    x = minigrad.randn(5, 3)

    def slopes(x):
        model.zero_grad()
        loss = (model(x) ** 2).mean()
        if minigrad.is_grad_enabled():
            loss.backward()
        return loss

    compiled = minigrad.compile(slopes)

    def both():
        out = []
        for function in compiled, slopes:
            minigrad.manual_seed(1)
            state = {k: v.clone() for k, v in model.state_dict().items()}
            loss = function(x)
            grads = [p.grad for p in model.parameters()]
            out.append([loss.item(), *(g if g is None else g.tolist() for g in grads)])
            model.load_state_dict(state)
        assert out[0] == out[1]

    both()
    both()
    both()
    model.eval()
    both()
    model.train()
    model[0].weight.requires_grad = False
    both()
    with minigrad.no_grad():
        both()
    model[1].p = 0.25
    both()
    assert len(compiled.codes) > 4 and not compiled.failures
    off = minigrad.compile(lambda x: minigrad.set_grad_enabled(False) and x * 2)
    for warned in contextlib.nullcontext(), pytest.warns(UserWarning, match="or an"):
        with minigrad.enable_grad(), warned:
            off(x)
            assert not minigrad.is_grad_enabled()


def test_hooks_are_guarded_and_so_is_all_that_they_use():
    w, scale = minigrad.tensor([1.0, 2.0], requires_grad=True), [2.0]

    def slope(x):
        return minigrad.autograd.grad((w * x).sum(), w)[0]

    compiled, x = minigrad.compile(slope), minigrad.tensor([1.0, 3.0])
    found = [compiled(x).tolist()]
    hook = w.register_hook(lambda g: g * scale[0])
    for scale[0] in (2.0, 5.0):
        found.append(compiled(x).tolist())
    hook.remove()
    assert [*found, compiled(x).tolist()] == [[1, 3], [2, 6], [5, 15], [1, 3]]
    again = minigrad.compile(lambda x: w.register_hook(lambda g: g * 2) and slope(x))
    assert [again(x).tolist(), slope(x).tolist()] == [[2.0, 6.0]] * 2


def test_a_parameter_that_thaws_gets_a_memory_of_its_own():
    runs = []
    for change in (lambda f: f), minigrad.compile:
        minigrad.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        rule = AdamW(model.parameters(), lr=0.1)

        def step(x, model=model, rule=rule):
            rule.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            rule.step()
            return loss

        again, losses = change(step), []
        for i in range(8):
            model[0].requires_grad_(i > 3)
            losses.append(again(minigrad.ones(3, 2)).item())
        runs.append(losses)
    assert runs[0] == runs[1]
    assert not again.failures and len(again.codes) == 2


def test_python_objects_that_are_reached_are_guarded():
    settings, factors = {"scale": 2.0}, [1.0, 2.0]
    a = tensor([1.0, 2.0])

    def function(x):
        return x * settings["scale"] + sum(factors)

    compiled = agrees(function, (a,))
    settings["scale"] = 3.0
    factors[1] = 5.0
    assert same(compiled(a), function(a))


class Scaled(nn.Module):
    factor = 2.0

    def forward(self, x):
        return x * self.factor * Scaled.factor * programs.FACTOR


def test_names_of_classes_and_modules_are_guarded(monkeypatch):
    a, model = tensor([1.0, 2.0]), Scaled()
    monkeypatch.setattr(programs, "FACTOR", 2.0, raising=False)
    compiled = agrees(model, (a,)), agrees(lambda x: x * Scaled.factor, (a,))
    for owner, name in (Scaled, "factor"), (programs, "FACTOR"):
        monkeypatch.setattr(owner, name, 3.0)
        assert same(compiled[0](a), model(a)) and same(compiled[1](a), a * 3)


@pytest.mark.parametrize("made", [minigrad.from_numpy, minigrad.tensor])
def test_arrays_that_no_variable_names_are_compared(made):
    table = np.array([1.0, 2.0])
    compiled = agrees(lambda x: x * made(table), (tensor([1.0, 2.0]),))
    table *= 2
    assert compiled(tensor([1.0, 2.0])).tolist() == [2.0, 8.0]


def test_after_eight_texts_it_runs_eagerly_and_says_why_once():
    a = tensor([1.0, 2.0])
    calls = [(a * n,) for n in range(1, 13)]
    compiled = agrees(lambda x: x * x.sum().item(), *calls, traces=8, warned=True)
    assert "Python asked for a number" in compiled.why_not


seen = []


def noted(x):
    seen.append(1)
    return x * 2


QUEUE, NUMBERS = deque(), itertools.repeat(2)
W = minigrad.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (noted, "such as a list"),
        (lambda x: noted(x)[x > 0], "a mask"),
        (lambda x: QUEUE.append(1) or x * 2, "cannot be seen"),
        (lambda x: x * next(NUMBERS), "only once"),
        (lambda x: x * NUMBERS.__next__(), "something else at each call"),
        (lambda x: print(end="") or x * 2, "print"),
        (lambda x: x * float(np.random.rand()), "only once"),
        (lambda x: x * W, "requires grad"),
        (lambda x: x.add_(1), "writes to an argument"),
        (lambda x: x[x > 0], "where"),
        (lambda x: x, "that was there before"),
        (lambda x: np.asarray(x * 2).sum(), "cannot note"),
    ],
)
def test_what_cannot_be_written_runs_eagerly_and_says_so_once(function, why):
    seen.clear()
    compiled, x = minigrad.compile(function), minigrad.tensor([1.0, 2.0])
    compiled(x)
    with pytest.warns(UserWarning, match=why):
        compiled(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(x)
    assert len(seen) in (0, 3) and not compiled.codes
    assert x.tolist() in ([1.0, 2.0], [4.0, 5.0])


def test_an_error_of_the_function_comes_as_it_is():
    compiled = minigrad.compile(lambda x, y: x + y)
    compiled(minigrad.ones(2), minigrad.ones(2))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(minigrad.ones(2), minigrad.ones(3))
    assert compiled(minigrad.ones(2), minigrad.ones(2)).tolist() == [2.0, 2.0]


def test_results_and_gradients_are_the_callers_own():
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss, x + 1

    compiled = minigrad.compile(step)
    kept = [(compiled(tensor([n, n])), w.grad) for n in (1.0, 2.0, 3.0)]
    assert [(a.item(), b.tolist(), g.tolist()) for (a, b), g in kept] == [
        (3.0 * n, [n + 1, n + 1], [n, n]) for n in (1.0, 2.0, 3.0)
    ]


def test_gradients_are_added_up_and_weights_may_get_other_arrays():
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        (w * x).sum().backward()
        with minigrad.no_grad():
            w.add_(1)

    compiled = minigrad.compile(step)
    for _ in range(3):
        compiled(minigrad.ones(2))
    w.data = minigrad.tensor([5.0, 5.0])
    compiled(minigrad.ones(2))
    assert w.tolist() == [6.0, 6.0] and w.grad.tolist() == [4.0, 4.0]
    older = (w * w).sum()
    compiled(minigrad.ones(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        older.backward()
    assert not compiled.failures
    other, x = minigrad.ones(3), minigrad.ones(2, requires_grad=True)
    minigrad.compile(lambda: (x * x).sum().backward() or setattr(x, "data", other))()
    assert x.grad.tolist() == [2.0, 2.0] and x.shape == (3,)
    square = minigrad.compile(lambda x: (x * x).sum().backward())
    for x in minigrad.ones(2, requires_grad=True), minigrad.ones(2, requires_grad=True):
        square(x)
        square(x)
        assert x.grad.tolist() == [4.0, 4.0]


VIEWS = "y[0]", "y[:, 0]", "y.reshape(-1)", "y.flatten()", "y.T", "y.transpose(0, 1)"
VIEWS += "y.permute(1, 0)", "y.expand(2, 2, 2)", "y.unsqueeze(0)", "y.unbind(1)[0]"


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_sees_what_is_written_to_its_base(view):
    for write in "y.add_(1)", "y[0] = 9.0", "y[0].mul_(10)", "y.T[1].mul_(3)":

        def program(x, write=write):
            y = x * 1.0
            found = eval(view, {"y": y})
            exec(write, {"y": y})
            return found * 1.0

        agrees(program, (tensor([[1.0, 2.0], [3.0, 4.0]]),), (tensor(np.eye(2)),))


# The text


def test_the_text_is_what_one_would_write_by_hand():
    w = minigrad.tensor([[1.0, 2.0]], requires_grad=True)
    sgd = SGD([w], lr=0.1)

    def step(x):
        sgd.zero_grad()
        loss = (F.linear(x, w).tanh() ** 2).sum()
        loss.backward()
        sgd.step()
        return loss

    compiled = minigrad.compile(step)
    for _ in range(2):
        compiled(minigrad.ones(3, 2))
    assert "  # test_compile.py, line " in compiled.source
    lines = [re.sub(" +# test.*", "", x) for x in compiled.source.splitlines()]
    assert "\n".join(lines) == TEXT.strip()


TEXT = """
def once(w):
    w_T = np.transpose(w)
    h1 = np.empty((3, 1), np.float32)
    h2 = np.empty((3, 1), np.float32)
    g1 = h2  # again
    g2 = np.empty((3, 1), np.float32)
    g1_T = np.transpose(g1)
    g3 = np.empty((1, 2), np.float32)

    def call(x, lr, momentum, weight_decay):
        if weight_decay != 0.0: raise Changed
        if momentum != 0.0: raise Changed
        np.matmul(x, w_T, out=h1)
        np.tanh(h1, out=h1)
        np.square(h1, out=h2)
        h3 = np.add.reduce(h2, keepdims=False, axis=None)
        np.add(h1, h1, out=g1)
        np.multiply(g1, h1, out=g2)
        np.multiply(g2, h1, out=g2)
        np.subtract(g1, g2, out=g1)
        w_grad = np.matmul(g1_T, x)
        np.multiply(lr, w_grad, out=g3)
        np.subtract(w, g3, out=w)
        return [w_grad, h3]

    return call
"""


# Passes


def step_of(call, *arguments, shape=(2,)):
    return Step(call, list(arguments), {}, shape, np.dtype("f"))


def constant(value):
    array = np.asarray(value)
    return Step("constant", [], {}, array.shape, array.dtype, value)


def after(rule, step):
    (found,) = passes.rewritten([step], rule)
    return found


def test_what_is_known_before_is_computed_before():
    x = Step("placeholder", shape=(2,), dtype=np.dtype("f"))
    known = step_of("add", constant(1), constant(2))
    found = after(passes.known_before, step_of("multiply", x, known))
    assert found.arguments[1].call == "constant" and found.arguments[1].value == 3


def test_equal_calls_are_made_once():
    x = Step("placeholder", shape=(2,), dtype=np.dtype("f"))
    twice = step_of("add", step_of("exp", x), step_of("exp", x))
    draws = step_of("add", step_of("generator.random"), step_of("generator.random"))
    assert len({*after(passes.computed_once(), twice).arguments}) == 1
    assert len({*after(passes.computed_once(), draws).arguments}) == 2
    zero = [Step("asked", [x], value=0.0, name=name) for name in ("truth", "")]
    assert len({*after(passes.computed_once(), step_of("tuple", *zero)).arguments}) == 2


def test_copies_that_change_nothing_are_left_out():
    x = Step("placeholder", shape=(2, 3), dtype=np.dtype("f"))
    for given, left_out in (
        (np.ones((2, 3), "f"), True),
        (np.ones((3, 2), "f").T, False),
    ):
        copy = step_of("ndarray.copy", x, shape=(2, 3))
        rule = passes.without_copies(passes.results_of([copy], {x: given}))
        assert (after(rule, copy) is x) is left_out


def test_a_view_of_a_view_may_be_there_already():
    x = Step("placeholder", shape=(2, 3), dtype=np.dtype("f"))
    turned = step_of("transpose", x)
    back = step_of("transpose", turned)
    results = passes.results_of([turned, back], {x: np.ones((2, 3), "f")})
    assert after(passes.views_once(results), back) is x


def test_a_write_of_what_is_there_and_a_product_with_1_are_left_out():
    x, index = Step("placeholder", shape=(2,), dtype=np.dtype("f")), constant(0)
    write = step_of("with_item", x, index, step_of("getitem", x, index, shape=()))
    assert after(passes.without_idle, write) is x
    ones = constant(np.ones(2, "f"))
    assert after(passes.without_idle, step_of("multiply", ones, x)) is x


def test_a_sum_is_computed_without_a_detour():
    x = Step("placeholder", shape=(2,), dtype=np.dtype("f"))
    found = after(passes.direct, step_of("ndarray.sum", x, shape=()))
    assert (found.call, found.options) == ("add.reduce", {"axis": None})


def test_a_mask_and_zero_become_a_product_of_bits():
    x, mask = (Step("placeholder", shape=(2,), dtype=np.dtype(d)) for d in "f?")
    found = after(passes.by_bits, step_of("where", mask, x, constant(0)))
    (product, _), (bits, chosen) = found.arguments, found.arguments[0].arguments
    assert [x.call for x in (found, product, bits)] == [
        "ndarray.view",
        "multiply",
        "ndarray.view",
    ]
    assert bits.arguments[0] is x and chosen is mask
    other = step_of("where", mask, x, constant(1))
    assert after(passes.by_bits, other) is other
