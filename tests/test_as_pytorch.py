"""Programs that give in minigrad what they give in PyTorch, or are refused by both."""

import functools
import math

import numpy as np
import pytest

import minigrad

SAME = {
    "quotients that are rounded": """
a, b = torch.tensor([7, -7, 6, -6, 0]), torch.tensor([2, 2, -3, 4, 5])
x, y = torch.tensor([7.0, -7.0, 1.0, -0.5]), torch.tensor([2.0, 2.0, 0.1, 0.0])
found = [torch.div(7, y), x.div(y, rounding_mode=None)]
for mode in ["floor", "trunc"]:
    found += [torch.div(a, b, rounding_mode=mode), a.div(2.5, rounding_mode=mode)]
    found += [x.div(y, rounding_mode=mode), x.clone().div_(2, rounding_mode=mode)]
    z = torch.tensor([7.5, 2.0], requires_grad=True)
    torch.div(z, z.detach() + 1, rounding_mode=mode).sum().backward()
    found += [z.grad]
""",
    "numbers rounded to some decimals": """
x = torch.tensor([1.2345, -2.5, 15.0, 25.0, math.inf, math.nan], requires_grad=True)
found = [x.round(decimals=d) for d in (0, 2, -1)]
found += [x.detach().clone().round_(decimals=1), torch.tensor([1, 2]).round()]
torch.round(x, decimals=1).sum().backward()
found += [x.grad]
""",
    "a number has an axis 0 for index_select, gather and where, too": """
x = torch.tensor(5.0, requires_grad=True)
zero = torch.tensor([0])
found = [torch.index_select(x, 0, zero), torch.index_select(x, -1, zero[0])]
found += [torch.gather(x, 0, zero), torch.gather(x, 0, zero[0])]
found += [torch.gather(torch.tensor([5.0, 6.0]), 0, torch.tensor(1))]
sum(y.sum() for y in found[:4]).backward()
found += [x.grad, torch.where(x > 1), torch.where(x < 1)]
""",
    "all and any of no axis": """
x = torch.tensor([[1, 0], [2, 3]])
found = [x.all(dim=()), x.bool().all(dim=[])]
found += [x.any(dim=()), x.any(dim=(), keepdim=True)]
""",
    "einsum promotes where it adds no products": """
x, y = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64)
found = [torch.einsum("ij,jk->ijk", x, y).dtype, torch.einsum("ij,kl->", x, y).dtype]
found += [torch.einsum("ij,ij->ij", x, x.long()).dtype]
""",
    "shapes taken from another tensor": """
x = torch.arange(2.0)
found = [x.expand_as(torch.ones(3, 2)), x.view_as(torch.ones(2, 1))]
""",
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
    "a write to a view tells its base": """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 1
y[0] += 1
y[:, 1] *= 2
row, turned = y[1], y.T
turned[0].mul_(3)
row.view(2, 1).add_(x[0].view(2, 1))
y.flatten()[3:].exp_()
found = [y, row, turned, str(turned.requires_grad), str(y._version)]
((y**2).sum() + row.sum() * 5 + (turned * y).sum()).backward()
found += [x.grad, str(row._base is y), str(y._base), row.grad_fn is not None]
""",
    "a write to a part of a constant": """
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
c, before = torch.zeros(3), []
early = c[1:]
for i in range(3):
    c[i] += x[i] * 2
    before += [c.sum()]
found = [c, early, str(c.requires_grad), str(early.requires_grad)]
(sum(before) + (early * c[1:]).sum()).backward()
found += [x.grad]
""",
    "what was used before a write to a view keeps its own way back": """
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
first = y[0]
sooner = first * 5 + y.sum()
first.mul_(10)
later = first * 5 + y.sum()
(g,) = torch.autograd.grad(sooner, x, retain_graph=True)
later.backward()
found = sooner, later, g, x.grad
""",
    "a number is a view of itself": """
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
y.view(()).mul_(y.detach().clone())
z = x * 1
z[None][0] = x * 4
(y + z).backward(create_graph=True)
found = y, z, x.grad
""",
    "a retained gradient is that of the newest numbers": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.retain_grad()
y[0].mul_(4)
(y * y).sum().backward()
found = y.grad, x.grad
""",
    "one number is written over by a mask": """
x = torch.tensor(1.5, requires_grad=True)
z, y = x.clone(), x.clone()
z[torch.tensor(True)] = x * 3
y[...] = 2.0
(z * z + y).backward()
found = z, y, x.grad
""",
    "a hook on a node, and a second walk through the first": """
x, seen = torch.tensor([1.0, 2.0], requires_grad=True), []
for y in (x.exp(), x.softmax(0), F.layer_norm(x, (2,))):
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0]))
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
found = *seen, x.grad
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
    "a clamp by a number and by a tensor of one": """
x = torch.tensor([-2.0, 3.0, 9.0], requires_grad=True)
y = x.clamp(0, torch.tensor(5))
y.sum().backward()
found = y, x.grad, torch.clamp(torch.tensor([1, 9]), torch.tensor(2.5), 4)
""",
    "an index with several ellipses": """
x = torch.arange(6).reshape(1, 2, 3)
found = x[..., ...], x[..., 0, ...], x[0, ..., 1:, ...], x[..., [0, 2], ...]
""",
    "gradients of what a module yields": """
model = torch.nn.Linear(2, 1)
with torch.no_grad():
    model.weight.fill_(2.0)
y = (model(torch.ones(3, 2)) ** 2).sum()
first = torch.autograd.grad(y, model.parameters(), create_graph=True, only_inputs=True)
total = sum((g**2).sum() for g in first)
torch.autograd.backward(iter([total]))
by_name = dict(model.named_parameters()).values()
found = [len(first), *torch.autograd.grad(model(torch.ones(1, 2)).sum(), by_name)]
""",
    "a Function whose context is set up beside its forward": """
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(a, factor):
        return a * factor, a + 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, ctx.factor = inputs
        ctx.save_for_backward(a, output[0])

    @staticmethod
    def backward(ctx, g, h):
        a, y = ctx.saved_tensors
        return g * ctx.factor * a / a + h * (y / y), None
a = torch.tensor([1.0, 2.0], requires_grad=True)
y, z = Scaled.apply(a, 3.0)
(y * z).sum().backward()
found = y, z, a.grad, y.grad_fn.name(), Scaled.apply(a.detach(), 2.0)
""",
    "a custom backward may answer in another dtype": """
class Doubled(torch.autograd.Function):
    forward = staticmethod(lambda ctx, a: 2 * a)
    backward = staticmethod(lambda ctx, g: (2 * g).double())
a, m = torch.ones(2, requires_grad=True), torch.eye(2).requires_grad_()
found = [*torch.autograd.grad(Doubled.apply(a).sum(), a)]
found += torch.autograd.grad(Doubled.apply(a @ m).sum(), m, create_graph=True)
""",
    "lists of tensors in lists": """
one, wide = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0).double()
found = torch.tensor([[one, 2.0]]), torch.tensor([wide]), torch.tensor([[wide], [3.0]])
""",
    "a gradient that is a view is set to zero": """
a, flat = torch.ones(3, requires_grad=True), torch.ones(6)
a.grad = flat[:3]
torch.optim.SGD([a], lr=0.1).zero_grad(set_to_none=False)
found = a.grad, flat
""",
    "sums of bytes": """
x = torch.from_numpy(np.full((2, 2), 200, "uint8"))
found = x.sum() - 900, x.sum(0), x.sum() + torch.tensor([1])
""",
    "norms by name": """
x = torch.tensor([3.0, -4.0], requires_grad=True)
x.grad = torch.tensor([3.0, -4.0])
found = x.norm("fro"), torch.nn.utils.clip_grad_norm_([x], 2.0), x.grad
""",
    "a result among the inputs keeps its gradient, of later walks, too": """
x = torch.ones(2, requires_grad=True)
y = x * 2
z = y * 3
z.sum().backward(inputs=[y], retain_graph=True)
found = [y.grad.clone(), y.retains_grad, x.grad]
y.sum().backward()
found += [y.grad, x.grad]
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
found = [*torch.zeros(0, 3).chunk(3), *torch.zeros(0, 3).split(2)]
found += [F.linear(torch.ones(2, 0, 3), torch.ones(4, 3))]
""",
    "many equal numbers, added up": """
x = torch.full((60000, 2), 0.1)
found = [x.sum(0), x.mean(0), x.var(0), x.std(0), x.cumsum(0)[-1], x.T.sum(1)]
x = torch.full((300, 200, 2), 0.1)
found += [x.sum((0, 1)), x.mean((0, 1))]
x, b = torch.full((60000, 3), 0.1), torch.zeros(3, requires_grad=True)
found += torch.autograd.grad((x * (b + torch.ones(60000, 3))).sum(), b)
w, c = torch.ones(2, 3), torch.zeros(2, requires_grad=True)
found += torch.autograd.grad((F.linear(x, w, c) * 0.1).sum(), c)
found += [F.softmax(torch.full((2, 60000), 0.1), 1)[:, :2]]
found += [F.layer_norm(torch.arange(60000.0).reshape(1, -1) / 1e4, (60000,))[:, :3]]
""",
    "norms of nan, of zeros, of what is infinite or nearly nothing": """
found, nan, inf = [], math.nan, math.inf
for numbers in [nan, 1.0], [0.0, 0.0], [inf, -2.0], [3e38, -1e38], [1e-45, 0.0]:
    for p in [0, 0.5, 1, 1.5, 2, 3, -1, inf, -inf]:
        x = torch.tensor(numbers, requires_grad=True)
        y = torch.linalg.vector_norm(x, p)
        g = torch.autograd.grad(y, x, allow_unused=True)[0]
        found += [y, torch.zeros(2) if g is None else g]
        x = torch.tensor([numbers, [1.0, -1.0]], requires_grad=True)
        y = x.norm(p, dim=1, keepdim=True)
        y.backward(torch.tensor([[inf], [2.0]]))
        found += [y, torch.zeros(2, 2) if x.grad is None else x.grad]
""",
    "an infinite gradient finds its place alone": """
x = torch.tensor([1.0, 4.0, 2.0, 4.0], requires_grad=True)
g = torch.tensor(math.inf)
found = torch.autograd.grad([x.max(), x.min()], x, [g, -g])
""",
    "quotients of very large numbers": """
x, y = torch.tensor([1e20, 1e-20, 3.0]), torch.tensor([1e20, 1e-20, 2.0])
found = []
for g in [torch.full((3,), 1e20), torch.zeros(3), torch.ones(3)]:
    for f in [lambda b: x / b, torch.reciprocal, torch.rsqrt]:
        b = y.clone().requires_grad_()
        f(b).backward(g)
        found += [b.grad]
""",
    "a leaf among the roots, with a hook": """
order = []
y = torch.tensor(2.0, requires_grad=True)
z, p = y * 3, torch.tensor(5.0, requires_grad=True)
for name, tensor in {"y": y, "z": z, "p": p}.items():
    tensor.register_hook(lambda g, name=name: order.append(name))
torch.autograd.backward([z, p])
p.backward(inputs=[y])
found = [order, y.grad, p.grad]
""",
    "a loss whose targets are changed before backward": """
x, classes = torch.ones(2, 3, requires_grad=True), torch.tensor([0, 1])
loss = F.cross_entropy(x, classes)
classes.add_(1)
try:
    loss.backward()
    found = ["went through"]
except RuntimeError:
    found = ["refused"]
""",
    "a momentum is remembered only where there is one": """
w = torch.ones(2, requires_grad=True)
w.grad, found = torch.ones(2), []
for momentum in 0, 0.9:
    sgd = torch.optim.SGD([w], lr=0.1, momentum=momentum)
    sgd.step()
    found += [list(kept) for kept in sgd.state_dict()["state"].values()] + [w.clone()]
""",
    "hooks on leaves come as soon as their gradient is whole": """
order, w1 = [], torch.tensor(2.0, requires_grad=True)
h = w1 * 3
w2 = torch.tensor(5.0, requires_grad=True)
z = h * w2
for name, tensor in {"w1": w1, "h": h, "w2": w2, "z": z}.items():
    tensor.register_hook(lambda g, name=name: order.append(name))
z.backward()
found = [order, w1.grad, w2.grad]
""",
    "a Function that returns bools for a stretched argument": """
class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b
    @staticmethod
    def backward(ctx, g):
        return g > 0, g
a = torch.zeros(2, requires_grad=True)
Sign.apply(a, torch.ones(3, 2)).sum().backward()
found = [a.grad]
""",
    "two axes swapped": """
x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
y = torch.swapaxes(x, axis0=0, axis1=-1)
(g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
found = [y, x.swapaxes(1, 2), g, *torch.autograd.grad(g.sum(), x)]
""",
    "bools and integers in functions of floats": """
b, k = torch.tensor([True, False, True]), torch.tensor([-3, 0, 7])
functions = torch.exp, torch.sin, torch.tanh, torch.sqrt, torch.square
found = [[f(x), f(x).dtype] for x in (b, k) for f in functions]
found += [b * b, (b * b).dtype, k.round(), k.round().dtype, k.floor().dtype]
found += [k.clamp(0, 5).dtype]
found += [k.clamp(0.5, 1.5), k.clamp(max=1.5).dtype, k.clamp(min=1)]
found += [k.logsumexp(0), k.logsumexp(0).dtype]
""",
    "axis 0 of one number": """
x = torch.tensor(3.0, requires_grad=True)
found = [x.sum(0), x.mean(-1), x.sum(0, keepdim=True), x.prod(0), x.amax(0)]
found += [x.logsumexp(0), x.norm(dim=0), x.max(0)[0], x.max(0)[1], x.argmax(0)]
found += [x.softmax(0), x.log_softmax(-1), x.cumsum(0), x.flip(0), x.transpose(0, -1)]
found += [x.all(0), x.any(-1), x.var(0, correction=0), x.flatten(), x.squeeze(0)]
found += [x.unsqueeze(-1)]
sum(y.sum() for y in found if y.requires_grad).backward()
found += [x.grad]
""",
    "questions over several axes": """
x = torch.tensor([[[True, False]], [[True, True]]])
found = [x.all(dim=(0, 1)), x.any(dim=(1, 2), keepdim=True), x.all(1)]
""",
    "the norm of order 0 learns nothing": """
x = torch.tensor([1.0, 0.0, -2.0], requires_grad=True)
y = x.norm(0)
y.backward()
found = y
""",
    "softmax of nan, of what is infinite, of rows without numbers": """
F, nan, inf = torch.nn.functional, math.nan, math.inf
rows = [1.0, nan, 3.0], [-inf] * 3, [inf, 1.0, 2.0], [-inf, 0.0, -inf], [5.0] * 3
x = torch.tensor(rows)
found = [F.softmax(x, 1), F.softmax(x, 0), F.softmax(x.t(), 1)]
found.append(F.log_softmax(x[:, ::2], -1))
found += [F.softmax(x[0], 0), F.softmax(torch.tensor(2.0), 0), x.logsumexp(1)]
found += [F.softmax(torch.zeros(2, 0), 1), F.softmax(torch.zeros(0, 3), 1)]
found += [torch.zeros(2, 0).logsumexp(1), x.logsumexp((0, 1))]
found.append(F.cross_entropy(x, torch.tensor([0, 1, 2, 0, 1]), reduction="none"))
""",
    "nan in extremes": """
a = torch.tensor([1.0, math.nan, 3.0, math.nan], requires_grad=True)
b = torch.tensor([math.nan, 2.0, 3.0, math.nan], requires_grad=True)
(torch.maximum(a, b) * torch.arange(4.0)).sum().backward()
found = [torch.maximum(a, b), a.grad.clone(), b.grad]
for f in (torch.max, torch.amax, torch.min):
    a.grad = None
    f(a).backward()
    found += [a.grad]
""",
    "constants have derivatives of 0": """
A, x = getattr(torch.autograd, "functional", torch.autograd), torch.ones(2)
one = lambda x: torch.ones(3)
found = [A.vjp(one, x, torch.ones(3))[1], A.jacobian(one, x), A.jvp(one, x, x)[1]]
found += [A.hessian(lambda x: x.sum(), x), A.hvp(lambda x: x.sum(), x, x)[1]]
found += [A.hessian(lambda x: torch.ones(()), x)]
found += [A.jacobian(lambda x, y: x * 2, (x, x))]
""",
    "a leaf frozen before backward gets nothing": """
x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
z = (x * y).sum()
x.requires_grad_(False)
z.backward()
found = x.grad is None, y.grad
""",
    "other data": """
x = torch.ones(2, requires_grad=True)
x.data = torch.ones(3)
(x * 2).sum().backward()
found = [x, x.grad]
""",
    "sizes by their names": """
x = torch.arange(6.0)
found = [x.reshape(shape=(2, 3)), torch.reshape(input=x, shape=(3, 2))]
found += [x.reshape(2, 3).permute(dims=(1, 0)), torch.permute(x[None], dims=(1, 0))]
found += [torch.zeros(size=(2,)), torch.ones(size=(1, 2)), x.view(size=(6, 1))]
found += [x.expand(size=(2, 6)), x.split(split_size=4)[0], x.repeat(repeats=(2, 1))]
found += [torch.randn(size=(3,)).shape, torch.rand(size=(2, 2)).shape]
found += [torch.broadcast_to(x, size=(2, 6))]
""",
    "a function whose backward returns None": """
class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, n=2):
        return x * y, 5

    @staticmethod
    def backward(ctx, g, _):
        return g, None, None, None
x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
z, five = Keep.apply(x, y)
z.sum().backward()
found = [x.grad, y.grad is None, five == 5]
x.grad = None
found += [torch.autograd.grad((Keep.apply(x, y)[0] + y * 0).sum(), [x, y])]
w = y * 2
z = Keep.apply(x, w)[0].sum()
found += [torch.autograd.grad(z, [x, y], allow_unused=True)[1] is None]
""",
    "what is retained comes after all hooks, and follows writes": """
x = torch.ones(2, requires_grad=True)
y = x * 2
y.retain_grad()
y.register_hook(lambda g: g * 10)
y.sum().backward()
z = x * 2
z.retain_grad()
z *= 5
z.sum().backward()
found = y.grad, z.grad, z.retains_grad
""",
    "a checkpoint draws the same random numbers again": """
torch.manual_seed(0)
x = torch.ones(1000, requires_grad=True)
y = checkpoint(lambda x, p: F.dropout(x * x, p), x, 0.3)
y.sum().backward()
found = [bool(((x.grad > 0) == (y > 0)).all())]
""",
    "a row that is masked whole": """
q = torch.randn(1, 1, 2, 3, requires_grad=True)
mask = torch.tensor([[True, False], [False, False]])
out = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
out.sum().backward()
found = out[..., 1, :], q.grad.isnan().any()
""",
    "powers at rare points": """
a = torch.tensor([0.0, 0.0, 0.0, 0.0, -1.0, -2.0, 2.0, math.inf, -0.0, 0.0])
b = torch.tensor([0.0, 1.0, 2.0, 0.5, 2.0, 3.0, 0.0, 0.0, 1.0, -1.0])
a.requires_grad_(), b.requires_grad_()
y = a**b
y[:9].sum().backward()
found = y, a.grad[:9], b.grad[:9]
for exponent in (0, 1, 0.5, 3, -1, 0.0, 2.0):
    a.grad = None
    (a[:7] ** exponent).sum().backward()
    found += (a.grad,)
for base in (0.0, 2.0, -1.0, 1.0, 0, 2):
    b.grad = None
    (base ** b).sum().backward()
    found += (b.grad[:9],)
""",
    "gradcheck sees a backward that forgets its gradient": """
class Forgets(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum()

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0]
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
found = torch.autograd.gradcheck(Forgets.apply, (x,), raise_exception=False)
""",
    "NumPy's functions of named tuples": """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
found = [np.vstack(x.max(0)).tolist() == [[3, 4], [1, 1]]]
""",
    "degenerate bounds": """
x = torch.tensor([0.0, 1.0, 2.0, math.nan], requires_grad=True)
found = [x.clamp(1, 1), x.clamp(2, 1), x.clamp(torch.tensor(2.0), torch.tensor(1.0))]
sum(y[:3].sum() for y in found).backward()
found += [x.grad]
""",
    "logsumexp of nothing": """
x = torch.zeros(2, 0, requires_grad=True)
found = [x.logsumexp(1), x.sum(1), x.prod(1), torch.zeros(0, 2).logsumexp(1).shape]
""",
    "what the first gradient is of, its dtype is": """
x = torch.ones(2, requires_grad=True)
(g,) = torch.autograd.grad(x.exp(), x, torch.ones(2, dtype=torch.float64))
found = g, g.dtype
""",
    "a formatted number is a number": """
found = [f"{torch.tensor(3.5)}", "{}".format(torch.tensor(2)), f"{torch.ones(2)}"]
found += [f"{torch.tensor(0.25, requires_grad=True):.3f}"]
""",
    "dtypes of what is made of numbers": """
x = torch.ones(2)
found = [torch.full((2,), np.float64(3)).dtype, torch.arange(torch.tensor(3.0)).dtype]
found += [torch.arange(end=3), torch.arange(1, torch.tensor(4))]
found += [x.sum(dtype=torch.float64).dtype]
found += [x.to(dtype=torch.float64).dtype, x.to("cpu", dtype=torch.int64).dtype]
found += [torch.tensor([True, False]).mean(dtype=torch.float32)]
found += [torch.cat([torch.zeros(0, dtype=torch.float64), x]).dtype]
found += [torch.cat([torch.zeros(0), torch.tensor([1])]).dtype]
x, y = torch.zeros(0, requires_grad=True), torch.ones(2, 3, requires_grad=True)
z = (torch.cat([y, x, y * 2], -1) ** 3).sum()
first = torch.autograd.grad(z, [x, y], create_graph=True)
found += [*first, *torch.autograd.grad(first[1].sum(), [y])]
""",
    "equal, or close": """
x, nan, inf = torch.ones(2), torch.tensor([math.nan]), torch.tensor([math.inf])
found = [torch.equal(x, x.clone()), x.equal(torch.ones(3)), torch.equal(nan, nan)]
found += [torch.equal(x, x.double()), torch.equal(torch.ones(2, 1), x)]
found += [torch.equal(torch.zeros(0, 2), torch.zeros(0))]
found += [torch.allclose(x, x + 1e-6), x.allclose(x + 1e-4), inf.allclose(-inf)]
found += [torch.allclose(x, x + 1e-4, 1e-3), torch.allclose(x, x + 1e-4, atol=1e-3)]
found += [torch.allclose(nan, nan), nan.allclose(nan, equal_nan=True)]
found += [inf.allclose(inf), torch.allclose(torch.ones(3, 1), x)]
found += [torch.allclose(x > 0, x > 0)]
found += [torch.allclose(torch.ones(2, requires_grad=True), x)]
""",
    "what was joined is walked back through twice": """
x = torch.ones(2, requires_grad=True)
y = torch.cat([x, x]).sum()
y.backward(), y.backward()
found = x.grad
""",
    "scores may be written over after their loss": """
x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], requires_grad=True)
y = x * 1
loss = F.cross_entropy(y, torch.tensor([0, 1]))
y.add_(1)
loss.backward()
found = x.grad
""",
    "a parameter's copy has no gradient": """
import copy
m = torch.nn.Linear(1, 1)
m(torch.ones(1, 1)).sum().backward()
found = [copy.deepcopy(m).weight.grad is None, copy.deepcopy(m.bias).requires_grad]
x = torch.ones(1, requires_grad=True)
x.sum().backward()
found += [copy.deepcopy(x).grad]
""",
    "variance under its older names": """
x = torch.tensor([[1.0, 2.0], [4.0, 8.0]])
found = [x.var(unbiased=False), x.std(0, unbiased=False), x.var(False)]
found += [x.var(1, True, True)]
found += [torch.var(x, dim=0, correction=0), x.std(correction=0, keepdim=True)]
""",
    "powers of 0": """
b = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
(0.0**b).sum().backward()
found = b.grad
""",
    "0-d tensors by name, and second derivatives along their axis": """
x = torch.tensor(2.0, requires_grad=True)
y = torch.sum(input=x, dim=0) + torch.mean(input=x, dim=(0,))
(y + torch.var(input=x, dim=0, correction=0)).backward()
(g,) = torch.autograd.grad(x.cumsum(0) ** 2, x, create_graph=True)
g.backward()
found = x.grad, torch.ones(2, 3).index_select(0, torch.tensor(1))
""",
    "softmax of nothing": """
found = [torch.zeros(0, 3).softmax(0), torch.zeros(0, 3).log_softmax(0)]
""",
    "a window of 1 is a copy": """
x = torch.ones(1, 1, 2, 2)
F.max_pool2d(x, 1).add_(1)
found = x
""",
    "second derivatives of a norm whose input is given": """
x, w = torch.tensor([[1.0, 2.0, 4.0]]), torch.ones(3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
y = F.layer_norm(x, (3,), w, b) ** 3
z = F.batch_norm(x.T, None, None, w[:1], b[:1], training=True) ** 3
gw, gb = torch.autograd.grad(y.sum() + z.sum(), [w, b], create_graph=True)
found = gw, gb, *torch.autograd.grad((gw * gb).sum(), [w, b])
""",
    "products of nothing": """
a, b = torch.ones(2, 3, 0, requires_grad=True), torch.ones(0, requires_grad=True)
y = a @ b
y.sum().backward()
found = y, a @ torch.ones(0, 2), a.grad, b.grad
""",
    "nothing is padded": """
found = F.pad(torch.tensor(2.0), ()), F.pad(torch.ones(2), ())
""",
    "certain answers, weighed": """
x = torch.tensor([-math.inf, math.inf, 1e30, -3.0], requires_grad=True)
t, w = torch.tensor([1.0, 0.5, 0.0, 0.3]), torch.tensor([0.2, 0.5, 0.0, 3.0])
found = F.binary_cross_entropy_with_logits(x, t, pos_weight=w, reduction="none")
found[3].backward()
found = found, x.grad[3]
""",
    "layers": """
p = [torch.ones(2, requires_grad=True), torch.ones(1, 2)]
m = torch.nn.Linear(2, 2).to(torch.float64)
found = [m.weight.dtype, torch.max(p[0], other=p[1])]
found += [p[0].numpy(force=True).tolist() == [1, 1]]
""",
    "the norm of order 0, and nan": """
found = torch.tensor([1.0, math.nan, 0.0]).norm(0)
""",
    "einsum of mixed dtypes": """
a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([2])
y = torch.einsum("i,j", a, b)
y.sum().backward()
found = y.dtype, a.grad
""",
    "infinite and very large numbers": """
cases = [
    (lambda x: F.log_softmax(x, 0), [1.0, math.inf, 2.0]),
    (lambda x: F.log_softmax(x, 0), [1.0, -math.inf, 2.0]),
    (lambda x: F.log_softmax(x, 0), [10000.0, 10001.0, 9999.5]),
    (lambda x: x.std(), [1e38, 2e38, -1e38]),
    (lambda x: x.std(), [1e-30, 2e-30, -1e-30]),
    (lambda x: x.norm(-1), [0.0, 2.0]),
    (lambda x: x.prod(), [1.0, math.inf]),
    (lambda x: x.prod(), [0.0, math.inf]),
    (lambda x: x.prod(), [1e30, 1e30]),
    (lambda x: x.prod(), [2.0, math.nan]),
    (lambda x: x.prod(), [2.0, 0.0, 3.0, -1.0]),
    (lambda x: x.var(correction=3), [1.0, 2.0]),
    (lambda x: x.std(correction=2), [1.0, 2.0]),
]
found = []
for function, numbers in cases:
    x = torch.tensor(numbers, requires_grad=True)
    y = function(x)
    found += [torch.autograd.grad(y.sum(), x, create_graph=True)[0]]
    (y * torch.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum().backward()
    found += [y, x.grad]
""",
    "a list of indices is a tuple of them": """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
t = torch.arange(24).reshape(2, 3, 4)
one = torch.tensor([0, 1])
found = [x[[[0, 1], [1, 0]]], x[[[0, 1]]], x[[one, one]]]
found += [x[[slice(None), 0]], t[[(0, 1), (1, 2)]], x[[0, 1]], x[[]], x[[True, False]]]
x[[[0, 1], [1, 0]]].sum().backward()
y = torch.zeros(2, 2)
y[[[0, 1], [1, 1]]] = torch.tensor([5.0, 6.0])
found += [x.grad, y]
""",
    "a vector of one number is assigned to a place": """
a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
x, y = torch.zeros(3), torch.zeros(2, 2)
x[0] = a
y[0, 1] = (b * 2).reshape(1, 1)
x = x * 3
x[1] = b
(x.sum() + y.sum()).backward()
found = x, y, a.grad, b.grad
""",
    "long sums of float32": """
x = torch.full((60000, 2), 0.1)
b = torch.zeros(2, requires_grad=True)
c = torch.zeros(20000, requires_grad=True)
y = torch.einsum("ij,j->ij", x, b).sum() + (b.repeat(60000, 1) * 0.1).sum()
(y + (c.cumsum(0) * 0.1).sum()).backward()
found = torch.einsum("ij->j", x), b.grad, c.grad[::1000]
""",
    "a second operand that is scaled": """
x, y = torch.ones(2, requires_grad=True), torch.tensor([1.0, 2.0])
z = torch.add(x, y, alpha=2) + x.sub(y, alpha=0.5) + x.sub(1.0, alpha=3)
z.sum().backward()
found = z, x.grad
""",
    "one number of another dtype under a mask": """
mask, x = torch.tensor([True, False, True]), torch.zeros(3)
x[mask] = torch.tensor(1)
y = torch.zeros(3, dtype=torch.int64)
y[mask] = torch.tensor([2.5])
y[1] = torch.tensor(7.5)
found = x, y
""",
    "linear layers of nothing": """
found = []
for shape in [(2, 4, 0), (0, 4, 3), (0, 3), (3, 0)]:
    x = torch.ones(shape, requires_grad=True)
    w = torch.ones(2, shape[-1], requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    y = F.linear(x, w, b)
    y.sum().backward()
    found += [y, x.grad, w.grad, b.grad]
""",
    "dtypes of losses": """
x, double = torch.tensor([1.5, 2.0]), torch.tensor(1.5, dtype=torch.float64)
found = [F.mse_loss(double, x).dtype, F.mse_loss(x, double)]
""",
    "dtypes of a loss of logits": """
x, double = torch.tensor([1.5, 2.0]), torch.tensor([1.0, 0.0], dtype=torch.float64)
loss, found = F.binary_cross_entropy_with_logits, []
for options in ({}, {"reduction": "none"}, {"pos_weight": double}):
    for a, b in ((x, double), (x, x)):
        out = loss(a.clone().requires_grad_(), b.abs() / 2, **options)
        found += [out, str(out.dtype)]
""",
    "a root of what relu made 0": """
x = torch.tensor([0.0, 4.0], requires_grad=True)
found = [*torch.autograd.grad(x.relu().sqrt().sum(), x)]
found += [*torch.autograd.grad(F.relu(x).log().sum(), x)]
e = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
square = (e**2).sum(1)
far = square[:, None] + square[None] - 2 * e @ e.T
found += [*torch.autograd.grad(far.relu().sqrt().sum(), e)]
""",
    "a part with a train of its own": """
class Back(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = torch.nn.BatchNorm1d(2)

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        return self

model = torch.nn.Sequential(Back(), torch.nn.Dropout())
found = [part.training for part in model.modules()]
found += [part.training for part in model.train().modules()]
found += [part.training for part in model.eval().modules()]
""",
    "what a Function saved knows that it requires grad": """
class Mm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w, x @ w)
        return x @ w

    @staticmethod
    def backward(ctx, g):
        x, w, _ = ctx.saved_tensors
        found.extend([x.requires_grad, w.requires_grad, w.is_leaf])
        with torch.enable_grad():
            y = (x * x) @ w
        found.extend(torch.autograd.grad(y, (x, w), torch.ones_like(y)))
        gx = g @ w.T if x.requires_grad else None
        return gx, x.T @ g if w.requires_grad else None

class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sigmoid(x)
        ctx.save_for_backward(y)
        return y, y * 2

    @staticmethod
    def backward(ctx, g, h):
        (y,) = ctx.saved_tensors
        found.append(y.requires_grad)
        return (g + 2 * h) * y * (1 - y)

found = []
x, w = (torch.ones(2, 2, requires_grad=True) for _ in range(2))
Mm.apply(x * 2, w).sum().backward()
found += [x.grad, w.grad]
a, b = Sigmoid.apply(x)
(g,) = torch.autograd.grad((a * b).sum(), x, create_graph=True)
found += [g, *torch.autograd.grad(g.sum(), x)]
""",
    "results that are in one piece": """
x = torch.arange(75.0).reshape(3, 1, 5, 5).requires_grad_()
y = F.conv2d(x, torch.ones(2, 1, 3, 3))
pool = F.max_pool2d(F.relu(y), 2).view(-1, 2)
found = [y.view(3, -1), pool, y.detach().view(6, 9) @ torch.ones(9, 1)]
(y.view(-1) * pool.view(-1)[:1]).sum().backward()
z, order = torch.arange(24.0).reshape(4, 6), torch.tensor([2, 0])
found += [x.grad, z[:, order].view(-1), z[:, z[0] > 2].view(-1)]
found += [z.index_select(1, order).view(-1)]
found += [torch.einsum("ij,jk->ik", z, z.T).view(-1)]
""",
    "batches of examples of several kinds": """
import collections
Pair = collections.namedtuple("Pair", "x y")
data = torch.utils.data
found = []
for example in (1.5, 2), Pair(torch.ones(2), 1), {"x": 1, "y": torch.ones(1)}:
    (batch,) = data.DataLoader([example, example], batch_size=2)
    found += [type(batch).__name__]
    parts = batch.values() if isinstance(batch, dict) else batch
    found += [list(parts)]
tensors = data.TensorDataset(torch.arange(4.0), torch.arange(4))
batch = next(iter(data.DataLoader(tensors, batch_size=3)))
found += [type(batch).__name__, batch]
""",
    "products with zeros and without an end": """
found = []
nan = math.nan
for numbers in [0.0, 0.0, math.inf], [0.0, nan, 2.0], [0.0, nan, 0.0], [0.0, 3.0]:
    x = torch.tensor(numbers, requires_grad=True)
    found += [x.prod(), *torch.autograd.grad(x.prod(), x)]
""",
    "a mask that hides all, and nan": """
q = torch.tensor([[[[math.nan, 1.0], [1.0, 2.0]]]])
ones = torch.ones(1, 1, 2, 2)
found = F.scaled_dot_product_attention(q, ones, ones, torch.zeros(2, 2) > 0)
""",
    "what stands for any layer": """
x = torch.ones(1, 1, 4, 4)
found = torch.nn.Identity(64, bias=False)(x)
""",
    "the variance of one number": """
found = []
for correction in 1, 2:
    x = torch.ones(1, requires_grad=True)
    h = x * 1
    h.register_hook(lambda g: g.float())
    (h.var(correction=correction) + h.std(correction=correction)).backward()
    found += [x.grad, x.grad.dtype]
""",
    "a hook put on a leaf on the way": """
x = torch.ones(2, requires_grad=True)
k, h = x * 3, x * 2
k.register_hook(lambda g: (x.register_hook(lambda g: g * 10), None)[1])
(h + k).sum().backward()
found = x.grad
""",
    "clamped between tensors": """
found = []
bounds = [([2.0], [2.0]), ([3.0], [1.0]), ([1.0], [3.0]), ([[0.0], [9.0]], None)]
for low, high in bounds:
    x = torch.tensor([1.0, 2.0, 3.0, math.nan], requires_grad=True)
    low = torch.tensor(low, requires_grad=True)
    if high is not None:
        high = torch.tensor(high, requires_grad=True)
    y = x.clamp(low, high)
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    found += [y, x.grad, low.grad] + ([] if high is None else [high.grad])
whole = torch.tensor([1, 5]).clamp(min=torch.tensor([2.5, 3.5]))
found += [whole, whole.dtype]
x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
low = torch.tensor(0.0, requires_grad=True)
(x.clamp(min=low).sqrt()[::2].sum() + x.clamp(0.5, 0.75).rsqrt().sum()).backward()
found += [x.grad, low.grad]
""",
    "powers, quotients and remainders of integers": """
x, b = torch.tensor([7, -7, 0, 1]), torch.tensor([True, False])
found = [x ** torch.tensor([-1, 2, -1, -3]), 2 ** torch.tensor([-1, 3]), (-1) ** -x]
found += [x ** torch.tensor(-1), b ** torch.tensor(-1), x ** 3, 2.0 ** -x, 2 ** b]
found += [x // 2, x % 3, -x // torch.tensor(4), 7 // (x + 20), 7 % (x - 20), x % 2.5]
found += [x // -2.0, x % True, torch.remainder(x, -3), x.floor_divide(2), +x]
y = torch.tensor([7.5, -7.5, math.inf, -0.0])
found += [y // 0, y % 0, y % math.inf, 5.5 // y, 5.5 % y, x % y, x // y]
found += [y // x.double()]
x //= 2
y %= 3
found += [x, y]
""",
    "what is not stretched can be written to": """
x = torch.arange(6.0).reshape(2, 3)
x.expand(2, 3).mul_(2)
x.T.expand(1, -1, 2)[0, 0] = 9
y = torch.ones(2, 3, requires_grad=True).clone()
z = y.expand(1, 2, 3)
z[0, 1] *= torch.arange(3.0)
(z * y).sum().backward()
found = [x, y, z, torch.broadcast_to(x, (2, 3)).add_(1), torch.ones(0).expand(1, 0)]
""",
    "norms where there is no direction": """
found = []
for at in ([0.0, 0.0], [0.0, 3.0]):
    x = torch.tensor([at, [1.0, 2.0]], requires_grad=True)
    for dim in (None, 1):
        (g,) = torch.autograd.grad(x.norm(dim=dim).sum(), x, create_graph=True)
        found += [g, *torch.autograd.grad((g * g).sum() + g.sum(), x)]
""",
    "functions of nan and of bools": """
found = torch.erf(torch.tensor([True, False]))
""",
    "sums of bools, and a number of another dtype": """
a, b = torch.ones(2, 3).bool(), torch.ones(3, 4).bool()
found = [torch.einsum("ij->i", a), torch.einsum("ij,jk->ij", a, b)]
found += [torch.einsum("ij,kl->ijkl", a, b), torch.einsum("ij->ji", a)]
x = torch.ones(1, 3, requires_grad=True, dtype=torch.float64)
v = torch.tensor(-1.0, requires_grad=True)
y = x.masked_fill(torch.tensor([[True, False, False], [False, True, False]]), v)
found += [y, *torch.autograd.grad(y.sum(), [x, v])]
""",
    "tensors by name": """
w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.zeros(2).add_(other=w)
y = torch.ones(2).masked_fill_(torch.tensor([True, False]), value=w[0])
z = torch.ones(2).clamp_(min=w)
(x * x + y * z).sum().backward()
found = [x, y, z, w.grad, torch.sum(input=w, dim=0, dtype=torch.float64)]
found += [torch.ones(2, dtype=torch.float64).sum(dtype=None)]
found += [torch.tensor([1, 2]).sum(dtype=None), w.softmax(0, dtype=None)]
""",
    "a leaf that was frozen for a while": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g * 10)
