"""What PyTorch refuses, minigrad refuses, and says what came and what to do."""

import numpy as np
import pytest

import minigrad

REFUSED = """
torch.ones(3) + torch.ones(4) | (3,)
torch.ones(2, 3) * torch.ones(3, 2) | non-singleton
torch.ones(2, 3) @ torch.ones(2, 3) | (2, 3)
torch.ones(3) @ torch.ones(4) | (4,)
torch.tensor(1.) @ torch.ones(1) | 1D
torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64) | dtype
torch.ones(2) + "a" | str
torch.exp(2.0) | Tensor
torch.exp([1.0]) | Tensor
torch.ones(6).reshape(4, 2) | 6
torch.ones(2, 3).T.view(6) | reshape
torch.ones(2, 3).sum(2) | 2
torch.ones(2, 3).sum(0, dim=1) | multiple values
torch.zeros(2, 3, size=(4,)) | twice
torch.ones(2, 3).prod((0, 1)) | one axis
torch.arange(0, 1, 0.5, dtype=torch.int64) | steps of 0
torch.ones(2, 3).sum(-3) | -3
torch.ones(2).mean(1) | 1
torch.ones(2, 3).transpose(0, 2) | 2
torch.ones(2, 3).permute(0) | axes
torch.ones(2, 3, 4).t() | 3
torch.ones(3).expand(4) | 4
torch.ones(3)[5] | 5
torch.ones(3)[torch.tensor([0, 3])] | 3
torch.ones(3)[torch.tensor([0.5])] | float
torch.ones(3)[0, 0] | indices
torch.ones(3)[torch.tensor([True, False])] | boolean
torch.cat([torch.ones(2, 3), torch.ones(2, 4)]) | (2, 3), (2, 4)
torch.cat([]) | non-empty
torch.cat([torch.ones(2, 3), torch.ones(2)], 1) | number of dimensions
torch.stack([torch.ones(2), torch.ones(3)]) | shape
torch.ones(2).fill_(torch.ones(1)) | copy_
torch.tensor(1.0).copy_(torch.ones(1)) | broadcast
torch.ones(3).copy_(torch.ones(1, 3)) | (1, 3)
torch.ones(5).split([2, 2]) | 5
torch.ones(3).gather(0, torch.tensor([0.])) | int64
torch.ones(3).gather(0, torch.tensor([5])) | 5
torch.tensor([1, 2]).mean() | int64
torch.tensor([1, 2], requires_grad=True) | floating
torch.tensor([[1, 2], [3]]) | length
torch.ones(2, requires_grad=True).numpy() | detach
torch.ones(2).backward() | requires_grad
(torch.ones(2, requires_grad=True) * 2).backward() | scalar
(torch.ones(2, requires_grad=True) * 2).backward(torch.ones(3)) | (3,)
torch.ones(2).item() | 2 elements
bool(torch.ones(2)) | ambiguous
len(torch.tensor(1.)) | 0-d
list(torch.tensor(1.)) | 0-d
torch.ones(2, requires_grad=True).add_(1) | leaf
torch.ones(2).add_(torch.ones(3)) | 3
torch.ones(1).add_(torch.ones(3)) | (1,)
torch.arange(2).add_(0.5) | cast
torch.ones(2).expand(2, 2).add_(1) | clone
torch.ones(3).clamp() | min
torch.autograd.grad(torch.ones(1, requires_grad=True), torch.nn.Linear(1, 1)) | Linear
torch.autograd.functional.jacobian(lambda x: 3.0, torch.ones(2)) | float
torch.autograd.functional.jacobian(lambda x: x, 3.0) | float
torch.autograd.functional.jvp(lambda x: x, torch.ones(3)) | v can
torch.autograd.backward([torch.ones(1, requires_grad=True)] * 2, [torch.ones(1)]) | 2
setattr(torch.ones(3, requires_grad=True), "data", torch.ones(3).long()) | int64
setattr(torch.ones(3), "data", np.ones(3)) | ndarray
torch.ones(3).norm("nuclear") | nuclear
torch.zeros(2).retain_grad() | requires_grad
torch.zeros(2).register_hook(print) | gradient
torch.einsum("ij,jk->ik", torch.ones(2, 3)) | operands
torch.einsum("ij", torch.ones(2)) | ij
F.linear(torch.ones(2, 3), torch.ones(4, 2)) | (4, 2)
F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)) | Kernel
F.max_pool2d(torch.ones(1, 1, 4, 4), 2, padding=2) | half
F.layer_norm(torch.ones(2, 3), (4,)) | 4
F.batch_norm(torch.ones(1, 3), None, None, training=True) | 1 value
F.embedding(torch.tensor([5]), torch.ones(3, 2)) | 5
F.dropout(torch.ones(2), 1.5) | 1.5
F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3])) | 3
F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1, 2])) | (3,)
F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), reduction="max") | max
F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3)) | (3,)
F.gelu(torch.ones(2), approximate="x") | tanh
torch.autograd.grad(torch.ones(1, requires_grad=True).sum(), torch.ones(1)) | grad
torch.from_numpy([1.0]) | ndarray
F.mse_loss(torch.ones(2), torch.ones(2), reduction="avg") | avg
F.max_pool2d(torch.ones(5), 2) | (5,)
F.linear(torch.ones(2, 3, dtype=torch.float64), torch.ones(4, 3)) | dtype
torch.einsum(torch.ones(2, 2), "ij->ji") | Tensor
torch.tensor([1.0, float("nan")], dtype=torch.int64) | nan
torch.tensor(1e30, dtype=torch.int64) | 1e+30
torch.tensor([True]) ** torch.tensor([True]) | bools
(torch.ones(2, 2) > 0) @ (torch.ones(2, 2) > 0) | bools
torch.ones(2, 3).sum(keepdim=True) | keepdim
torch.ones(2, 3).mean(keepdim=True) | keepdim
torch.ones(2, 3).prod(keepdim=True) | keepdim
torch.ones(2, 3).max(keepdim=True) | keepdim
torch.maximum(torch.ones(2), 2.0) | float
torch.ones(2).minimum(2) | int
torch.max(torch.ones(2), 2.0) | float
torch.full((2,), 1e40) | 1e+40
torch.ones(2).div(2, rounding_mode="up") | 'floor'
torch.einsum("i,i->", torch.ones(2), torch.ones(2).double()) | float64
torch.nn.Linear(3.0, 2) | 3.0
torch.ones(4).reshape(4 / 2, 2) | //
torch.tensor([1.0], dtype=3) | float32
torch.nn.Linear(1, 1).to("gpu") | 'gpu'
torch.nn.Sequential(F.relu) | nn.ReLU()
torch.ones(4).__setitem__(slice(2), [1.0, 2.0]) | list
torch.tensor([True, False]).argmax() | bools
"""
REFUSED = [line.rsplit("|", 1) for line in REFUSED.strip().splitlines()]
KINDS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


