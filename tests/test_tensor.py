"""A Tensor is made, printed, converted and promoted as PyTorch's is."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import minigrad
from minigrad import Tensor

MAKERS = """
    tensor([1, 2, 3])|tensor([1., 2.5])|tensor([[True, False]])|tensor(3)|tensor(2.5)
    zeros(2, 3)|zeros((2, 3))|zeros(())|ones(2, dtype=torch.int64)|full((2,), 7)
    full((2, 2), 0.5)|arange(5)|arange(1, 2, 0.25)|arange(5, 1, -2)|linspace(0, 1, 5)
    eye(3)|eye(2, 3)|zeros_like(torch.ones(2))|ones_like(torch.zeros(2, 2))
    full_like(torch.ones(3), 2)|zeros(0)|zeros(2, 0)|tensor([])|tensor([0.1, 100])
    tensor([1e-8, 1.0])|tensor([1e5, 1.5])|tensor([1.0, float("nan"), float("inf")])
    tensor([-1.5, 2.0])|tensor([1e9, 1.0])|tensor([[1.0, 2.0], [3.5, -4.0]])
    arange(1001)|linspace(0, 1, 1200).reshape(30, 40)|ones(2, 2, 2)
    arange(40)|tensor([123456, -5])|tensor(1e-5)|tensor(-0.0)
    tensor([1.0, 2.0], dtype=torch.float64)|arange(12.0).view(3, 4)
    ones(3, requires_grad=True)|ones(2, 3, requires_grad=True) * 2
    tensor([0.5], requires_grad=True).exp()|tensor(float("nan"))|tensor([1e-3, 999.0])
