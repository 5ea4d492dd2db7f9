"""fit() trains, keeps the best, stops early, and goes on where it was interrupted."""

import math

import matplotlib
import numpy as np
import pytest

import minigrad
from minigrad import nn, optim
from minigrad.training.data import DataLoader, TensorDataset, make_moons
from minigrad.training.fit import History, evaluate, fit

loss = nn.CrossEntropyLoss()


def everything(seed=0, make=optim.Adam):
    """A model with dropout, an optimizer, data for training and for validation."""
    minigrad.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 2))
    data = DataLoader(make_moons(60), 16, shuffle=True, seed=1)
    validation = DataLoader(make_moons(40, seed=2), 40)
    return model, make(model.parameters(), lr=0.05), data, validation


def weights(model):
    return {name: tensor.array.copy() for name, tensor in model.state_dict().items()}


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_it_learns_and_tells_how():
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, data, 15, validation)
    assert history.epochs == len(history.validation) == 15
    assert history.loss[-1] < 0.6 * history.loss[0]
    found = evaluate(model, loss, validation)
    assert found == pytest.approx(min(history.validation)), "it has its best weights"
    assert not history.interrupted


def test_without_validation_the_last_weights_stay():
    model, optimizer, data, _ = everything()
    history = fit(model, loss, optimizer, data, 3)
    assert history.validation == [] and history.epochs == 3


def test_the_mean_weighs_batches_by_their_size():
    model = nn.Linear(1, 1)
    x = minigrad.arange(3.0).reshape(3, 1)
    batches = DataLoader(TensorDataset(x, x), 2)
    whole = nn.functional.mse_loss(model(x), x).item()
    assert evaluate(model, nn.MSELoss(), batches) == pytest.approx(whole)


class Interrupted:
    """Data that a learner interrupts at a batch, once."""

    def __init__(self, data, batch):
        self.data, self.batch = data, batch
        self._generator = data._generator

    def __iter__(self):
        for batch in self.data:
            self.batch -= 1
            if self.batch == 0:
                raise KeyboardInterrupt
            yield batch


@pytest.mark.parametrize("make", [optim.Adam, optim.SGD])
def test_after_an_interrupt_a_second_call_gives_the_same_numbers(
    tmp_path, capsys, make
):
    model, optimizer, data, validation = everything(make=make)
    whole = fit(model, loss, optimizer, data, 6, validation)
    expected = weights(model)

    model, optimizer, data, validation = everything(make=make)
    path = tmp_path / "run.safetensors"
    broken = Interrupted(data, 14)  # in the fourth epoch of four batches each
    history = fit(model, loss, optimizer, broken, 6, validation, checkpoint=path)
    assert history.interrupted and history.epochs == 3
    assert "Stopped in epoch 4 of 6." in capsys.readouterr().out
    best = min(history.validation)
    assert evaluate(model, loss, validation) == pytest.approx(best)

    model, optimizer, data, validation = everything(seed=5, make=make)  # a new process
    history = fit(model, loss, optimizer, data, 6, validation, checkpoint=path)
    assert (history.loss, history.validation) == (whole.loss, whole.validation)
    assert same(weights(model), expected)
    again = fit(model, loss, optimizer, data, 6, validation, checkpoint=path)
    assert again.loss == whole.loss, "there is nothing left to do"


def test_an_interrupt_in_the_first_epoch_claims_no_best_one(capsys):
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, Interrupted(data, 2), 6, validation)
    assert history.interrupted and history.epochs == 0
    assert (
        capsys.readouterr().out == "Stopped in epoch 1 of 6. No epoch was complete.\n"
    )


def test_an_interrupt_during_validation_leaves_the_model_learning(capsys):
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, data, 6, Interrupted(validation, 1))
    assert history.interrupted and model.training


def test_it_stops_when_nothing_gets_better():
    model, optimizer, data, validation = everything()
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    history = fit(model, loss, optimizer, data, 50, validation, patience=3)
    assert history.epochs == 4 and history.best == 0


def test_patience_needs_validation():
    model, optimizer, data, _ = everything()
    with pytest.raises(ValueError, match="give validation"):
        fit(model, loss, optimizer, data, 3, patience=2)


