"""Recording, walking back, and everything that PyTorch's autograd has words for."""

import gc
import weakref

import numpy as np
import pytest

import minigrad
from minigrad.rules.op import Op


@pytest.fixture
def x():
    return minigrad.tensor([1.0, 2.0], requires_grad=True)


# Switches


def test_a_generator_takes_no_decorator():
    def numbers():
        yield 1

    for switch in (minigrad.no_grad(), minigrad.enable_grad()):
        with pytest.raises(TypeError, match="generator.*write the `with` inside"):
            switch(numbers)


# Writing over


def test_leaves_and_views_are_not_written_over_while_recorded(x):
    for write in (lambda: x.add_(1), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            write()
    c = minigrad.zeros(2)
    part = c[1:]
    c.requires_grad_()
    for view in (x[0], x.view(2, 1), (x * 1).unbind()[0], (x * 1)[0], part):
        with pytest.raises(RuntimeError, match="a view of a tensor"):
            view.add_(1)
        with pytest.raises(RuntimeError, match="a view of a tensor"):
            view[...] = 1.0
    with pytest.raises(RuntimeError, match="a view of a tensor"):
        minigrad.zeros(2)[0].copy_(x[0])
    with minigrad.no_grad():
        x.add_(1)
        x[0] = 7
    assert x.tolist() == [7, 3] and x.requires_grad


def test_what_retains_its_gradient_is_not_written_over(x):
    y = x * 2
    y.retain_grad()
    with pytest.raises(RuntimeError, match="retain_grad"):
        y.mul_(2)


def test_a_view_that_is_older_than_a_recorded_write_is_refused(x):
    base = x * 1
    view, part = base[0], base[1:]
    before = view * 2
    base.mul_(3)
    assert view._base is base and view.tolist() == 3
    for use in lambda: minigrad.cat([part, x]), view.backward, lambda: part.add_(1):
        with pytest.raises(RuntimeError, match="take the view again"):
            use()
    (before + base[0]).backward()  # the shares of what came before the write hold
    assert x.grad.tolist() == [5, 0]
    c = minigrad.zeros(2)
    view = c[0]
    c.add_(1)  # not recorded: the view sees it, and there is nothing to know
    assert (view * 2).item() == 2
    c[0] = x[0]
    with pytest.raises(RuntimeError, match="take the view again"):
        view * 2


# The engine under load


def test_a_chain_of_200_000_operations():
    y = x = minigrad.tensor(1.0, requires_grad=True)
    for _ in range(200_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    del y


def test_everything_dies_at_once_without_the_garbage_collector(x):
    gc.collect()
    gc.disable()
    try:
        h = (x * x).tanh()
        h.retain_grad()
        loss = h.reshape(2, 1).softmax(0).sum() + minigrad.cat([h, x]).sum()
        loss.backward()
        dead = [weakref.ref(thing) for thing in (h, h.grad_fn, loss, loss.grad_fn)]
        del h, loss
        assert [ref() for ref in dead] == [None] * 4
    finally:
        gc.enable()


def test_a_chain_of_sums_keeps_one_array_and_backward_frees_the_rest(x):
    big = minigrad.ones(1000, requires_grad=True)
    middle = big + 1
    array = weakref.ref(middle.array)
    y = middle + 1
    del middle
    assert array() is None
    squared = y * y
    array = weakref.ref(y.array)
    del y
    assert array() is not None
    squared.sum().backward()
    assert array() is None


def test_two_leaves_never_share_a_gradient(x):
    y = minigrad.ones(2, requires_grad=True)
    given = minigrad.ones(2)
    (x + y).backward(given)
    arrays = [x.grad.array, y.grad.array, given.array]
    assert not any(np.shares_memory(a, b) for a in arrays for b in arrays if a is not b)
    (x + y).backward(given)
    assert given.tolist() == [1, 1] and x.grad.tolist() == [2, 2]
    z = minigrad.ones(2, requires_grad=True)
    z.T.backward(given)
    assert not np.shares_memory(z.grad.array, given.array)


def test_an_interrupted_backward_leaves_no_half_gradients(x):
    y = minigrad.ones(2, requires_grad=True)
    h = x * 2

    def interrupt(g):
        raise KeyboardInterrupt

    handle = h.register_hook(interrupt)
    loss = (h * y).sum()
    with pytest.raises(KeyboardInterrupt):
        loss.backward(retain_graph=True)
    assert x.grad is None and y.grad is None
    handle.remove()
    loss.backward()
    assert x.grad.tolist() == [2, 2] and y.grad.tolist() == [2, 4]
    assert minigrad.is_grad_enabled()


# Operations of one's own


def test_a_formula_that_names_no_argument_is_refused_at_once():
    with pytest.raises(TypeError, match="Twice takes a: there is no 'two'"):
        Op("Twice", lambda a: a * 2, a=lambda g, two: g * two)


def test_an_operation_on_three_tensors_takes_them_by_name():
    x, formulas = (
        minigrad.ones(2, requires_grad=True),
        dict.fromkeys("abc", lambda g: g),
    )
    named = Op("Sum", lambda a, b, c=0.0: a + b + c, **formulas)
    for result in named(x, x, x), named(x, b=x, c=x), named(a=x, b=x, c=x.array):
        assert result.tolist() == [3, 3] and result.requires_grad
    assert named(x, x).tolist() == [2, 2]
    with pytest.raises(TypeError, match="sum takes a, b, c: missing a"):
        named(x)


def test_formulas_belong_to_arguments_by_name():
    cube = {"b": lambda g, a: g * a * a, "a": lambda g, a, b: g * 2 * a * b}
    op = Op("SquareTimes", lambda a, b: a * a * b, **cube)
    a, b = (minigrad.tensor(n, requires_grad=True) for n in (3.0, 5.0))
    op(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (30, 9)
    with pytest.raises(TypeError, match="takes a, b: there is no 'c'"):
        Op("Product", lambda a, b: a * b, a=lambda g, b: g * b, c=lambda g, a: g * a)


@pytest.mark.parametrize(
    "sign", ["+", "-", "*", "/", "**", "@", "<", "<=", ">", ">=", "&", "|", "^"]
)
def test_an_operator_leaves_what_it_does_not_know_to_the_other_operand(sign):
    class Other:
        def answer(self, other):
            return "other"

        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = answer
        __rmatmul__ = __rand__ = __ror__ = __rxor__ = answer
        __lt__ = __le__ = __gt__ = __ge__ = answer

    x = minigrad.ones(2)
    assert eval(f"x {sign} other", {"x": x, "other": Other()}) == "other"
    with pytest.raises(TypeError, match="not supported|unsupported operand"):
        eval(f"x {sign} other", {"x": x, "other": object()})
