"""Optimizers and schedules, beside PyTorch's, step by step."""

import copy

import numpy as np
import pytest
from sklearn.datasets import make_moons

import minigrad
from minigrad import nn, optim
from minigrad.training.data import DataLoader, TensorDataset


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


OPTIMIZERS = [
    "SGD(params)",
    "SGD(params, lr=0.1)",
    "SGD(params, 0.1, 0.9)",
    "SGD(params, lr=0.1, weight_decay=0.1)",
    "SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1)",
    "Adam(params)",
    "Adam(params, 0.1, (0.8, 0.9), 1e-6)",
    "Adam(params, lr=0.1, weight_decay=0.1)",
    "AdamW(params)",
    "AdamW(params, lr=0.1, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.2)",
]
START = [[[0.5, -1.0, 2.0], [1.5, 0.1, -0.3]], [1.0, -2.0, 0.5], 0.7]


def leaves(library, dtype="float64"):
    """Return a matrix, a vector and a single number."""
    dtype = getattr(library, dtype)
    return [library.tensor(x, dtype=dtype, requires_grad=True) for x in START]


def loss_of(matrix, vector, number, step):
    """A loss that looks different at each step; the number joins in at the third."""
    loss = (matrix * vector - step * 0.1).sin().sum() + (vector - 1).tanh().mean()
    return loss if step < 2 else loss + (number * vector).cos().sum()


def made(optimizer, library, params):
    return eval(optimizer, vars(library.optim) | {"params": params})


def steps(params, optimizer, span, schedule=None):
    """Yield the numbers of all parameters after each step."""
    for step in span:
        optimizer.zero_grad()
        loss_of(*params, step).backward()
        optimizer.step()
        if schedule:
            schedule.step()
        yield [p.tolist() for p in params]


def assert_alike(found, expected, tolerance=1e-9):
    for mine, theirs in zip(found, expected, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, b, tolerance, tolerance)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_ten_steps_are_pytorchs(torch, optimizer, dtype, tolerance):
    runs = []
    for library in (minigrad, torch):
        params = leaves(library, dtype)
        runs.append(steps(params, made(optimizer, library, params), range(10)))
    assert_alike(*runs, tolerance)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_groups_have_options_of_their_own(torch, name):
    runs = []
    for library in (minigrad, torch):
        params = leaves(library)
        groups = [
            {"params": params[0], "lr": 0.2, "weight_decay": 0.3},
            {"params": params[1:2]},
            {"params": params[2], "lr": 0.01},
        ]
        optimizer = getattr(library.optim, name)(groups, lr=0.05)
        assert [group["lr"] for group in optimizer.param_groups] == [0.2, 0.05, 0.01]
        runs.append(steps(params, optimizer, range(10)))
    assert_alike(*runs)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_saved_optimizer_goes_on_as_if_never_stopped(optimizer):
    params = leaves(minigrad)
    whole = list(steps(params, made(optimizer, minigrad, params), range(10)))
    params = leaves(minigrad)
    first = made(optimizer, minigrad, params)
    half = list(steps(params, first, range(5)))
    saved = first.state_dict()
    kept = copy.deepcopy(saved)
    params = [p.detach().clone().requires_grad_() for p in params]
    second = made(optimizer, minigrad, params)
    for group in second.param_groups:
        group["lr"] = 5.0
    second.load_state_dict(saved)
    assert half + list(steps(params, second, range(5, 10))) == whole
    np.testing.assert_equal(saved, kept)


def test_the_state_is_numbered_as_in_pytorch(torch):
    states = []
    for library in (minigrad, torch):
        params = leaves(library)
        groups = [{"params": params[1:]}, {"params": params[:1], "lr": 1.0}]
        optimizer = library.optim.Adam(groups)
        list(steps(params, optimizer, range(2)))
        states.append(optimizer.state_dict())
    ours, theirs = states
    assert [g["params"] for g in ours["param_groups"]] == [[0, 1], [2]]
    assert [g["params"] for g in theirs["param_groups"]] == [[0, 1], [2]]
    assert ours["state"].keys() == theirs["state"].keys() == {0, 2}
    assert ours["state"][0].keys() == theirs["state"][0].keys()
    assert ours["state"][0]["step"] == theirs["state"][0]["step"] == 2


def test_a_parameter_without_gradient_stays():
    used, unused = leaves(minigrad)[:2]
    adam = optim.AdamW([used, unused], weight_decay=0.5)
    used.sum().backward()
    adam.step()
    assert used.tolist() != START[0] and unused.tolist() == START[1]
    assert list(adam.state) == [used]