def test_a_file_that_is_no_checkpoint_is_refused_and_stays(tmp_path):
    model, optimizer, data, _ = everything()
    for content in (b"hello", b""):
        path = tmp_path / "notes.txt"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is no checkpoint of fit"):
            fit(model, loss, optimizer, data, 3, checkpoint=path)
        assert path.read_bytes() == content
    path = tmp_path / "model.safetensors"
    for other in (model.state_dict(), [1, 2]):
        minigrad.save(other, path)
        with pytest.raises(ValueError, match="is no checkpoint of fit"):
            fit(model, loss, optimizer, data, 3, checkpoint=path)


def test_validation_may_begin_later(tmp_path):
    path = tmp_path / "run.safetensors"
    model, optimizer, data, validation = everything()
    fit(model, loss, optimizer, data, 3, checkpoint=path)
    model, optimizer, data, validation = everything()
    history = fit(model, loss, optimizer, data, 6, validation, checkpoint=path)
    assert [math.isnan(x) for x in history.validation] == [True] * 3 + [False] * 3
    assert history.best >= 3
    assert evaluate(model, loss, validation) == pytest.approx(
        history.validation[history.best]
    )
    history.plot()
    model, optimizer, data, _ = everything()
    history = fit(model, loss, optimizer, data, 7, checkpoint=path)
    assert len(history.validation) == 7 and math.isnan(history.validation[-1])


def test_options_of_numpy_are_saved(tmp_path):
    path = tmp_path / "run.safetensors"
    model, _, data, _ = everything()
    optimizer = optim.SGD(model.parameters(), lr=np.float32(0.5))
    fit(model, loss, optimizer, data, 1, checkpoint=path)
    fit(model, loss, optimizer, data, 2, checkpoint=path)
    assert optimizer.param_groups[0]["lr"] == 0.5


@pytest.mark.parametrize("name", ["data", "validation"])
def test_batches_that_are_used_up_are_refused(name):
    model, optimizer, data, validation = everything()
    given = {"data": data, "validation": validation}
    given[name] = iter(given[name])
    with pytest.raises(TypeError, match=f"{name} is a generator, which is used up"):
        fit(model, loss, optimizer, epochs=2, **given)


@pytest.mark.parametrize("name", ["data", "validation"])
@pytest.mark.parametrize("pair", [True, False])
def test_numbers_in_place_of_batches_are_refused(name, pair):
    model, optimizer, data, validation = everything()
    X, y = next(iter(data))
    given = {"data": data, "validation": validation, name: (X, y) if pair else X}
    with pytest.raises(TypeError, match=f"{name} has to be batches.*DataLoader"):
        fit(model, loss, optimizer, epochs=3, **given)


def test_model_loss_and_optimizer_in_another_order_are_refused():
    model, optimizer, data, _ = everything()
    with pytest.raises(TypeError, match="got a Sequential and a CrossEntropyLoss"):
        fit(model, optimizer, loss, data, 3)


def test_no_batch_is_refused_not_a_loss_of_nan():
    model, optimizer, data, _ = everything()
    with pytest.raises(ValueError, match="no batch.*empty"):
        fit(model, loss, optimizer, [], 3)
    with pytest.raises(ValueError, match="no batch.*empty"):
        fit(model, loss, optimizer, data, 3, validation=[])


def test_the_checkpoint_of_another_model_is_refused(tmp_path):
    model, optimizer, data, _ = everything()
    path = tmp_path / "run.safetensors"
    fit(model, loss, optimizer, data, 1, checkpoint=path)
    other = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="Missing key"):
        fit(other, loss, optim.SGD(other.parameters()), data, 2, checkpoint=path)


def test_history_draws_both_losses():
    matplotlib.use("agg")
    ax = History([3.0, 2.0, math.nan], [3.0, 2.5, 2.6]).plot()
    training, validation, best = ax.lines
    assert list(training.get_xdata()) == [1, 2, 3]
    assert list(validation.get_ydata()) == [3.0, 2.5, 2.6]
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (2, 2.5)
    assert len(History().plot().lines) == 1, "before the first epoch, none is best"
    with pytest.raises(ValueError, match="no epoch"):
        History().best  # noqa: B018


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
