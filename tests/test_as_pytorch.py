"""Programs that give in minigrad what they give in PyTorch, or are refused by both."""

import math

import numpy as np
import pytest

import minigrad

SAME = {
    "integers have no gradient": """
x = torch.tensor([1.7, 2.2], requires_grad=True)
(x * x.long() + x.bool() * x).sum().backward()
z = torch.tensor([1, 2])
z[0] = x[0]
found = x.grad, x.long().requires_grad, z.requires_grad, z
""",
    "integers are taken first beside index arrays": """
x, k = torch.arange(120.0).reshape(2, 3, 4, 5), torch.tensor([0, 1])
zero, mask = torch.tensor(0), torch.tensor([True, False, True])
y = torch.zeros(1, 2, 2)
y[0, :, k] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
found = [x[:, 0, :, k], x[0, :, [0, 1]], x[:, k, :, 0], x[zero, :, k], x[None, 0, :, k]]
found += [x[0, 1, k, k], x[..., k, 1], x[1, mask, 1:], y]
""",
    "gradients of integers beside index arrays": """
x = torch.randn(2, 3, 4, requires_grad=True)
x[1, :, torch.tensor([0, 0, 2])].sum().backward()
found = x.grad
""",
    "slices by tensors, and empty lists": """
m = torch.arange(12.0).reshape(3, 4)
found = m[: torch.tensor(2)], m[torch.tensor(1) :: 2], m[[]], m[:, []]
""",
    "ignored targets count for nothing": """
x = torch.tensor([[-math.inf, 1.0, 2.0]] * 2)
target = torch.tensor([1, -100])
found = [F.cross_entropy(x, target), F.nll_loss(x, target)]
found += [F.cross_entropy(x, target, reduction="none")]
x = torch.ones(2, 3, requires_grad=True)
loss = F.cross_entropy(x, torch.tensor([-100, -100]))
loss.backward()
found += [loss, x.grad]
""",
    "softmax without a dim takes that of the classes": """
x = torch.arange(6.0)
found = [F.softmax(x.reshape(shape)) for shape in [(6,), (2, 3), (1, 2, 3)]]
found += [F.log_softmax(torch.arange(6.0).reshape(1, 2, 3, 1))]
""",
    "flip copies": """
x = torch.arange(3.0)
y = x.flip(0)
y[0] = 99.0
z = torch.ones(2, requires_grad=True)
w = z.flip(0)
w += 1
w.sum().backward()
found = x, y, z.grad
""",
    "a result of conv2d, repeat or einsum may be written over": """
x = torch.ones(1, 1, 4, 4, requires_grad=True)
y = F.conv2d(x, torch.ones(2, 1, 3, 3))
y.relu_()
y.sum().backward()
z = torch.ones(2, 2, requires_grad=True)
repeated, product = z.repeat(2, 1), torch.einsum("ij,kj->ik", z, z)
repeated[0] = 0.0
product += 1
(repeated.sum() + product.sum()).backward()
found = x.grad, z.grad
""",
    "one place is assigned to another": """
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = torch.zeros(3)
h[0] = x[0]
for i in range(2):
    h[i + 1] = h[i] * 2 if i else h[i]
y = x * 1
y[0] = y[1]
(h.sum() + y.sum()).backward()
found = h, y, x.grad
""",
    "a write that failed was none": """
x = torch.ones(2, requires_grad=True)
w = x * 1
e = w.exp() * w
for wrong in (lambda: w.add_(torch.ones(3)), lambda: w.__setitem__(5, 1.0)):
    try:
        wrong()
    except (RuntimeError, IndexError):
        pass
e.sum().backward()
found = x.grad, str(w._version)
""",
    "what is written over itself is saved": """
x = torch.tensor([0.5, 1.0], requires_grad=True)
y, z, w = (x * 1).exp_(), (x * 1).sigmoid_(), x * 1
w += w
(y * z * w).sum().backward()
found = w, x.grad, str(w._version)
""",
    "axes of length 1 may lead in what is assigned": """
v = torch.ones(1, 3, requires_grad=True)
y = torch.zeros(2, 3)
y[0] = v
y[...] = y[None] * 2
y.sum().backward()
found = y, v.grad
""",
    "gradients with a graph have memory of their own": """
a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
((a + b) ** 2).sum().backward(create_graph=True)
total = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
x = torch.ones(2, requires_grad=True)
x.sum().backward(create_graph=True)
with torch.no_grad():
    x.grad.mul_(3)
found = a.grad, b.grad, total, x.grad
""",
    "a nan goes to all gradients that are clipped": """
a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
a.grad, b.grad = torch.tensor([math.nan, 1.0]), torch.ones(2)
torch.nn.utils.clip_grad_norm_([a, b], 1.0)
found = a.grad, b.grad
""",
    "where, the method": """
x = torch.tensor([2.0, -1.0], requires_grad=True)
y = x.where(x > 0, 0.0)
y.sum().backward()
z = x.detach()
found = y, x.grad, z.where(condition=torch.tensor([True, False]), other=z)
""",
    "a tensor is equal to nothing that is no number": """
x = torch.ones(2)
found = x == None, x != None, x == "a", x in [None, x], x == 1  # noqa
""",
    "a quotient may be written over": """
e = torch.tensor([1.0, 2.0], requires_grad=True)
p = e / e.sum()
p *= 2
(p * p).sum().backward()
found = p, e.grad
""",
    "norms of other orders at 0": """
x = torch.tensor([[0.0, 0.0], [3.0, 0.0], [3.0, -4.0]], requires_grad=True)
y = x.norm(3, dim=1).sum() + x.norm(0.5, dim=1).sum() + x[2].norm(-1)
y.backward()
found = y, x.grad
""",
    "operands of einsum with a length of 1": """
a, b = torch.ones(1, requires_grad=True), torch.arange(3.0, requires_grad=True)
m = torch.arange(6.0).reshape(2, 3).requires_grad_()
product = torch.einsum("ij,jk->ik", m, m[:1].T[:1])
(torch.einsum("i,i->", a, b) + product.sum()).backward()
found = a.grad, b.grad, m.grad
""",
    "several axes flipped": """
x = torch.arange(6.0).reshape(2, 3)
found = x.flip(0, 1), x.flip((0,)), torch.flip(x, dims=(1,)), torch.flip(x, [0, -1])
""",
    "hooks of a node are taken off": """
x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
handles = [y.grad_fn.register_hook(lambda given, got: (given[0] * 3,))]
handles += [y.grad_fn.register_hook(lambda given, got: (given[0] * 10,))]
handles[1].remove()
y.backward()
found = x.grad
""",
    "generators within no_grad": """
found = []
def told(*words):
    found.append([str(word) for word in (*words, torch.is_grad_enabled())])
@torch.no_grad()
def steps(n):
    told("begin")
    for i in range(n):
        try:
            told("got", (yield i))
        except KeyError:
            told("caught")
            yield 10
    return n
def outer():
    told("returned", (yield from steps(2)))
walk = outer()
told(next(walk))
told(walk.send("a"))
told(walk.throw(KeyError("b")))
told(list(walk))
with torch.no_grad():
    told(*torch.enable_grad()(steps)(1))
closed = steps(3)
told(next(closed))
closed.close()
told("end")
""",
    "what retains its gradient gets it once": """
x = torch.ones(2, requires_grad=True)
y = x * 2
y.retain_grad()
(y * 2).sum().backward(inputs=[y])
found = y.grad, x.grad is None
""",
    "dtypes": """
found = [torch.zeros(2, dtype=float).dtype, torch.zeros(2, dtype=None).dtype]
found += [F.mse_loss(torch.ones(2), torch.tensor([0, 1])).dtype]
found += [torch.ones(2).to(float).dtype, torch.eye(2, dtype=None).dtype]
""",
    "arguments by their names": """
x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 1.0])
found = [torch.exp(input=x), torch.add(input=x, other=y), torch.eq(input=x, other=y)]
found += [torch.maximum(input=x, other=y), torch.sum(input=x, axis=0)]
""",
    "functions that only NumPy has": """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
found = [np.allclose(x, x + 0), np.linalg.norm(x).item() > 5]
found += [np.vstack([x, x]).sum().item() == 20]
""",
    "empty ones": """
found = [*torch.zeros(0, 3).split(2), F.linear(torch.ones(2, 0, 3), torch.ones(4, 3))]
""",
    "images": """
x = torch.arange(32.0).reshape(1, 2, 4, 4)
torch.manual_seed(0)
layer = torch.nn.Conv2d(2, 3, 3, padding="same")
found = F.adaptive_avg_pool2d(x, (None, 2)), layer(x).shape
""",
}
REFUSED = """
torch.ones(3)[::-1]
torch.ones(3).masked_fill(torch.tensor([0, 2, 1]), 0.0)
torch.ones(2).masked_fill(torch.tensor([True, False]), torch.ones(2))
torch.ones(2, 3).index_select(0, torch.tensor([-1]))
torch.ones(2, 3).index_select(5, torch.tensor([0]))
torch.ones(2, 3).index_select(0, torch.tensor([[0]]))
torch.ones(2, 3).gather(0, torch.tensor([[-1]]))
torch.ones(2, 3).gather(0, torch.tensor([0]))
torch.ones(3).tril()
torch.einsum("ii", torch.ones(2, 3))
F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3, dtype=torch.float64))
F.binary_cross_entropy(torch.ones(2), torch.tensor([0, 1]))
np.allclose(torch.ones(3, requires_grad=True), 1)
hooked(lambda g: torch.ones(3))
hooked(lambda g: g.double())
hooked(lambda g: 5)
F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3, mask, is_causal=True)
F.adaptive_avg_pool2d(torch.ones(4, 4), 2)
"""
KINDS = RuntimeError, TypeError, ValueError, IndexError


