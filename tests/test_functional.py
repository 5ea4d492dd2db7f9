"""Functions whose backward is written by hand, and gradients as values."""

import weakref

import numpy as np
import pytest

import minigrad
from classroom.author.chapters import chapters
from minigrad import autograd
from minigrad.autograd.function import Function
from minigrad.autograd.gradient_checks import gradcheck, gradgradcheck
from minigrad.graph.walk import leading_to
from minigrad.nn import functional as F
from minigrad.scalar.finite_differences import GradcheckError


def double(*values, requires_grad=True):
    return minigrad.tensor(values, dtype=minigrad.float64, requires_grad=requires_grad)


class Scaled(Function):
    """a * b * k, for a number k."""

    @staticmethod
    def forward(ctx, a, b, k):
        ctx.save_for_backward(a, b)
        ctx.k, ctx.asked = k, ctx.needs_input_grad
        return a * b * k

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b * ctx.k, g * a * ctx.k, None


class Bell(Function):
    """exp(-a²), of which the argument and the output are saved."""

    @staticmethod
    def forward(ctx, a):
        power = (-a * a).exp()
        ctx.save_for_backward(a, power)
        return power

    @staticmethod
    def backward(ctx, g):
        a, power = ctx.saved_tensors
        return -2 * a * g * power


def test_a_function_is_an_operation_like_others():
    a, b = double(2.0, 3.0), double(4.0, 5.0)
    y = Scaled.apply(a, b, 3)
    assert y.grad_fn.name() == "ScaledBackward" and y.tolist() == [24, 45]
    y.sum().backward()
    assert a.grad.tolist() == [12, 15] and b.grad.tolist() == [6, 9]
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    assert gradcheck(Scaled.apply, (a, b, 3)) and gradgradcheck(Scaled.apply, (a, b, 3))


def test_a_function_may_save_its_output():
    a = double(0.5, -1.0)
    assert gradcheck(Bell.apply, (a,)) and gradgradcheck(Bell.apply, (a,))
    assert Bell.apply(a).grad_fn.name() == "BellBackward"


def test_a_function_has_one_output():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x, 2 * x

    for x in (double(1.0), double(1.0, requires_grad=False)):
        with pytest.raises(TypeError, match="must return one Tensor, not tuple"):
            Both.apply(x)


def test_a_function_knows_which_gradients_are_needed():
    seen = []

    class Asked(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, None

    Asked.apply(double(1.0), double(1.0, requires_grad=False)).backward()
    assert seen == [(True, False)]
    assert not Asked.apply(minigrad.ones(1), minigrad.ones(1)).requires_grad


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (lambda g: (g, g), RuntimeError, "expected 1, got 2"),
        (lambda g: 1.0, TypeError, "must be Tensor"),
        (
            lambda g: minigrad.ones(3, dtype=minigrad.float64),
            RuntimeError,
            r"shape \(3,\) for an argument of shape \(2,\)",
        ),
    ],
)
def test_a_wrong_backward_is_named(result, error, words):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return result(g)

    with pytest.raises(error, match=words) as caught:
        Wrong.apply(double(1.0, 2.0)).sum().backward()
    assert "WrongBackward" in str(caught.value)


def test_only_tensors_are_saved_for_backward():
    class Saves(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a, 3)
            return a

    with pytest.raises(TypeError, match="ctx.name"):
        Saves.apply(double(1.0))


@pytest.mark.parametrize("of", [lambda a: a, lambda a: a.view(2), lambda a: a[:1]])
def test_a_result_on_the_memory_of_an_argument_has_its_own(of):
    class Same(Function):
        @staticmethod
        def forward(ctx, a):
            return of(a)

        @staticmethod
        def backward(ctx, g):
            return g.sum().expand(2)

    a = double(1.0, 2.0)
    y = Same.apply(a)
    assert y is not a and y.grad_fn.name() == "SameBackward" and a.is_leaf
    y.mul_(3)
    assert a.tolist() == [1, 2]


def test_a_saved_tensor_that_was_written_to_is_caught():
    a, b = double(1.0), double(2.0, requires_grad=False)
    y = Scaled.apply(a, b, 1)
    b.add_(1)
    with pytest.raises(RuntimeError, match="ScaledBackward"):
        y.backward()


# Gradients as values


def test_grad_returns_and_leaves_grad_alone():
    x, w, unused = double(2.0), double(3.0), double(1.0)
    y = x * w
    assert [g.item() for g in autograd.grad(y, [x, w])] == [3, 2]
    assert x.grad is None
    assert autograd.grad(x * w, [x, unused], allow_unused=True)[1] is None
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        autograd.grad(x * w, unused)
    h = x * w
    assert autograd.grad(h * h, h)[0].item() == 12


def test_derivatives_of_any_order():
    x = double(0.5)
    y, values = x.sin(), []
    for _ in range(5):
        (y,) = autograd.grad(y.sum(), x, create_graph=True)
        values.append(y.item())
    c, s = np.cos(0.5), np.sin(0.5)
    assert values == pytest.approx([c, -s, -c, s, c])


