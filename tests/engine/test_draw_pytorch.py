"""PyTorch's own graphs in our pictures do no harm; drawings.md has what they say."""

import warnings

import pytest

import minigrad
from minigrad.drawing.describe import identity
from minigrad.drawing.draw import draw
from tests.engine.test_sessions import leaf, lines


@pytest.fixture(autouse=True)
def pytorch():
    """Import PyTorch when a test runs: it takes seconds."""
    global torch
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    import minigrad.drawing.pytorch  # noqa: F401


def test_what_backward_keeps_is_told_as_ours():
    def kept(lib):
        x = lib.ones(30, 40)
        w = lib.ones(40, 5, requires_grad=True)
        loss = ((x @ w).tanh() * w[:1, :1]).sum()
        before = draw(loss, saved=True, loss=loss)
        loss.backward()
        return [lines(before), lines(draw(loss, saved=True, loss=loss))]

    (ours, after), (theirs, gone) = kept(minigrad), kept(torch)
    assert theirs[-1] == ours[-1] and "self 4,800 B" in " ".join(theirs)
    assert gone[-1] == after[-1] == "kept for backward: 0 B"
    assert sum("keeps nothing any more" in line for line in gone) >= 3
    assert lines(draw(torch.ones(2), saved=True))[-1] == "kept for backward: 0 B"


def test_a_result_is_known_though_python_forgets_its_node():
    x = leaf([1.0, 2], torch)
    y = x * x
    assert identity(y) is identity(y)
    assert all(identity(y) is not identity(x * x) for _ in range(20))
    assert identity(x) is identity(y.grad_fn.next_functions[0][0])


def test_no_warning_and_no_grad_that_was_not_there():
    x = leaf([1.0, 2], torch)
    y = (x * x).sum()
    y.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(y)
    assert not (x * 2).retains_grad