def names(library):
    def hooked(hook):
        x = library.ones(2, requires_grad=True)
        x.register_hook(hook)
        x.sum().backward()

    found = {"torch": library, "F": library.nn.functional, "math": math, "np": np}
    return found | {"hooked": hooked, "mask": library.ones(2, 2) > 0}


def plain(value):
    """Return what was found as NumPy's arrays, dtypes by name."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if hasattr(value, "detach"):
        return np.array(value.detach().tolist())
    return value if isinstance(value, bool) else str(value).replace("torch.", "")


def equal(mine, theirs):
    if isinstance(mine, list):
        assert len(mine) == len(theirs)
        for pair in zip(mine, theirs):
            equal(*pair)
    elif isinstance(mine, np.ndarray):
        np.testing.assert_allclose(mine, theirs, 1e-5, 1e-6)
        assert mine.shape == theirs.shape
    else:
        assert mine == theirs


@pytest.mark.parametrize("program", SAME)
@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
def test_a_program_gives_what_it_gives_in_pytorch(program):
    torch = pytest.importorskip("torch")
    results = []
    for library in (minigrad, torch):
        space = names(library)
        exec(SAME[program], space)
        results.append(plain(space["found"]))
    equal(*results)


@pytest.mark.parametrize("expression", REFUSED.strip().splitlines())
def test_what_pytorch_refuses_is_refused(expression):
    torch = pytest.importorskip("torch")
    for library in (minigrad, torch):
        with pytest.raises(KINDS):
            eval(expression, names(library))