y = (x * x).sum()
x.requires_grad_(False)
x.requires_grad_(True)
found = [*torch.autograd.grad(y, x, retain_graph=True)]
y.backward()
(x * 3).sum().backward()
found += [x.grad]
""",
    "many rows, some of them often": """
x = torch.arange(6000.0).reshape(30, 200).requires_grad_()
i, j = torch.arange(900) % 30, torch.arange(900) % 7
y = x[i, j].sum() * 2 + (x[:, j] * 3).sum() + (x[i - 30] * x[i]).sum()
y = y + x[i, None, 5:9].sum() + x[..., i].sum() + x[i.reshape(30, 30)].sum()
found = [*torch.autograd.grad(y, x)]
""",
    "long sums, across the memory": """
p = torch.zeros(300, 1, requires_grad=True)
g = torch.full((20000, 300), 0.1).T
(p + g).backward(g)
found = [p.grad]
""",
    "the usual first lines": """
from importlib import import_module
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(2, 3, device=device) + torch.tensor([1.0, 2, 3], device=device)
x = x + torch.arange(3, device=device) + torch.eye(2, 3, device=device)
x = x + torch.ones_like(x, device=device) + torch.full((2, 3), 2.0, device=device)
found = [x, x.device.type == device.type, torch.arange(2.5, dtype=torch.int64)]
schedules = import_module(torch.__name__ + ".optim.lr_scheduler")
optimizer = torch.optim.SGD([x], lr=0.5)
found += [schedules.StepLR(optimizer, 2).get_last_lr()]
found += [torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2]))]
""",
    "where the last line ends": """
