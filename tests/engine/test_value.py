"""Value: its numbers and gradients, against formulas, differences and PyTorch."""

import gc
import json
from random import Random

import numpy as np
import pytest

from minigrad.scalar.value import Value, topological_order
from tests.engine.reference.compute import HERE

STORED = json.loads((HERE / "values.json").read_text(encoding="utf-8"))
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


def drawn(seed):
    """Return a program, and one to three numbers for it.

    Each step applies an operation to any two of the numbers made so far.
    """
    dice, places = Random(seed), range(100)
    program = [
        (dice.choice(sorted(OPERATIONS)), dice.choice(places), dice.choice(places))
        for _ in range(dice.randint(0, 12))
    ]
    xs = [dice.choice([0.0, dice.uniform(-2, 2)]) for _ in range(dice.randint(1, 3))]
    return program, xs


of_random_programs = pytest.mark.parametrize(
    ("program", "xs"), list(map(drawn, range(80))), ids=range(80)
)


def run(program, leaves):
    """Make one number after the other; the result uses all of them."""
    made = list(leaves)
    for name, i, j in program:
        made.append(OPERATIONS[name](made[i % len(made)], made[j % len(made)]).tanh())
    return sum(made)


def in_pytorch(torch, program, xs):
    """Return the result in PyTorch, and its derivative for each number."""
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    result = run(program, leaves)
    result.backward()
    return [result.item(), *(leaf.grad.item() for leaf in leaves)]


@pytest.mark.parametrize("seed", range(80))
def test_values_and_gradients_are_pytorchs(seed):
    program, xs = drawn(seed)
    leaves = [Value(x) for x in xs]
    result = run(program, leaves)
    result.backward()
    found = [result.data, *(leaf.grad for leaf in leaves)]
    assert found == pytest.approx(STORED[str(seed)], rel=1e-9, abs=1e-9)


def test_what_is_stored_of_values_is_what_pytorch_finds():
    torch = pytest.importorskip("torch")
    found = {str(seed): in_pytorch(torch, *drawn(seed)) for seed in range(80)}
    assert found.keys() == STORED.keys(), "run python tests/engine/reference/make.py"
    for seed, numbers in found.items():
        assert numbers == pytest.approx(STORED[seed], rel=1e-9, abs=1e-9), seed


@of_random_programs
def test_the_order_has_every_result_once_and_before_its_parents(program, xs):
    root = run(program, [Value(x) for x in xs])
    order = topological_order(root)
    place = {id(node): i for i, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(node.edges for node in order)
    for node in order:
        for parent, _ in node.edges:
            assert not parent.edges or place[id(parent)] > place[id(node)]


def test_numbers_become_constants():
    x = Value(3.0)
    for result in (x + 2, 2 + x, x * 2.0, np.float64(2) * x, x - np.int64(2)):
        constant = next(parent for parent, _ in result.edges if parent is not x)
        assert (constant.op, constant.data) == ("constant", 2)
        assert type(constant.data) is float


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
        (lambda v: v * np.ones(2), TypeError, "a Value holds one number, got ndarray"),
        (lambda v: (-v) ** 0.5, TypeError, "a Value holds one number, got complex"),
        (lambda v: (-v).log(), ValueError, "math domain error|positive"),
    ],
)
def test_what_goes_wrong_says_so(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(Value(3.0))
