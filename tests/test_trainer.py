"""fit() trains, keeps the best weights, and counts examples; modes come back."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_moons

import minigrad
from minigrad import nn, optim
from minigrad.training.data import DataLoader, TensorDataset
from minigrad.training.fit import History, batch_size, evaluate, fit

loss = nn.CrossEntropyLoss()


def squares(found, target):
    return ((found - target) ** 2).mean()


def moons(n, seed=0):
    points, classes = make_moons(n, noise=0.1, random_state=seed)
    return TensorDataset(minigrad.tensor(points).float(), minigrad.tensor(classes))


def everything():
    """A model with dropout, an optimizer, data for training and for validation."""
    minigrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 2))
    data = DataLoader(moons(60), 16, shuffle=True, seed=1)
    validation = DataLoader(moons(40, seed=2), 40)
    return model, optim.Adam(model.parameters(), lr=0.05), data, validation


def test_it_learns_and_tells_how():
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, data, 15, validation)
    assert len(history.loss) == len(history.validation) == 15
    assert history.loss[-1] < 0.6 * history.loss[0]
    found = evaluate(model, loss, validation)
    assert found == pytest.approx(min(history.validation)), "it has its best weights"


def test_without_validation_the_last_weights_stay():
    model, optimizer, data, _ = everything()
    history = fit(model, loss, optimizer, data, 3)
    assert history.validation == [] and len(history.loss) == 3


# How many examples a batch has


def test_the_mean_weighs_batches_by_their_size():
    model = nn.Linear(1, 1)
    x = minigrad.arange(3.0).reshape(3, 1)
    batches = DataLoader(TensorDataset(x, x), 2)
    whole = squares(model(x), x).item()
    assert evaluate(model, squares, batches) == pytest.approx(whole)


class Scaled(nn.Module):
    """A weight times x."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(minigrad.tensor([1.0]))

    def forward(self, x):
        return self.weight * x


def test_the_best_epoch_is_the_best_over_examples():
    # In the second epoch the loss is higher by examples, and lower by batches
    x, y = minigrad.tensor([[1.0], [1.0], [1.0], [0.5]]), minigrad.zeros(4, 1)
    batches = [(x[:3], y[:3]), (x[3:], y[3:] + 4)]
    model = Scaled()
    sgd = optim.SGD(model.parameters(), lr=0.1)
    history = fit(model, squares, sgd, batches[1:], 2, validation=batches)
    for epoch, w in enumerate([1.35, 1.6825]):
        whole = (3 * w**2 + (0.5 * w - 4) ** 2) / 4
        assert history.validation[epoch] == pytest.approx(whole)
    assert history.best == 0 and model.weight.item() == pytest.approx(1.35)


def test_inputs_and_targets_are_tensors_of_one_length():
    with pytest.raises(ValueError, match="3 inputs, but 2 targets"):
        batch_size(minigrad.ones(3, 1), minigrad.ones(2, 1))
    with pytest.raises(AttributeError, match="'dict' object has no attribute 'shape'"):
        batch_size({"a": minigrad.ones(3)}, minigrad.ones(3))


# Modes


def modes(model):
    return [module.training for module in model.modules()]


def test_after_evaluation_each_part_has_its_own_mode_back():
    model, _, _, validation = everything()
    model[0].eval(), model[2].eval()
    before = modes(model)
    evaluate(model, loss, validation)
    assert modes(model) == before == [True, False, True, False, True]
    with pytest.raises((TypeError, AttributeError)):
        evaluate(model, loss, [(None, None)])
    assert modes(model) == before
    model.eval()
    evaluate(model, loss, validation)
    assert not any(modes(model))


def test_a_part_in_eval_mode_is_not_moved_by_fit():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 4), nn.BatchNorm1d(4))
    model[0].eval()
    sgd = optim.SGD(model.parameters(), lr=0.1)
    fit(model, loss, sgd, DataLoader(moons(30), 10), 2, DataLoader(moons(9), 4))
    assert modes(model) == [True, False, True, True]
    assert model[0].running_var.tolist() == [1, 1]
    assert model[0].num_batches_tracked.item() == 0
    assert model[2].num_batches_tracked.item() > 0


def test_a_model_that_was_in_use_is_trained_in_training_mode():
    model, optimizer, data, _ = everything()
    model.eval()
    fit(model, loss, optimizer, data, 1)
    assert all(modes(model))


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


# What cannot be


def test_batches_that_are_used_up_are_refused():
    model, optimizer, data, _ = everything()
    with pytest.raises(ValueError, match="no batch.*used up.*generator"):
        fit(model, loss, optimizer, iter(data), 2)


def test_no_batch_is_refused_not_a_loss_of_nan():
    model, optimizer, data, _ = everything()
    with pytest.raises(ValueError, match="no batch.*empty"):
        fit(model, loss, optimizer, [], 3)
    with pytest.raises(ValueError, match="no batch.*empty"):
        fit(model, loss, optimizer, data, 3, validation=[])


# What one sees


def test_a_loss_of_nan_is_not_the_best():
    assert History([math.nan, 2.0]).best == 1
    assert History([1.0, 1.0], [3.0, 2.5]).best == 1


def test_output_that_is_kept_has_no_bar(capsys):
    model, optimizer, data, validation = everything()
    fit(model, loss, optimizer, data, 2, validation)
    assert capsys.readouterr() == ("", "")


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