found = []
for shape in ((5, 5), (12,), (11,), (2, 7), (2, 2, 3), (30,)):
    x = torch.arange(60.0)[: math.prod(shape)].reshape(shape).sqrt()
    found += [repr(x.requires_grad_()), repr(x * 1), repr(torch.nn.Parameter(x))]
""",
    "answers written over what was asked": """
x = torch.tensor([[1.0, -2.0], [0.0, 4.0]])
found = [x.clone().eq_(1), x.clone().ge_(x[1]), x.clone().logical_and_(x.t())]
found += [x.clone().logical_not_(), (x > 0).ne_(x < 1), x.clone().tril_()]
found += [x.clone().triu_(1), x.clone().cumsum_(1)]
w = torch.ones(2, requires_grad=True)
(w * 3).lt_(2).sum().backward()
found += [w.grad]
""",
    "counted along integers": """
found = [torch.linspace(4.3, -3, 50, dtype=torch.int64), torch.linspace(0, 1, 0)]
found += [torch.linspace(torch.tensor(1.0), torch.tensor(2), 3)]
found += [torch.tensor([True, False]).sign()]
found += [torch.full_like(torch.ones(2), 3, device="cpu")]
found += [torch.arange(6.0).reshape(2, 3).std(1, correction=None)]
""",
    "NumPy's numbers in a list": """
