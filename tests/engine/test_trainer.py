"""fit() is interrupted, and shows a bar; training.md has what else it does."""

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim
from minigrad.training.data import DataLoader, TensorDataset
from minigrad.training.fit import evaluate, fit

loss = nn.CrossEntropyLoss()


def squares(found, target):
    return ((found - target) ** 2).mean()


def moons(n, seed=0):
    from sklearn.datasets import make_moons  # slow: not while tests are collected

    points, classes = make_moons(n, noise=0.1, random_state=seed)
    return TensorDataset(minigrad.tensor(points).float(), minigrad.tensor(classes))


def everything():
    """A model with dropout, an optimizer, data for training and for validation."""
    minigrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 2))
    data = DataLoader(moons(60), 16, shuffle=True, seed=1)
    validation = DataLoader(moons(40, seed=2), 40)
    return model, optim.Adam(model.parameters(), lr=0.05), data, validation


def modes(model):
    return [module.training for module in model.modules()]


# Ctrl-C


class Interrupted:
    """Data that a learner interrupts at a batch, once."""

    def __init__(self, data, batch):
        self.data, self.batch = data, batch

    def __iter__(self):
        for batch in self.data:
            self.batch -= 1
            if self.batch == 0:
                raise KeyboardInterrupt
            yield batch


@pytest.mark.parametrize("with_validation", [True, False])
def test_an_interrupt_ends_it_and_validation_brings_the_best_weights(
    with_validation, capsys
):
    model, optimizer, data, validation = everything()
    broken = Interrupted(data, 14)  # in the fourth epoch of four batches each
    given = validation if with_validation else None
    history = fit(model, loss, optimizer, broken, 6, given)
    assert len(history.loss) == 3
    assert capsys.readouterr().out == "Stopped after 3 of 6 epochs.\n"
    if with_validation:
        best = min(history.validation)
        assert evaluate(model, loss, validation) == pytest.approx(best)
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        twin, optimizer, data, _ = everything()
        fit(twin, loss, optimizer, data, history.best + 1)
        for name, tensor in twin.state_dict().items():
            assert np.array_equal(tensor.array, state[name].array)


def test_an_interrupt_in_the_first_epoch_claims_no_best_one(capsys):
    model, optimizer, data, validation = everything()
    assert not fit(model, loss, optimizer, Interrupted(data, 2), 6, validation).loss
    assert capsys.readouterr().out == "Stopped after 0 of 6 epochs.\n"


def test_an_interrupt_during_validation_leaves_the_model_learning():
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, data, 6, Interrupted(validation, 1))
    assert history.loss and all(modes(model))


# What one sees


@pytest.mark.parametrize("looking", [False, True])
def test_a_bar_shows_where_somebody_looks(looking, capsys, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if looking:
        monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    model, optimizer, data, validation = everything()
    fit(model, loss, optimizer, data, 1, validation)
    out, err = capsys.readouterr()
    assert ("epoch 1 of 1" in out) == looking
    assert err == ""


def test_a_schedule_takes_one_function():
    optimizer = optim.SGD([minigrad.ones(1, requires_grad=True)])
    with pytest.raises(TypeError, match="one function"):
        optim.LambdaLR(optimizer, [lambda n: 1.0])