FUNCTIONS = {
    "elementwise": lambda x: x**3,
    "softmax": lambda x: x.softmax(0),
    "matrix": lambda x: x[:, None] * x.exp(),
    "linear": lambda x: x * 2,
    "number": lambda x: (x * x).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_jacobian_and_its_products_agree(name):
    f, x = FUNCTIONS[name], double(0.5, -1.0, 2.0, requires_grad=False)
    v = double(1.0, 2.0, 3.0, requires_grad=False)
    table = autograd.jacobian(f, x)
    out, forward = autograd.jvp(f, x, v)
    assert out.tolist() == f(x).tolist() and not out.requires_grad
    flat = table.reshape(-1, 3)
    assert forward.reshape(-1).tolist() == pytest.approx((flat @ v).tolist())
    u = minigrad.randn_like(out)
    _, back = autograd.vjp(f, x, u)
    assert back.tolist() == pytest.approx((u.reshape(-1) @ flat).tolist())


def results_of(lib, a, b):
    """Return three results: of a reused, of broadcasting, of one of the two alone."""
    h = (a.exp() * b).softmax(1)
    return h * h + a[:1], (a.tanh() @ b.transpose(0, 1)).sum(), lib.cat([b, b * b])


def sweep(func, inputs, v):
    """Return what chapter 13's exercise makes of each result, by one sweep forward."""
    (chapter,) = (c for c in chapters() if c.slug == "13_twice")
    names = {"minigrad": minigrad, "grad": autograd.grad, "leading_to": leading_to}
    exec(chapter.exercises["13.4"].solved, names)
    leaves = [x.detach().requires_grad_() for x in inputs]
    nudges = {leaf.edge: nudge for leaf, nudge in zip(leaves, v)}
    return None, [names["carry"](nudges, y) for y in func(*leaves)]


@pytest.mark.parametrize("mine", [autograd.jvp, sweep])
def test_nudges_forward_agree_with_pytorch(mine):
    torch = pytest.importorskip("torch")
    arrays = np.random.default_rng(1).normal(size=(4, 2, 3))
    found = []
    for lib, jvp in (torch, torch.autograd.functional.jvp), (minigrad, mine):
        a, b, *v = (lib.tensor(array, dtype=lib.float64) for array in arrays)
        _, moved = jvp(lambda a, b: results_of(lib, a, b), (a, b), tuple(v))  # noqa: B023
        found.append([each.tolist() for each in moved])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_gradcheck_tells_right_from_wrong():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, a):
            return a * a

        @staticmethod
        def backward(ctx, g):
            return g

    x = double(1.0, 2.0)
    assert gradcheck(lambda a: (a * a, a.sum()), x)
    with pytest.raises(GradcheckError, match="numerical"):
        gradcheck(Wrong.apply, x)
    assert not gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(minigrad.exp, minigrad.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="requires_grad"):
        gradcheck(minigrad.exp, minigrad.ones(2))


def test_gradcheck_leaves_the_inputs_as_they_were_when_the_function_raises():
    x, calls = minigrad.tensor([1.0, 2.0], dtype=minigrad.float64), []
    x.requires_grad_()

    def breaks(x):
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        return x * x

    with pytest.raises(ZeroDivisionError):
        gradcheck(breaks, x)
    assert x.tolist() == [1.0, 2.0]


def test_a_checkpoint_holds_its_arguments_until_backward_and_no_longer():
    x = double(0.1, 0.2)
    h = x * 2
    held = weakref.ref(h.array)
    y = autograd.checkpoint(lambda a, k: a.sin() * k, h, 3)
    del h
    assert held() is not None
    y.sum().backward()
    assert held() is None


def test_a_checkpoint_gives_the_same_gradients_for_less_memory():
    calls, w = [], double(3.0, 4.0)

    def inside(a, k):
        calls.append(1)
        return (a * w * k).tanh() * a

    x = double(0.1, 0.2)
    y = autograd.checkpoint(inside, x, 2)
    assert len(calls) == 1
    y.sum().backward()
    assert len(calls) == 2
    got = x.grad.tolist(), w.grad.tolist()
    x.grad = w.grad = None
    inside(x, 2).sum().backward()
    assert got == (x.grad.tolist(), w.grad.tolist())


def test_a_checkpoint_may_return_what_needs_no_gradient():
    x = double(1.0, 2.0)
    (x * autograd.checkpoint(lambda a: a.detach() + 1, x)).sum().backward()
    assert x.grad.tolist() == [2, 3]


def test_a_loss_refuses_shapes_that_would_be_broadcast():
    with pytest.raises(ValueError, match=r"Target size \(3,\) must be the same as .*1"):
        F.mse_loss(minigrad.ones(3, 1), minigrad.zeros(3))


def test_a_write_to_running_statistics_is_noticed_by_what_was_computed_with_them():
    x = minigrad.ones(2, 3)
    mean, var = minigrad.zeros(3), minigrad.ones(3)
    weight = minigrad.ones(3, requires_grad=True)
    bias = minigrad.zeros(3, requires_grad=True)
    y = F.batch_norm(x, mean, var, weight, bias).sum()
    F.batch_norm(x, mean, var, weight, bias, training=True)
    assert mean._version == var._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