one = np.float64(1)
values = [[one], [np.float32(1)], [[one], [2.0]], [np.int32(1)], [1.0]]
values += [[np.int32(1), 2.0], [1.0, one], [[1], [one]], [[[]]]]
found = [torch.tensor(each).dtype for each in values]
""",
    "checkpoint with arguments by name": """
x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
f = lambda a, b=1, *, c, d: a * b * c * d  # noqa: E731
checkpoint(f, x, 2, c=y, d=3, use_reentrant=False).sum().backward()
found = x.grad, y.grad
""",
    "alpha, in the dtype of both": """
wide, whole = torch.tensor([1 / 3], dtype=torch.float64), torch.tensor([1, 2])
found = [torch.add(wide, whole, alpha=0.1), torch.sub(wide, whole, alpha=0.1)]
found += [out.dtype for out in found] + [torch.add(whole, whole, alpha=2)]
""",
    "options that are NumPy's numbers": """
x, whole = torch.ones(2, 3), torch.ones(2, 3).long()
found = [x.clamp(min=np.float64(2)), x.clamp(max=np.int64(0))]
found += [x.var(correction=np.float64(1))]
found += [whole.clamp(min=np.int64(2)), whole.clamp(min=np.float32(2))]
found += [out.dtype for out in found]
found += [x.masked_fill(x > 0, np.float32(2)), torch.ones(4).chunk(np.int64(2))]
""",
    "more correction than numbers": """
