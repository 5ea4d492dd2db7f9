"""A small GPT: nobody sees the future, weights serve twice, it can learn to add."""

import numpy as np
import pytest

import minigrad
from minigrad.models import GPT
from minigrad.training.data import SIGNS, load_additions


@pytest.fixture
def model():
    minigrad.manual_seed(0)
    return GPT(tokens=12, length=8, width=16, layers=2, heads=4)


def test_a_place_sees_what_comes_before_it_and_nothing_later(model):
    tokens = minigrad.randint(0, 12, (1, 8))
    changed = minigrad.tensor(tokens.array)
    changed[0, 5] = (tokens[0, 5].item() + 1) % 12
    before, after = model(tokens).detach().array, model(changed).detach().array
    assert before.shape == (1, 8, 12)
    np.testing.assert_array_equal(before[0, :5], after[0, :5])
    assert np.abs(before[0, 5:] - after[0, 5:]).max(1).min() > 1e-6


def test_the_embedding_is_the_last_layer_too(model):
    names = [name for name, _ in model.named_parameters()]
    assert "token_embedding.weight" in names and len(names) == 2 + 2 * 12 + 2
    model(minigrad.tensor([[1, 2]])).sum().backward()
    unused = model.token_embedding.weight.grad.array[5]
    assert np.abs(unused).max() > 0, "token 5 was not met, but it was scored"


def test_it_generates_one_token_after_the_other(model):
    tokens = minigrad.tensor([[1, 2, 3], [4, 5, 6]])
    found = model.generate(tokens, 3)
    assert found.shape == (2, 6) and not found.requires_grad
    np.testing.assert_array_equal(found.array[:, :3], tokens.array)
    again = model(found[:, :5])[:, 4].argmax(-1)
    np.testing.assert_array_equal(again.array, found.array[:, 5])


def test_all_sums_are_there_lowest_digit_first():
    tokens = load_additions().tensors[0].array
    assert tokens.shape == (10_000, 9)
    texts = ["".join(SIGNS[i] for i in row) for row in tokens]
    assert texts[12 * 100 + 34] == "12+34=640" and texts[-1] == "99+99=891"
    for text in texts[::37]:
        assert int(text[:2]) + int(text[3:5]) == int(text[:5:-1])