@pytest.mark.parametrize(("expression", "word"), REFUSED)
def test_refused_with_a_message_that_helps(expression, word):
    with pytest.raises(KINDS) as caught:
        eval(expression, {"torch": minigrad, "F": minigrad.nn.functional, "np": np})
    assert word.strip() in str(caught.value)


@pytest.mark.parametrize(("expression", "word"), REFUSED)
def test_pytorch_refuses_it_too(expression, word):
    torch = pytest.importorskip("torch")
    with pytest.raises(KINDS):
        eval(expression, {"torch": torch, "F": torch.nn.functional, "np": np})


WANTS_TENSORS = """
torch.zeros_like(x)
torch.randn_like(x)
torch.full_like(x, 1.0)
torch.reshape(x, (2,))
torch.flatten(x)
torch.transpose(x, 0, 1)
torch.t(x)
torch.broadcast_to(x, (2, 2))
torch.flip(x, (0,))
torch.masked_fill(x, torch.tensor(True), 0.0)
torch.cat([ones, x])
torch.stack([x])
torch.split(x, 1)
torch.chunk(x, 2)
torch.unbind(x)
torch.clamp(x, 0, 1)
torch.max(x)
torch.maximum(ones, x)
torch.matmul(ones, x)
torch.outer(x, ones)
torch.outer(ones, x)
torch.nn.Flatten()(x)
"""
OTHERS = {"list": [1.0, 2.0], "ndarray": np.ones((1, 2), np.float32), "NoneType": None}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("expression", WANTS_TENSORS.strip().splitlines())
def test_a_list_or_an_array_is_no_tensor_and_it_says_what_is(expression, kind):
    names = {"torch": minigrad, "F": minigrad.nn.functional, "ones": minigrad.ones(2)}
    with pytest.raises(TypeError, match=rf"not {kind}; .*minigrad\.tensor\(\.\.\.\)"):
        eval(expression, names | {"x": OTHERS[kind]})