found = []
for correction in (2, 3):
    for dim in (0, None):
        for function in (torch.var, torch.std):
            x = torch.tensor([1.0, 3.0], requires_grad=True)
            function(x, dim, correction=correction).backward()
            found += [x.grad]
""",
    "norms of single numbers": """
x = torch.tensor([[1e-30], [-1e30], [0.0], [2.0]], requires_grad=True)
y = torch.norm(x, dim=1)
y.sum().backward()
found = [y * 1e25, x.grad, torch.norm(x, 3, dim=1)]
found += [torch.norm(torch.tensor(3.0), 1e10), torch.norm(x, -2, dim=1)]
found += [torch.norm(torch.tensor(3.0), p, -1) for p in (0, 0.5, 1, 2, 3, math.inf)]
""",
    "nothing joined": """
found = torch.cat([torch.zeros(0)], 1), torch.cat([torch.zeros(0), torch.zeros(0)], 3)
""",
    "masks in place": """
found = []
for sign in "&|^":
    mask = mine = torch.tensor([True, True, False])
    exec(f"mask {sign}= torch.tensor([True, False, False])")
    bits = torch.tensor([1, 6])
    exec(f"bits {sign}= 3")
    found += [mine is mask, mine, mine._version, bits]
""",
    "NumPy's words for an axis": """
