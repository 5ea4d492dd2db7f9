"""Functions whose backward is written by hand, and gradients as values."""

import weakref

import pytest

import minigrad
from minigrad import autograd
from minigrad.autograd.function import Function
from minigrad.autograd.gradient_checks import gradcheck
from minigrad.nn import functional as F
from minigrad.rules.op import Op
from minigrad.scalar.finite_differences import GradcheckError


def double(*values, requires_grad=True):
    return minigrad.tensor(values, dtype=minigrad.float64, requires_grad=requires_grad)


def test_a_backward_of_another_shape_is_named():
    class Wrong(Function):
        forward = staticmethod(lambda ctx, a: a * 2)
        backward = staticmethod(lambda ctx, g: g.sum().expand(3))

    words = r"WrongBackward.*shape \(3,\) for an argument of shape \(2,\)"
    with pytest.raises(RuntimeError, match=words):
        Wrong.apply(double(1.0, 2.0)).sum().backward()


def test_only_tensors_are_saved_for_backward():
    class Saves(Function):
        forward = staticmethod(lambda ctx, a: ctx.save_for_backward(a, 3))

    with pytest.raises(TypeError, match="ctx.name"):
        Saves.apply(double(1.0))


# Gradients as values


def test_what_create_graph_records_does_not_depend_on_the_switch():
    a, w = double(1.0, 2.0), double(3.0, 4.0)

    def twice(a):
        y = a * a
        return y, y  # two roots on one node: their weights are added up

    v = double(1.0, 1.0, requires_grad=False)
    inside = minigrad.no_grad()(autograd.functional.jvp)(twice, a, v)[1]
    assert [g.tolist() for g in inside] == [[2.0, 4.0], [2.0, 4.0]]
    quiet = minigrad.no_grad()(autograd.grad)
    (slope,) = quiet(twice(a), a, [w, w], create_graph=True)
    assert slope.requires_grad and slope.tolist() == [12.0, 32.0]
    single = minigrad.tensor([1.0], requires_grad=True)
    y = double(5.0) * 2
    (slope,) = quiet(y, [y], single, create_graph=True)
    assert slope.requires_grad and slope.dtype == minigrad.float64


def test_transforms_within_one_another_are_right_to_the_third_derivative():
    def cube(t):
        return t * t * t

    t, one = double(2.0)[0].detach(), double(1.0)[0].detach()
    first = {
        "jvp": lambda f: lambda t: autograd.jvp(f, t, one)[1],
        "vjp": lambda f: lambda t: autograd.vjp(f, t)[1],
        "jacobian": lambda f: lambda t: autograd.jacobian(f, t),
    }
    second = {
        "hvp": lambda f: lambda t: autograd.hvp(f, t, one)[1],
        "hessian": lambda f: lambda t: autograd.hessian(f, t),
    }
    for outer in first.values():
        for inner in first.values():
            assert outer(inner(cube))(t).item() == 12
        for inner in second.values():
            assert outer(inner(cube))(t).item() == inner(outer(cube))(t).item() == 6
    value = autograd.jvp(lambda t: autograd.vjp(cube, t)[0], t, one)[1]
    assert value.item() == 12 and not value.requires_grad
    by_v = autograd.vjp(lambda v: autograd.jvp(cube, t, v)[1], one)[1]
    around = autograd.jvp(lambda t: autograd.vjp(lambda s: s * t, one)[1], t, one)[1]
    assert by_v.item() == 12 and around.item() == 1

    def quiet(t):  # what is found under no_grad is a constant
        return minigrad.no_grad()(autograd.vjp)(cube, t)[1] * t

    assert autograd.vjp(quiet, t)[1].item() == 12


def test_without_numbers_a_jacobian_has_the_shapes_that_it_would_have():
    none, two = double(), double(1.0, 2.0)
    shapes = [j.shape for j in autograd.jacobian(lambda x, y: x * 2, (none, two))]
    assert shapes == [(0, 0), (0, 2)]
    assert autograd.jacobian(lambda x: x.sum(), none).shape == (0,)
    assert autograd.hessian(lambda x: (x**3).sum(), none).shape == (0, 0)
    assert gradcheck(lambda x: x.exp(), none) and gradcheck(lambda x: x[:0], two)


def test_gradcheck_tells_right_from_wrong():
    wrong = Op("Wrong", lambda a: a * a, a=lambda g: g)
    x = double(1.0, 2.0)
    assert gradcheck(lambda a: (a * a, a.sum()), x)
    with pytest.raises(GradcheckError, match="numerical"):
        gradcheck(wrong, x)
    assert not gradcheck(wrong, x, raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(minigrad.exp, minigrad.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="requires_grad"):
        gradcheck(minigrad.exp, minigrad.ones(2))


def test_a_checkpoint_holds_its_arguments_until_backward_and_no_longer():
    x = double(0.1, 0.2)
    h = x * 2
    held = weakref.ref(h.array)
    y = autograd.checkpoint(lambda a, k: a.sin() * k, h, 3)
    del h
    assert held() is not None
    y.sum().backward()
    assert held() is None


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
