"""Data in batches, the small sets, and tensors in files."""

from functools import partial

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.optim import SGD, Adam, AdamW
from minigrad.training.data import (
    DataLoader,
    TensorDataset,
    default_collate,
    load_digits,
    random_split,
)


def pairs(n=10):
    return TensorDataset(minigrad.arange(n), minigrad.arange(n) ** 2)


def order(loader):
    return [batch[0].tolist() for batch in loader]


# Datasets


@pytest.mark.parametrize(
    "tensors", [[minigrad.ones(3), minigrad.ones(2)], [minigrad.ones(1), np.ones(2)]]
)
def test_a_tensor_dataset_wants_tensors_of_one_length(tensors):
    with pytest.raises(ValueError, match=r"Size mismatch.*, 2\]"):
        TensorDataset(*tensors)


@pytest.mark.parametrize("lengths", [[7, 3], [10], [10, 0], [2, 3, 5]])
def test_a_split_has_every_example_once(lengths):
    parts = random_split(pairs(), lengths, seed=0)
    assert [len(part) for part in parts] == lengths
    found = [x.item() for part in parts for x, _ in part]
    assert sorted(found) == list(range(10)) and found != list(range(10))


@pytest.mark.parametrize("lengths", [[7, 2], [0.5, 0.5], [20]])
def test_a_split_wants_all_of_the_examples(lengths):
    with pytest.raises(ValueError, match="Sum of input lengths.* is not 10"):
        random_split(pairs(), lengths)


def test_a_split_repeats_from_its_seed_or_from_manual_seed():
    def indices(seed):
        return [part.indices for part in random_split(pairs(), [6, 4], seed)]

    assert indices(1) == indices(1) != indices(2)
    minigrad.manual_seed(5)
    one, other = indices(None), indices(None)
    minigrad.manual_seed(5)
    assert indices(None) == one != other


# Batches


def test_a_seed_gives_the_same_order_in_every_run_and_another_in_each_epoch():
    def epochs(seed):
        loader = DataLoader(pairs(), batch_size=5, shuffle=True, seed=seed)
        return order(loader), order(loader)

    first, second = epochs(0)
    assert (first, second) == epochs(0) and first != second
    assert sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(10))
    assert epochs(1)[0] != first


def test_without_a_seed_the_order_comes_from_manual_seed():
    loader = DataLoader(pairs(), batch_size=10, shuffle=True)
    minigrad.manual_seed(0)
    first, second = order(loader), order(loader)
    minigrad.manual_seed(0)
    assert order(loader) == first != second


def test_a_loaders_seed_leaves_other_random_numbers_alone():
    minigrad.manual_seed(0)
    expected = minigrad.rand(3).tolist()
    minigrad.manual_seed(0)
    order(DataLoader(pairs(), shuffle=True, seed=7))
    assert minigrad.rand(3).tolist() == expected


@pytest.mark.parametrize("size", [0, -1, 1.5, "all"])
def test_a_batch_has_one_example_or_more(size):
    with pytest.raises(ValueError, match=f"positive integer, not {size}"):
        DataLoader(pairs(), batch_size=size)


def test_collate_makes_one_dict_of_dicts():
    batch = default_collate([{"a": 1, "b": (2.0,)}, {"a": 3, "b": (4.0,)}])
    assert batch["a"].tolist() == [1, 3] and batch["b"][0].tolist() == [2, 4]


def test_collate_wants_examples_of_one_size():
    with pytest.raises(ValueError, match="shorter"):
        default_collate([(1, 2), (1,)])
    with pytest.raises((RuntimeError, ValueError), match="(?i)stack|same shape"):
        default_collate([minigrad.ones(2), minigrad.ones(3)])


# Sets


def test_digits_are_small_images_and_classes():
    images, classes = load_digits().tensors
    assert (images.shape, images.dtype) == ((1797, 1, 8, 8), minigrad.float32)
    assert (classes.shape, classes.dtype) == ((1797,), minigrad.int64)
    assert (images.min().item(), images.max().item()) == (0, 1)
    assert sorted(set(classes.tolist())) == list(range(10))


# Files