x = torch.tensor([[1.0, 4.0, 2.0], [9.0, 3.0, 7.0]])
found = [x.var(axis=1), x.std(axis=0, keepdims=True)]
found += [x.argmax(axis=1), x.argmin(axis=0)]
found += [*x.max(axis=1), *x.min(axis=0, keepdims=True), x.unsqueeze(axis=1)]
found += [torch.cat([x, x], axis=1), torch.stack([x, x], axis=1)]
found += [torch.index_select(x, axis=1, index=torch.tensor([0, 2]))]
found += [np.concatenate([x, x], axis=1).shape, np.stack([x, x], axis=1).shape]
found += [np.transpose(x).shape, np.expand_dims(x, axis=-1).shape]
found += [np.tril(x, k=1).tolist(), np.roll(x, 1, axis=0).tolist()]
""",
    "what only NumPy has": """
x = torch.tensor([1.0, 100.0])
found = [np.log10(x).tolist(), np.add.reduce(x).item(), np.hypot(x, x).tolist()]
w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    found += [w.numpy().tolist(), np.asarray(w).tolist()]
""",
    "gradients that are 0 everywhere hold": """
x = torch.tensor([0.3, -1.2], dtype=torch.float64, requires_grad=True)
check = [torch.autograd.gradcheck, torch.autograd.gradgradcheck]
steps = torch.sign, torch.floor, torch.ceil, torch.round
found = [hold(step, (x,)) for hold in check for step in steps]
""",
    "a tensor of several numbers is no Python number": """
