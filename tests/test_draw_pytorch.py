"""PyTorch's own graphs in our pictures: the same program, the same picture."""

import subprocess
import sys
import warnings

import pytest

import minigrad
from minigrad.drawing.describe import identity
from minigrad.drawing.pictures import draw, draw_nodes

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import minigrad.drawing.pytorch  # noqa: E402


def lines(drawing):
    return repr(drawing).splitlines()


def leaf(numbers, lib=torch):
    return lib.tensor(numbers, dtype=lib.float32, requires_grad=True)


# Programs that both libraries draw alike; each is given the library.


def affine(lib):
    x, w, b = lib.tensor([1.0, 2, 3]), leaf(0.5, lib), leaf([0.1, 0.2, 0.3], lib)
    y = w * x + b
    (y * y).sum().backward(retain_graph=True)
    return draw(y)


def reuse(lib):
    x = leaf([1.0, 2, 3], lib)
    y = x + x
    return draw(y * y.exp())


def numbers(lib):
    x = leaf(3.0, lib)
    y = 2 * x + 2 * x + 3 * x**3 - 1 / x
    return draw(y)


def tutorial(lib):
    x, y = lib.ones(5), lib.zeros(3)
    w, b = lib.ones(5, 3).requires_grad_(), leaf([0.0, 0, 0], lib)
    z = lib.matmul(x, w) + b
    loss = lib.nn.functional.binary_cross_entropy_with_logits(z, y)
    loss.backward()
    return draw(loss)


def kept(lib):
    x = leaf(3.0, lib)
    h = x * 2
    h.retain_grad()
    h.exp().backward()
    return draw(h)


def in_place(lib):
    x, w = lib.ones(3, 4, requires_grad=True), leaf([1.0, 2, 3, 4], lib)
    y = 2 * x
    y[1] = w
    return draw(y.sum())


def parts(lib):
    x = leaf([1.0, 2, 3], lib)
    a, b, _ = x.unbind()
    return draw(a * b + a)


def only_a_leaf(lib):
    x = leaf([1.0, 2], lib)
    return draw(x)


def only_a_constant(lib):
    x = lib.tensor(3.0)
    return draw(x)


def of_matrices(lib):
    x, w, v = lib.ones(4, 3), lib.ones(3, 3).requires_grad_(), leaf([1.0, 2, 3], lib)
    y = (x @ w).relu() @ v
    loss = lib.nn.functional.mse_loss(y, lib.zeros(4))
    return draw(loss)


ALIKE = [affine, reuse, numbers, tutorial, kept, in_place, parts]
ALIKE += [only_a_leaf, only_a_constant, of_matrices]


@pytest.mark.parametrize("program", ALIKE, ids=lambda program: program.__name__)
def test_both_libraries_give_the_same_picture(program):
    ours, theirs = program(minigrad), program(torch)
    assert repr(ours) == repr(theirs)
    assert ours.source == theirs.source


def test_what_both_draw_is_what_it_should_be():
    for library in torch, minigrad:
        assert lines(affine(library)) == [
            "w = 0.5, grad 16.8",
            "x = [1, 2, 3], constant",
            "#1 (3,) = Mul(w, x)",
            "b = [0.1, 0.2, 0.3], grad [1.2, 2.4, 3.6]",
            "y = Add(#1, b) = [0.6, 1.2, 1.8]",
        ]


# PyTorch's own


def test_a_layer_shows_the_nodes_that_pytorch_runs():
    model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.zero_()
    x = torch.ones(4, 3)
    y = model(x)
    assert lines(draw(y)) == [
        "model.bias = [0, 0]",
        "x (4, 3), constant",
        "model.weight (2, 3)",
        "#1 (3, 2) = T(model.weight)",
        "y (4, 2) = Addmm(model.bias, x, #1)",
    ]


def test_an_argument_that_was_left_out_is_no_constant():
    images, w = torch.ones(1, 1, 5, 5), torch.ones(1, 1, 3, 3, requires_grad=True)
    y = torch.nn.functional.conv2d(images, w)
    assert lines(draw(y))[-1] == "y (1, 1, 3, 3) = Convolution(images, w)"


def test_a_mask_is_not_taken_for_an_argument():
    x, mask = leaf([1.0, 2]), torch.tensor([True, False])
    y = torch.where(mask, x, torch.zeros(2))
    assert lines(draw(y))[-1] == "y = Where(x, constant) = [1, 0]"


def test_what_is_freed_or_written_over_is_a_constant_without_a_number():
    x, k = leaf([1.0, 2]), torch.tensor([3.0, 4])
    y = k * x
    k.zero_()
    assert lines(draw(y))[-1] == "y = Mul(constant, x) = [3, 8]"
    y = x * 2
    y.sum().backward()
    assert lines(draw(y))[-1] == "y = Mul(x, constant) = [2, 4]"


def test_a_function_of_ones_own():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x**3

        @staticmethod
        def backward(ctx, v):
            return v

    x = leaf(2.0)
    assert lines(draw(Cube.apply(x)))[-1] == "#1 = Cube(x) = 8"


def test_a_node_can_be_drawn_without_its_result():
    x = leaf([1.0, 2])
    assert lines(draw((x * x).grad_fn)) == ["x = [1, 2]", "#1 (2,) = Mul(x, x)"]
    twice = "AccumulateGrad of x, AccumulateGrad of x"
    assert lines(draw_nodes(x * x)) == [f"MulBackward0 -> {twice}"]


def test_what_backward_keeps_is_told_as_ours():
    def kept(lib):
        x = lib.ones(30, 40)
        w = lib.ones(40, 5, requires_grad=True)
        loss = ((x @ w).tanh() * w[:1, :1]).sum()
        before = draw(loss, saved=True, loss=loss)
        loss.backward()
        return [lines(before), lines(draw(loss, saved=True, loss=loss))]

    (ours, after), (theirs, gone) = kept(minigrad), kept(torch)
    assert theirs[-1] == ours[-1] and "self 4.8 kB" in " ".join(theirs)
    assert gone[-1] == after[-1] == "kept for backward: 0 B"
    assert sum("keeps nothing any more" in line for line in gone) >= 3
    with pytest.raises(TypeError, match="a recorded Tensor keeps"):
        draw(torch.ones(2), saved=True)


def test_a_result_is_known_though_python_forgets_its_node():
    x = leaf([1.0, 2])
    y = x * x
    assert identity(y) is identity(y)
    assert all(identity(y) is not identity(x * x) for _ in range(20))
    assert identity(x) is identity(y.grad_fn.next_functions[0][0])


def test_no_warning_and_no_grad_that_was_not_there():
    x = leaf([1.0, 2])
    y = (x * x).sum()
    y.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(y)
    assert not (x * 2).retains_grad


@pytest.mark.parametrize(
    "strange",
    [
        torch.ones(2, device="meta"),
        torch.ones(2, 2).to_sparse(),
        torch.tensor([1 + 2j]),
        torch.tensor([], requires_grad=True),
        torch.tensor([1.0], dtype=torch.bfloat16),
        torch.nn.Linear(1, 1),
    ],
    ids=["meta", "sparse", "complex", "empty", "bfloat16", "module"],
)
def test_other_variables_do_no_harm(strange):
    x = leaf(2.0)
    y = x * x
    assert lines(draw(y)) == ["x = 2", "y = Mul(x, x) = 4"]


def test_without_the_adapter_nothing_of_pytorch_is_drawn():
    code = "import torch; from minigrad.draw import draw; draw(torch.ones(2))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "draw shows a Value or a Tensor, not <class 'torch.Tensor'>" in run.stderr