def test_what_is_saved_is_loaded(tmp_path):
    x = minigrad.arange(12.0).reshape(3, 4)
    tensors = {
        "float32": minigrad.randn(2, 3),
        "float64": minigrad.randn(2, dtype=minigrad.float64),
        "int64": minigrad.arange(4),
        "bool": minigrad.tensor([True, False]),
        "number": minigrad.tensor(3.5),
        "empty": minigrad.zeros(0, 3),
        "recorded": minigrad.ones(2, requires_grad=True) * 2,
        "turned": x.T,
        "every second": x[:, ::2],
        "backwards": minigrad.tensor(x.array[:, ::-1]),
        "spread": x[:1].expand(3, 4),
    }
    minigrad.save(tensors, tmp_path / "some.safetensors")
    loaded = minigrad.load(str(tmp_path / "some.safetensors"))
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].tolist() == tensor.tolist()
        assert (loaded[name].shape, loaded[name].dtype) == (tensor.shape, tensor.dtype)
        assert not loaded[name].requires_grad
    assert loaded["empty"].add_(1).numel() == 0
    assert loaded["number"].add_(1).item() == 4.5


def test_pytorch_reads_and_writes_the_same_files(tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file, save_file

    path, twins = tmp_path / "model.safetensors", []
    for lib in minigrad, torch:
        twins.append(lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4)))
        for name in "__metadata__x", "이름", "a b\n", "🐢":
            setattr(twins[-1][0], name, lib.nn.Linear(1, 1))
    ours, theirs = twins
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    ours(minigrad.tensor(x))
    minigrad.save(ours.state_dict(), path)
    found = minigrad.load(path)
    assert list(found) == list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(load_file(path))
    for mine, other in zip(found.values(), theirs.state_dict().values()):
        assert mine.tolist() == other.tolist()
    expected = theirs.eval()(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours.eval()(minigrad.tensor(x)).detach(), expected, 1e-5)
    save_file({"b": torch.arange(6.0).reshape(2, 3), "a": torch.ones(1)}, path)
    assert minigrad.load(path)["b"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("make", [partial(SGD, momentum=0.9), Adam, AdamW])
def test_training_goes_on_from_a_file_as_if_it_had_not_stopped(tmp_path, make):
    def begin():
        minigrad.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        optimizer = make(model.parameters(), lr=0.1, weight_decay=0.01)
        return model, optimizer

    def train(model, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()

    x = minigrad.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
    whole, half, resumed = begin(), begin(), begin()
    train(*whole, 6)
    train(*half, 3)
    parts = {"epoch": 3, "note": None, "loss": [0.5, float("inf")], 7: (True, "yes")}
    parts |= dict(zip(("model", "optimizer"), (p.state_dict() for p in half)))
    minigrad.save(parts, tmp_path / "checkpoint.safetensors")
    found = minigrad.load(tmp_path / "checkpoint.safetensors")
    assert list(found) == list(parts) and found["loss"] == parts["loss"]
    assert found[7] == [True, "yes"] and found["epoch"] == 3 and found["note"] is None
    assert list(found["model"]) == list(parts["model"])
    for name, part in zip(("model", "optimizer"), resumed):
        part.load_state_dict(found[name])
    train(*resumed, 3)
    for mine, theirs in zip(resumed[0].parameters(), whole[0].parameters()):
        np.testing.assert_array_equal(mine.detach().array, theirs.detach().array)


@pytest.mark.parametrize("value", [nn.Linear(1, 1), {1, 2}, print])
def test_what_cannot_be_saved_is_named_and_no_file_is_written(tmp_path, value):
    with pytest.raises(TypeError, match=type(value).__name__):
        minigrad.save({"a": [value]}, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


ODD = ["", "a.b", "a", '"', "\\", "<>{}|", "two\nlines", "이름", "🐢", "\0"]
ODD += ["__metadata__", "minigrad", "__metadata__'", "'", "dtype", "dict", "x" * 10_000]


def test_names_may_be_any_text(tmp_path):
    path = tmp_path / "이름 🐢.safetensors"
    state = {name: minigrad.tensor([float(i)]) for i, name in enumerate(ODD)}
    minigrad.save({"odd": {"inside": state}, "text": ODD} | state, path)
    found = minigrad.load(path)
    assert list(found) == ["odd", "text", *(name for name in ODD)]
    assert found["text"] == ODD
    for there in (found, found["odd"]["inside"]):
        assert [there[name].item() for name in ODD] == [*range(len(ODD))]
    twice = {"a.b": minigrad.ones(1), "a": {"b": minigrad.zeros(2)}}
    minigrad.save(twice, path)
    assert minigrad.load(path)["a"]["b"].tolist() == [0, 0]
    minigrad.save(minigrad.arange(3), path)
    assert minigrad.load(path).tolist() == [0, 1, 2]


@pytest.mark.parametrize("example", [None, b"text", "text", object()])
def test_a_dataset_that_returns_no_example_is_told_so(example):
    with pytest.raises(TypeError, match="a Tensor holds"):
        default_collate([example, example])