found = []
for kind in (float, int):
    try:
        kind(torch.ones(2))
    except ValueError:
        found += [True]
""",
    "a hook in front of the end": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
end, found = y.grad_fn.next_functions[0][0], []
handle = end.register_prehook(lambda gradients: found.append(gradients[0].clone()))
y.sum().backward()
handle.remove()
(x * 5).sum().backward()
found += [x.grad]
""",
}
REFUSED = """
torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1).add_param_group([])
torch.where(torch.ones(2) > 0, torch.ones(2), 1e40)
torch.where(torch.ones(2) > 0, 1e40, 1.0)
torch.ones(2).clamp(max=1e40)
torch.ones(2).clamp(-1e40)
torch.add(torch.ones(2), torch.ones(2), alpha=1e40)
(torch.ones(2, requires_grad=True) // 2).sum().backward()
torch.zeros(2, dtype=torch.bool).__setitem__(0, "a")
torch.ones(3).flip()
torch.ones(2, 3).sum(0, 1)
torch.ones(2, 3).mean(0, 1)
torch.ones(2, 3).any(0, 1)
torch.ones(2, 3).max(0, 1)
torch.ones(2, 3).argmax(0, 1)
torch.ones(2, 3).std(0, 1)
torch.ones(2, 3).norm(2, 0, 1)
torch.ones(2, 3).roll((1, 2))
torch.ones(2).clamp(min=[0.5])
torch.ones(2).clamp(min=1j)
torch.ones(2).clamp(min="a")
torch.add(torch.tensor([2]), torch.tensor([1]), alpha=0.5)
torch.randn(3, dtype=torch.int64)
torch.rand(3, dtype=torch.int64)
torch.ones(2).uniform_(3, 1)
torch.ones(2).normal_(0, -1)
torch.randint(0.5, 2, (2,))
torch.randint(10)
torch.randperm(-1)
torch.arange()
torch.cat([torch.tensor(1.0), torch.tensor(2.0)])
F.cross_entropy(torch.ones(1, 2), torch.tensor([0]), weight=[1.0, 2.0])
F.cross_entropy(torch.ones(1, 2), torch.ones(1, 2) / 2, ignore_index=0)
F.pad(torch.ones(1, 4), (-2, 3), "circular")
torch.ones(2).masked_fill([True, False], 0)
torch.ones(2).gather(0, [0])
torch.where([True], torch.ones(1), torch.ones(1))
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
np.allclose(torch.ones(3, requires_grad=True), 1)
hooked(lambda g: torch.ones(3))
hooked(lambda g: g.double())
hooked(lambda g: 5)
F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3, mask, is_causal=True)
F.linear(torch.ones(2, 3), torch.ones(4), None)
F.linear(torch.ones(2, 3), torch.ones(3), torch.ones(3))
F.linear(torch.ones(2, 3), torch.tensor(1.0))
(torch.ones(2, requires_grad=True) * 2).sum().backward(inputs=[])
torch.autograd.grad(torch.ones((), requires_grad=True) * 2, [])
torch.ones(2).squeeze(5)
torch.ones(2).size(5)
torch.cat([torch.ones(2)], 5)
torch.stack([torch.ones(2)], 5)
torch.arange(3).log_softmax(0)
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(2))
torch.Tensor(torch.ones(2), 3)
torch.einsum("ij,jk", torch.ones(2, 3).bool(), torch.ones(3, 4).bool())
torch.ones(3, requires_grad=True).sum(dtype=torch.int64)
torch.ones(3, requires_grad=True).cumsum(0, dtype=torch.int64)
torch.arange(3) // 0
torch.linalg.vector_norm(torch.zeros(0), -1)
torch.ones(1, 1, 2).squeeze((0, -3))
torch.tensor(1.0).squeeze((0, 0))
torch.tensor(1.0).flip(0, -1)
F.conv2d(torch.zeros(1, 2, 3, 3), torch.zeros(0, 2, 2, 2))
torch.arange(3) % 0
7 % torch.arange(3)
7 // torch.arange(3)
torch.arange(3) ** -1
torch.tensor([True]) // torch.tensor([True])
torch.tensor([True]) % torch.tensor([True])
torch.ones(2, 3).expand(3, 2)
(torch.ones(2) > 0) - (torch.ones(2) > 0)
(torch.ones(2) > 0) - True
-(torch.ones(2) > 0)
torch.ones(2) - (torch.ones(2) > 0)
(torch.ones(2) > 0) - torch.ones(2)
1 - (torch.ones(2) > 0)
torch.sum([1.0, 2.0])
torch.zeros(3).__setitem__([0, 2], torch.tensor(1))
torch.cat(torch.ones(2, 3))
torch.stack(torch.ones(2, 3))
torch.cat([torch.ones(2), 3.0])
torch.arange(3).__setitem__(torch.tensor([0, 1]), torch.tensor([1.7, 2.7]))
torch.zeros(3).__setitem__([0, 2], torch.ones(2).double())
F.cross_entropy(torch.ones(1, 3), torch.tensor([1]), torch.tensor([1, 2, 3]))
torch.ones(2) - True
True - torch.ones(2)
F.pad(torch.ones(1, 2, 3), (1, 0), "reflect", 2.0)
torch.ones(2).sub_(torch.ones(2) > 0)
(torch.ones(2) > 0).abs()
(torch.ones(2) > 0).floor()
(torch.ones(2) > 0).ceil()
(torch.ones(2) > 0).round()
F.relu(torch.ones(2) > 0)
F.pad(torch.ones(1, 2, 3), (3, 0), "reflect")
F.pad(torch.ones(1, 2, 3), (4, 0), "circular")
F.pad(torch.ones(1, 2, 3), (1, 0), "mirror")
torch.where(torch.ones(2), torch.ones(2), torch.ones(2))
torch.ones(2).clamp(torch.zeros(2), 1.0)
torch.ones(2, 2).mm(torch.ones(2))
torch.ones(2, 2).mm(torch.ones(2, 2).double())
torch.ones(1, 2, 2).mm(torch.ones(1, 2, 2))
torch.ones(2, 2).mv(torch.ones(2, 2))
torch.ones(2, 2).bmm(torch.ones(2, 2))
torch.ones(2, 2, 2).bmm(torch.ones(1, 2, 2))
torch.ones(2, 2).dot(torch.ones(2, 2))
F.relu(torch.ones(2, 3).T).view(6)
torch.ones(2).dot(torch.ones(2).double())
torch.outer(torch.ones(2, 2), torch.ones(2))
torch.ones(2).mv(torch.ones(2))
F.layer_norm(torch.ones(2, 3), (3,), torch.ones(2))
F.batch_norm(torch.ones(2, 3), torch.zeros(3), torch.ones(3), bias=torch.ones(2))
F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(3, 1, 3, 3), groups=2)
F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(2, 1, 3, 3), padding=-1)
F.pad(torch.ones(2, 2), (1,))
F.pad(torch.ones(2), (1, 1, 1, 1))
torch.ones(2, 3).flatten(0, 5)
torch.ones(2, 3).flatten(1, 0)
torch.ones(2, 3).reshape(-2, 3)
torch.ones(2, 3).reshape(-1, -1)
torch.ones(3).expand(-1, 3)
torch.ones(3).expand(2, 4)
torch.ones(2, 3).roll((1, 2), 0)
torch.ones(2, 3).roll(1, 5)
torch.ones(4).split(-1)
torch.ones(4).split([5, -1])
torch.ones(4).split(0)
torch.ones(4).split(2, 1)
torch.ones(4).chunk(0)
torch.ones(4).unbind(1)
torch.ones(2).squeeze(3)
torch.ones(2).unsqueeze(3)
torch.ones(2).permute(0, 1)
torch.ones(2).transpose(0, 1)
torch.ones(2).sum(1)
torch.ones(2).mean(1)
torch.ones(2).softmax(1)
torch.ones(2).cumsum(1)
torch.ones(2).max(1)
torch.ones(2).flip(1)
torch.ones(2, 2).sum((0, 0))
torch.ones(2, 2).flip(0, 0)
torch.ones(4).__setitem__(slice(2), [1.0, 2.0])
torch.ones(4).__setitem__([0, 1], (1.0, 2.0))
torch.ones(4).__setitem__(slice(None), np.ones(4))
torch.tensor([True, False]).argmax()
torch.equal(torch.ones(2), 1.0)
torch.allclose(torch.ones(2), 1.0)
torch.allclose(torch.ones(2), torch.ones(3))
torch.allclose(torch.ones(2), torch.ones(2, dtype=torch.float64))
torch.allclose(torch.ones(2), torch.ones(2), rtol=-1.0)
torch.argmin(torch.tensor([[True, False]]), dim=1)
F.binary_cross_entropy_with_logits(*torch.ones(3, 2, requires_grad=True))
F.binary_cross_entropy_with_logits(*[torch.ones(2, requires_grad=True)] * 3)
torch.nn.BCEWithLogitsLoss(torch.ones(2, requires_grad=True))(*torch.ones(2, 2))
torch.ones(2, 2).repeat(2)
torch.cat([torch.ones(2, 2), torch.ones(3)])
torch.cat([torch.ones(2, 2), torch.ones(2, 2)], 2)
torch.stack([torch.ones(2, 2), torch.ones(2, 2)], 3)
torch.tensor([1, 2]).var()
torch.tensor([1, 2]).std()
torch.tensor([1, 2]).norm()
torch.tensor([1, 2]).softmax(0)
torch.tensor([1, 2]).mean()
F.gelu(torch.tensor([1, 2]))
F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), torch.ones(2))
F.cross_entropy(torch.ones(2, 3), torch.tensor([0.5, 1]))
F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5]))
torch.zeros(0).max()
torch.zeros(2, 0).max(1)
torch.zeros(0).argmax()
torch.zeros(2, 0).amax(1)
torch.nn.Linear(2, 3)(torch.ones(2, 3))
torch.tensor([1.0, 2.0], requires_grad=True).clamp()
torch.ones(2).backward()
torch.tensor([1, 2], requires_grad=True)
torch.randint(5, 2, (2,))
torch.arange(3, 0, 1)
torch.eye(-1)
torch.zeros(-1)
torch.ones(2, 3).index_select(0, torch.tensor([0.5]))
torch.einsum("ij,jk", torch.ones(2, 3), torch.ones(2, 3))
torch.linspace(0, 1, -1)
torch.tensor([[1, 2], [3]])
torch.tensor(2**63)
torch.autograd.grad(torch.ones(2), [torch.ones(2)])
torch.ones(2)[5]
torch.ones(2)[0, 0]
torch.ones(2)[0.5]
torch.ones(2)["a"]
torch.ones(2)[torch.tensor([5])]
torch.ones(2, 2)[torch.tensor([True, False, True])]
torch.ones(2).add_(torch.ones(3))
torch.tensor([1, 2]).add_(0.5)
torch.tensor([1, 2]).div_(2)
torch.ones(2).long().mul_(torch.ones(2))
torch.arange(3)[torch.tensor(1.5)]
torch.ones(3).masked_fill(torch.tensor([True, False, True]), None)
torch.ones(3).__setitem__(0, None)
F.mse_loss(torch.ones(2), torch.ones(2), reduction="all")
F.cross_entropy(torch.ones(2, 3), torch.ones(2, 3), torch.ones(1))
F.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(3))
torch.tensor([2]) ** -1
torch.nn.MSELoss("sum", "mean", "sum", "sum")
torch.full((2,), 1e40)
torch.full((2,), 1e40, dtype=torch.int64)
torch.ones(2).fill_(1e40)
torch.ones(2).__setitem__(0, -1e40)
torch.ones(2).long().fill_(math.inf)
torch.ones(2).masked_fill(torch.tensor([True, False]), 1e40)
torch.div(torch.ones(2), 2, rounding_mode="up")
torch.div(torch.tensor([7]), torch.tensor([0]), rounding_mode="trunc")
torch.div(torch.tensor([True]), torch.tensor([True]), rounding_mode="floor")
torch.round(torch.ones(2), 2)
torch.round(torch.tensor([1, 2]), decimals=1)
torch.einsum("ij,jk->ik", torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64))
torch.index_select(torch.tensor(5.0), 0, torch.tensor([0, 0]))
torch.gather(torch.tensor(5.0), 0, torch.tensor([[0]]))
torch.gather(torch.ones(2), 3, torch.tensor([0]))
F.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(1, 2, 4))
F.linear(torch.ones(2, 3), torch.ones(1, 3), torch.ones(4))
F.batch_norm(torch.ones(3), None, None, training=True)
torch.empty(3).random_(5, 2)
F.max_pool2d(torch.ones(1, 1, 4, 4), 2, dilation=0)
F.max_pool2d(torch.ones(1, 1, 4, 4), 2, dilation=4)
torch.gather(torch.ones(2, 2), 0, torch.zeros(1, 3, dtype=torch.int64))
torch.linspace(torch.ones(2), torch.ones(2), 2)
torch.linspace(0, 1, -1)
torch.arange(0, math.inf)
torch.zeros(2, -1)
torch.full((-1,), 2)
torch.eye(2, -1)
torch.randint(5, 2, (3,))
torch.empty(2, 0).max()
torch.empty(2, 0).amax(1)
torch.max(2, 3)
torch.sum(3)
torch.norm(torch.ones(2, 2), "largest")
"""
KINDS = RuntimeError, TypeError, ValueError, IndexError, NotImplementedError


def names(library):
    def hooked(hook):
        x = library.ones(2, requires_grad=True)
        x.register_hook(hook)
        x.sum().backward()

    if library is minigrad:
        checkpoint = minigrad.autograd.checkpoint
    else:
        from torch.utils.checkpoint import checkpoint as any_checkpoint

        checkpoint = functools.partial(any_checkpoint, use_reentrant=True)
    found = {
        "checkpoint": checkpoint,
        "torch": library,
        "F": library.nn.functional,
        "math": math,
        "np": np,
    }
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
