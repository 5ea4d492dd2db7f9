"""Value: its numbers and gradients, against formulas, differences and PyTorch."""

import gc
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigrad.scalar.finite_differences import gradcheck
from minigrad.scalar.value import Value, topological_order

OPERATIONS = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / (b * b + 1.0),
    "Pow": lambda a, b: a**3 + b**2 + a**0,
    "Neg": lambda a, b: -a,
    "Exp": lambda a, b: a.tanh().exp(),
    "Log": lambda a, b: (a * a + 0.5).log(),
    "Sin": lambda a, b: a.sin(),
    "Tanh": lambda a, b: a.tanh(),
    "Relu": lambda a, b: a.relu(),
    "radd": lambda a, b: 2 + a,
    "rsub": lambda a, b: 2 - a,
    "rmul": lambda a, b: 0.5 * a,
    "rdiv": lambda a, b: 3 / (a * a + 1),
    "rpow": lambda a, b: (a * a + 1) ** -0.5,
}
index = st.integers(0, 99)
# Each step applies an operation to any two numbers made so far, which may be the same.
programs = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), index, index))
numbers = st.lists(st.floats(-2, 2), min_size=1, max_size=3)


def run(program, leaves):
    """Make one number after the other; the result uses all of them."""
    made = list(leaves)
    for name, i, j in program:
        made.append(OPERATIONS[name](made[i % len(made)], made[j % len(made)]).tanh())
    return sum(made)


@settings(max_examples=80, deadline=None)
@given(programs, numbers)
def test_values_and_gradients_are_pytorchs(program, xs):
    torch = pytest.importorskip("torch")
    ours = [Value(x) for x in xs]
    theirs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    results = run(program, ours), run(program, theirs)
    for result in results:
        result.backward()
    assert results[0].data == pytest.approx(results[1].item(), rel=1e-9, abs=1e-9)
    expected = [x.grad.item() for x in theirs]
    assert [x.grad for x in ours] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(programs, numbers)
def test_the_order_has_every_result_once_and_before_its_parents(program, xs):
    root = run(program, [Value(x) for x in xs])
    order = topological_order(root)
    place = {id(node): i for i, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(node.edges for node in order)
    for node in order:
        for parent, _ in node.edges:
            assert not parent.edges or place[id(parent)] > place[id(node)]


def test_gradcheck_of_every_operation():
    for function in OPERATIONS.values():
        assert gradcheck(
            lambda a, b, f=function: f(a, b) + b, [Value(0.7), Value(-1.3)]
        )


def test_what_a_result_remembers():
    x, y = Value(6.0), Value(3.0)
    z = x / y
    assert (z.data, z.grad, z.op) == (2.0, 0.0, "Div")
    assert z.edges == [(x, 1 / 3), (y, -2 / 3)]
    assert x.sin().edges == [(x, math.cos(6.0))]
    assert (x.edges, x.op) == ([], "")
    assert repr(z) == "Value(2, grad=0)"


def test_one_parent_twice_is_two_edges():
    x = Value(3.0)
    assert (x + x).edges == [(x, 1.0), (x, 1.0)]
    (x + x).backward()
    assert x.grad == 2.0


def test_numbers_become_constants():
    x = Value(3.0)
    for result in (x + 2, 2 + x, x * 2.0, np.float64(2) * x, x - np.int64(2)):
        constant = next(parent for parent, _ in result.edges if parent is not x)
        assert (constant.op, constant.data) == ("constant", 2)
        assert type(constant.data) is float


@pytest.mark.parametrize("a, slope", [(-1.0, 0.0), (0.0, 0.0), (2.0, 1.0)])
def test_relu_has_slope_zero_at_zero(a, slope):
    x = Value(a)
    x.relu().backward()
    assert x.grad == slope


def test_the_power_zero_is_flat_even_at_zero():
    x = Value(0.0)
    result = x**0
    result.backward()
    assert (result.data, x.grad) == (1.0, 0.0)


def test_leaves_accumulate_and_results_start_again():
    x = Value(3.0)
    square = x * x
    root = square + x
    for calls in (1, 2, 3):
        root.backward()
        assert (x.grad, square.grad, root.grad) == (7.0 * calls, 1.0, 1.0)
    square.backward()
    assert (x.grad, square.grad) == (27.0, 1.0)


def test_backward_of_a_leaf():
    x = Value(3.0)
    x.backward()
    x.backward()
    assert x.grad == 2.0
    assert topological_order(x) == []


def test_doublings_are_visited_once_each():
    x = root = Value(1.0)
    for _ in range(200):
        root = root + root
    assert len(topological_order(root)) == 200
    root.backward()
    assert x.grad == 2.0**200


def test_a_search_that_was_interrupted_does_no_harm():
    x = Value(3.0)
    square = x * x
    broken = square + square
    broken.right = "not a Value"
    with pytest.raises(AttributeError):
        broken.backward()
    (square * square).backward()
    assert x.grad == 108.0


def test_a_chain_of_a_million():
    x = root = Value(1.0)
    for _ in range(1_000_000):
        root = root + x
    root.backward()
    assert x.grad == 1_000_001.0
    del root  # taking it apart must not recurse either


def test_no_reference_cycles():
    gc.collect()
    gc.disable()
    try:
        x = Value(0.5)
        before = len(gc.get_objects())
        for _ in range(100):
            root = ((x * x + 1).tanh() / (2 - x)).relu()
            root.backward()
        del root
        assert len(gc.get_objects()) <= before + 1
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda v: Value("3"), TypeError, "a Value holds one number, got str"),
        (lambda v: Value([1]), TypeError, "a Value holds one number, got list"),
        (lambda v: Value(v), TypeError, "a Value holds one number, got Value"),
        (lambda v: v + "a", TypeError, "a Value holds one number, got str"),
        (lambda v: None * v, TypeError, "a Value holds one number, got NoneType"),
        (lambda v: v * np.ones(2), TypeError, "a Value holds one number, got ndarray"),
        (lambda v: v**v, TypeError, "'float' and 'Value'"),
        (lambda v: 2**v, TypeError, "'int' and 'Value'"),
        (lambda v: (-v) ** 0.5, TypeError, "a Value holds one number, got complex"),
        (lambda v: v / 0, ZeroDivisionError, "division by zero"),
        (lambda v: (-v).log(), ValueError, "math domain error|positive"),
    ],
)
def test_what_goes_wrong_says_so(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(Value(3.0))
