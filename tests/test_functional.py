"""Functions whose backward is written by hand, and gradients as values."""

import weakref

import numpy as np
import pytest

import minigrad
from classroom.author.chapters import chapters
from minigrad import autograd
from minigrad.autograd.function import Function
from minigrad.autograd.gradient_checks import gradcheck
from minigrad.graph.walk import leading_to
from minigrad.nn import functional as F
from minigrad.scalar.finite_differences import GradcheckError


def double(*values, requires_grad=True):
    return minigrad.tensor(values, dtype=minigrad.float64, requires_grad=requires_grad)


def test_a_function_has_one_output():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x, 2 * x

    for x in (double(1.0), double(1.0, requires_grad=False)):
        with pytest.raises(TypeError, match="must return one Tensor, not tuple"):
            Both.apply(x)


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


# Gradients as values


def results_of(a, b):
    """Return three results: of a reused, of broadcasting, of one of the two alone."""
    h = (a.exp() * b).softmax(1)
    both = minigrad.cat([b, b * b])
    return h * h + a[:1], (a.tanh() @ b.transpose(0, 1)).sum(), both


def test_the_sweep_of_an_exercise_nudges_as_jvp_does():
    (chapter,) = (c for c in chapters() if c.slug == "13_twice")
    names = {"minigrad": minigrad, "grad": autograd.grad, "leading_to": leading_to}
    exec(chapter.exercises["13.3"].solved, names)
    a, b, *v = (minigrad.randn(2, 3, dtype=minigrad.float64) for _ in range(4))
    leaves = [x.detach().requires_grad_() for x in (a, b)]
    nudges = {leaf.edge: nudge for leaf, nudge in zip(leaves, v)}
    expected = autograd.jvp(results_of, (a, b), tuple(v))[1]
    for y, theirs in zip(results_of(*leaves), expected, strict=True):
        np.testing.assert_allclose(names["carry"](nudges, y).array, theirs.array)


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