def test_zero_grad_forgets_or_clears():
    w = minigrad.ones(2, requires_grad=True)
    sgd = optim.SGD([w], lr=0.5)
    w.sum().backward()
    sgd.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0, 0]
    sgd.zero_grad()
    assert w.grad is None


def test_a_step_is_not_recorded_and_is_noticed():
    w = minigrad.ones(2, requires_grad=True)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optim.SGD([w], lr=0.5).step()
    assert w.is_leaf and w.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


W = minigrad.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.SGD(W), ValueError, "non-leaf"),
        (lambda: optim.SGD(nn.Linear(1, 1)), TypeError, "Linear.*not iterable"),
        (lambda: optim.SGD(nn.Sequential(nn.ReLU())), ValueError, "non-leaf ReLU"),
        (lambda: optim.SGD([]), ValueError, "empty parameter list"),
        (lambda: optim.SGD([1.0]), ValueError, "non-leaf float"),
        (lambda: optim.SGD([W * 2]), ValueError, "non-leaf Tensor: give leaves"),
        (
            lambda: optim.SGD([{"params": [W]}, {"params": [W]}]),
            ValueError,
            "more than one group",
        ),
        (lambda: optim.SGD([W, W]), ValueError, "appears twice"),
        (lambda: optim.SGD([W], lr="0.1"), TypeError, "'str' and 'int'"),
        (lambda: optim.Adam([W], lr=-0.1), ValueError, "learning rate: -0.1"),
    ],
)
def test_a_wrong_argument_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


# Schedules

SCHEDULES = [
    "CosineAnnealingLR(optimizer, T_max=15)",
    "CosineAnnealingLR(optimizer, 6, 0.01)",
    "LambdaLR(optimizer, lambda epoch: 0.9**epoch)",
]


def scheduled(schedule, optimizer, library):
    return eval(schedule, vars(library.optim.lr_scheduler) | {"optimizer": optimizer})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_fifteen_rates_are_pytorchs(torch, schedule):
    runs = []
    for library in (minigrad, torch):
        params = leaves(library)
        groups = [{"params": params[:1], "lr": 0.3}, {"params": params[1:]}]
        optimizer = library.optim.SGD(groups, lr=0.05)
        plan = scheduled(schedule, optimizer, library)
        rates = [[group["lr"] for group in optimizer.param_groups]]
        for numbers in steps(params, optimizer, range(15), plan):
            rates.append([group["lr"] for group in optimizer.param_groups])
            assert plan.get_last_lr() == rates[-1]
            rates.append(numbers)
        runs.append(rates)
    assert_alike(*runs)


# All together


def test_a_small_network_learns_the_moons():
    minigrad.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2)
    )
    points, classes = make_moons(200, noise=0.1, random_state=0)
    moons = TensorDataset(minigrad.tensor(points).float(), minigrad.tensor(classes))
    adam, loss_of = optim.Adam(model.parameters(), lr=0.02), nn.CrossEntropyLoss()
    loader = DataLoader(moons, batch_size=50, shuffle=True, seed=0)
    for _ in range(40):
        for points, classes in loader:
            adam.zero_grad()
            loss_of(model(points), classes).backward()
            adam.step()
    points, classes = moons.tensors
    with minigrad.no_grad():
        scores = model.eval()(points)
    assert loss_of(scores, classes).item() < 0.02
    assert (scores.argmax(1) == classes).all()


def test_a_network_trains_as_in_pytorch(torch):
    runs, draw = [], np.random.default_rng(0)
    x, y = draw.normal(size=(64, 1, 6, 6)), draw.integers(0, 3, 64)
    state = None
    for library in (minigrad, torch):
        nn = library.nn
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.LayerNorm(16),
            nn.Linear(16, 3),
        ).double()
        state = state or {k: v.numpy().copy() for k, v in model.state_dict().items()}
        given = {k: library.from_numpy(v.copy()) for k, v in state.items()}
        model.load_state_dict(given)
        sgd = library.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        plan = library.optim.lr_scheduler.CosineAnnealingLR(sgd, 8)
        losses = []
        for i in range(8):
            batch = slice(i % 4 * 16, i % 4 * 16 + 16)
            inputs = library.from_numpy(x[batch])
            target = library.from_numpy(y[batch])
            loss = nn.CrossEntropyLoss()(model(inputs), target)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            plan.step()
            losses.append(loss.item())
        runs.append(losses)
    assert runs[0] == pytest.approx(runs[1], rel=1e-9)