"""
MAKERS = [maker.strip() for line in MAKERS.split("\n") for maker in line.split("|")]
MAKERS = [maker for maker in MAKERS if maker]


@pytest.mark.parametrize("maker", MAKERS)
def test_a_tensor_is_made_and_printed_as_in_pytorch(maker):
    torch = pytest.importorskip("torch")
    libraries = torch, minigrad
    expected, made = (eval(f"torch.{maker}", {"torch": lib}) for lib in libraries)
    np.testing.assert_allclose(made.tolist(), expected.tolist(), 1e-6)
    assert str(made.dtype) == str(expected.dtype).removeprefix("torch.")
    assert repr(made) == repr(expected).replace("dtype=torch", "dtype=minigrad")


def test_random_numbers_repeat_after_manual_seed():
    for make in (
        lambda: minigrad.rand(3),
        lambda: minigrad.randn(2, 2),
        lambda: minigrad.randint(0, 100, (5,)),
        lambda: minigrad.randperm(6),
        lambda: minigrad.randn_like(minigrad.zeros(2)),
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


@pytest.mark.parametrize("pair", list(itertools.product(range(8), repeat=2)))
def test_dtypes_promote_as_in_pytorch(pair):
    torch = pytest.importorskip("torch")

    def kinds(lib):
        names = ["bool", "int64", "float32", "float64"]
        flat = [lib.ones(2).to(getattr(lib, name)) for name in names]
        return flat + [lib.ones(()).to(getattr(lib, name)) for name in names]

    results = []
    for lib in (torch, minigrad):
        x, y = (kinds(lib)[i] for i in pair)
        both = [x + y, x * y, x / y, lib.where(x > 0, x, y)]
        results.append([str(z.dtype).removeprefix("torch.") for z in both])
    assert results[0] == results[1]


@pytest.mark.parametrize("number", [True, 2, 2.5])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
def test_python_numbers_are_weak(number, dtype):
    torch = pytest.importorskip("torch")
    results = []
    for lib in (torch, minigrad):
        for x in (lib.ones(2), lib.ones(())):
            x = x.to(getattr(lib, dtype))
            both = [x + number, number * x, x / number, number / x, x > number]
            results.append([str(z.dtype).removeprefix("torch.") for z in both])
    assert results[:2] == results[2:]


def test_a_zero_keeps_its_sign_and_a_remembered_number_its_type():
    x = minigrad.ones(1)
    assert (x / 0.0).item() == np.inf and (x / -0.0).item() == -np.inf
    assert (x * 2).dtype == minigrad.float32
    assert (minigrad.arange(2) * 2).dtype == minigrad.int64
    assert (minigrad.arange(2) * 2.0).dtype == minigrad.float32
    assert (minigrad.arange(2) * True).dtype == minigrad.int64


def test_numbers_leave_as_pythons_and_as_numpys():
    x = minigrad.tensor([[1.0, 2.0]])
    assert x.tolist() == [[1.0, 2.0]] and x[0, 1].item() == 2.0
    assert float(x[0, 0]) == 1.0 and int(x[0, 1]) == 2 and bool(x[0, 0])
    assert [10, 20, 30][minigrad.tensor(2)] == 30
    assert len(x) == 1 and [row.tolist() for row in x] == [[1.0, 2.0]]
    assert f"{x[0, 0]:.2f}" == "1.00" and 2.0 in x
    assert x.shape == (1, 2) and x.size(1) == 2 and x.numel() == 2 and x.dim() == 2


def test_numpy_and_minigrad_share_memory():
    array = np.zeros(3, np.float32)
    x = minigrad.from_numpy(array)
    array[0] = 5
    assert x[0].item() == 5
    x[1] = 7
    assert array[1] == 7 and np.shares_memory(x.numpy(), array)
    assert not np.shares_memory(minigrad.tensor(array).numpy(), array)
    assert np.asarray(x) is x.numpy()


def test_numpys_functions_take_tensors_and_record():
    x = minigrad.tensor([0.5, 1.0], requires_grad=True)
    y = np.exp(x) * np.float64(2) + np.array([1.0, 2.0], np.float32)
    assert isinstance(y, Tensor) and y.dtype == minigrad.float32
    np.sum(np.where(y.detach().numpy() > 3, y, 0)).backward()
    assert x.grad.tolist() == pytest.approx((2 * np.exp([0.5, 1.0])).tolist())
    with pytest.raises(RuntimeError, match="requires grad"):
        np.fft.fft(x)
    assert np.fft.fft(x.detach()).shape == (2,)


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


def test_copies_keep_what_belongs_to_a_leaf():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.grad.tolist() == [2, 4] and twin is not x
    twin.grad.zero_()
    assert x.grad.tolist() == [2, 4]
    thawed = pickle.loads(pickle.dumps(x))
    assert thawed.requires_grad and thawed.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_a_view_shares_memory_and_a_copy_does_not():
    x = minigrad.arange(6.0).reshape(2, 3)
    views = [x[0], x[0, 1], x[:, 1:], x.T, x.view(6), x.unsqueeze(0), x.detach()]
    assert all(np.shares_memory(v.numpy(), x.numpy()) for v in views)
    copies = [x.clone(), x + 0, x[[0, 1]], x[x > 1], x.T.reshape(6)]
    assert not any(np.shares_memory(c.numpy(), x.numpy()) for c in copies)


@pytest.mark.parametrize(
    "view",
    ["x", "x.t()", "x[1:]", "x[:, ::2]", "x[0]", "x.expand(2, 3, 4)", "x[0, 0]"],
)
def test_a_tensor_says_how_it_lies_in_memory(view):
    torch = pytest.importorskip("torch")
    mine, theirs = (eval(view, {"x": lib.ones(3, 4)}) for lib in (minigrad, torch))
    assert mine.stride() == theirs.stride()
    assert mine.is_contiguous() is theirs.is_contiguous()


def test_a_view_begins_where_its_base_does():
    x = minigrad.ones(3, 4)
    assert x.t().data_ptr() == x.data_ptr() == x[1:].data_ptr() - 4 * x.stride(0)
    assert x.clone().data_ptr() != x.data_ptr()


def test_only_matrices_have_a_matrix_transpose():
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        _ = minigrad.ones(3).mT
    assert minigrad.tensor(1.0).mT.shape == ()


def test_writing_through_an_index():
    x = minigrad.zeros(3, 3)
    x[0] = 1
    x[:, 1] = minigrad.tensor([5.0, 6.0, 7.0])
    x[x > 5] = -1
    x[minigrad.tensor([2, 2]), 0] = 9
    x[1, 2] += 4
    assert x.tolist() == [[1, 5, 1], [0, -1, 4], [9, -1, 0]]


def test_methods_that_end_in_an_underscore_write_over_the_tensor():
    x = minigrad.tensor([1.0, 4.0])
    same = x
    x.add_(1, alpha=2).mul_(2).sub_(2).div_(2)
    assert same.tolist() == [2.0, 5.0]
    x += 1
    x *= 2
    x -= 2
    x /= 2
    x **= 2
    assert x is same and same.tolist() == [4.0, 25.0]
    assert x.clamp_(max=9).tolist() == [4.0, 9.0]
    assert x.fill_(3).tolist() == [3.0, 3.0] and x.zero_().tolist() == [0, 0]
    assert x.copy_(minigrad.tensor([7])).tolist() == [7.0, 7.0]
    assert x.masked_fill_(x > 0, 0).tolist() == [0, 0]


def test_importing_minigrad_is_cheap_and_draws_nothing_in():
    code = "import sys, minigrad; minigrad.exp; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    heavy = {"graphviz", "matplotlib", "sklearn", "safetensors", "tqdm", "IPython"}
    assert "minigrad.nn" in loaded and not heavy & loaded, done.stderr
    assert not [name for name in loaded if name.startswith("minigrad.draw")]


def test_a_number_that_was_met_as_a_float_stays_an_int_beside_ints():
    i = minigrad.tensor([3])
    assert (i * 2.0).dtype == minigrad.float32
    assert (i * 2).dtype == minigrad.int64


@pytest.mark.parametrize("arguments", [([1.0, 2.0],), (2, 3), (3,), ((2, 3),)])
def test_a_tensor_is_made_of_an_array_and_numbers_are_for_tensor(arguments):
    with pytest.raises(TypeError, match=r"write minigrad.tensor\(\[1.0, 2.0\]\)"):
        Tensor(*arguments)


def test_random_numbers_stay_below_1(monkeypatch):
    class Highest:
        def random(self, size):
            return np.full(size, np.nextafter(1, 0))

    monkeypatch.setattr(minigrad.graph.creation, "generator", Highest)
    for dtype in (minigrad.float32, minigrad.float64):
        assert minigrad.rand(2, dtype=dtype).tolist() < [1.0, 1.0]


def test_where_takes_an_array_beside_a_tensor():
    condition, x = minigrad.tensor([True, False]), minigrad.zeros(2)
    for other in (np.full(2, 3, np.float32), np.float32(3), 3):
        assert minigrad.where(condition, x, other).tolist() == [0, 3]
    with pytest.raises(RuntimeError, match="without overflow"):
        minigrad.where(condition, x, 1e40)


def test_random_draws_integers_from_one_number_up_to_another():
    minigrad.manual_seed(0)
    x = minigrad.zeros(1000).random_(2, 5)
    assert x.dtype == minigrad.float32 and set(x.tolist()) == {2, 3, 4}
    assert set(minigrad.zeros(1000).long().random_(2).tolist()) == {0, 1}


def test_the_size_of_random_integers_may_come_by_name():
    drawn = minigrad.randint(5, size=(300,))
    assert drawn.shape == (300,) and set(drawn.tolist()) == {0, 1, 2, 3, 4}


def test_the_slope_of_a_variance_far_from_0_keeps_its_digits():
    minigrad.manual_seed(0)
    exact = (1000 + minigrad.randn(200_000, 3)).double().requires_grad_()
    short = exact.detach().float().requires_grad_()
    for x in (exact, short):
        x.var(0).sum().backward()
    away = np.abs(short.grad.array - exact.grad.array).max()
    assert away < 1e-4 * np.abs(exact.grad.array).max()
