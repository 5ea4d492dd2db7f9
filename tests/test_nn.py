"""nn: modules and what they keep, initial values; tests/reference has the layers."""

import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn import functional as F
from minigrad.optim import SGD


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.head = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(minigrad.ones(1))
        self.register_buffer("shift", minigrad.zeros(2))

    def forward(self, x):
        return self.head(self.body(x)) * self.scale + self.shift


def numbers(module):
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


# What a module keeps


def test_a_plain_tensor_is_no_parameter():
    net = Net()
    net.table = minigrad.ones(3, requires_grad=True)
    assert "table" not in net.state_dict()
    assert "table" not in dict(net.named_parameters())


def test_a_buffer_that_is_assigned_stays_a_buffer():
    net = Net()
    net.shift = minigrad.ones(2)
    assert net.state_dict()["shift"].tolist() == [1, 1]
    assert "shift" not in vars(net)


def test_none_keeps_the_place():
    layer = nn.Linear(2, 3)
    layer.bias = None
    assert layer.bias is None and list(layer.state_dict()) == ["weight"]
    layer.bias = nn.Parameter(minigrad.zeros(3))
    assert list(layer.state_dict()) == ["weight", "bias"]
    net = Net()
    net.head = net.shift = None
    assert "head.weight" not in net.state_dict() and "shift" not in net.state_dict()
    assert "(head): None" in repr(net)
    assert [name for name, _ in net.named_children()] == ["body"]
    net.head = nn.Linear(1, 1)
    assert list(net.head.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize("value", [nn.ReLU(), nn.Parameter(minigrad.ones(1))])
def test_parts_wait_for_super_init(value):
    class Forgetful(nn.Module):
        def __init__(self):
            self.size = 3
            self.part = value

    with pytest.raises(AttributeError, match=r"cannot assign.*before super\(\)"):
        Forgetful()


def test_a_missing_forward_and_a_missing_attribute_are_named():
    with pytest.raises(AttributeError, match="'ModuleList' .* no attribute 'forward'"):
        nn.ModuleList()(1)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'tail'"):
        Net().tail  # noqa: B018


# Modes, hooks


def test_train_and_eval_reach_all_parts():
    net = Net()
    assert net.eval() is net and not any(m.training for m in net.modules())
    assert net.train() is net and all(m.training for m in net.modules())
    with pytest.raises(ValueError, match="expected to be boolean"):
        net.train([1, 2])


def test_requires_grad_freezes_and_thaws():
    net = Net().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    assert net.eval()(minigrad.ones(2, 3)).requires_grad is False
    assert all(p.requires_grad for p in net.requires_grad_().parameters())


def test_zero_grad_forgets_or_clears():
    net = Net()
    net(minigrad.randn(5, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(not p.grad.array.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_hooks_see_and_replace_what_goes_in_and_out():
    layer, seen = nn.ReLU(), []
    after = layer.register_forward_hook(lambda m, args, out: seen.append((m, args)))
    changes = layer.register_forward_hook(lambda m, args, out: out * 10)
    assert layer(minigrad.tensor(3.0)).item() == 30
    assert seen[0][0] is layer and seen[0][1][0].item() == 3
    for hook in (after, changes, changes):
        hook.remove()
    assert layer(minigrad.tensor(3.0)).item() == 3 and len(seen) == 1


# State


def test_a_state_dict_is_on_the_same_memory_and_not_recorded():
    net = Net()
    state = net.state_dict()
    assert not any(tensor.requires_grad for tensor in state.values())
    state["scale"].fill_(7.0)
    assert net.scale.item() == 7


def test_loading_copies_into_what_is_there():
    ours, other = Net(), Net()
    weight = ours.head.weight
    assert numbers(ours) != numbers(other)
    result = ours.load_state_dict(other.state_dict())
    assert numbers(ours) == numbers(other)
    assert ours.head.weight is weight and weight.requires_grad
    assert not np.shares_memory(weight.array, other.head.weight.array)
    assert result.missing_keys == result.unexpected_keys == []


def test_loading_turns_numbers_into_the_dtype_that_is_there():
    ours, other = Net(), Net().double()
    ours.load_state_dict(other.state_dict())
    assert ours.scale.dtype == minigrad.float32


def test_loading_reports_all_that_is_wrong_and_changes_nothing():
    net = Net()
    before, state = numbers(net), Net().state_dict()
    del state["scale"], state["body.1.bias"]
    state |= {"extra": minigrad.ones(1), "more": minigrad.ones(1)}
    state["head.weight"] = minigrad.ones(2, 5)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    assert str(caught.value).splitlines() == [
        "Error(s) in loading state_dict for Net:",
        "    size mismatch for head.weight: (2, 5), but (2, 4)",
        "    Missing key(s) in state_dict: scale, body.1.bias",
        "    Unexpected key(s) in state_dict: extra, more",
    ]
    assert numbers(net) == before


def test_loading_loosely_takes_what_fits_by_name():
    net, state = Net(), {"scale": minigrad.full((1,), 5.0), "extra": minigrad.ones(1)}
    missing, unexpected = net.load_state_dict(state, strict=False)
    assert net.scale.item() == 5 and unexpected == ["extra"]
    assert missing == [name for name in net.state_dict() if name != "scale"]
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        net.load_state_dict({"scale": minigrad.ones(2)}, strict=False)


def test_to_changes_floats_and_keeps_who_they_are():
    net = Net()
    parameters = list(net.parameters())
    sgd = SGD(parameters, lr=0.1)
    net(minigrad.randn(5, 3)).sum().backward()
    assert net.double() is net
    assert all(mine is now for mine, now in zip(parameters, net.parameters()))
    kinds = {name: str(t.dtype) for name, t in net.state_dict().items()}
    assert kinds.pop("body.1.num_batches_tracked") == "int64"
    assert set(kinds.values()) == {"float64"}
    assert all(p.requires_grad and p.grad.dtype == p.dtype for p in parameters)
    before = net.scale.item()
    net(minigrad.randn(5, 3, dtype=minigrad.float64)).sum().backward()
    sgd.step()
    assert net.scale.item() != before and net.scale.dtype == minigrad.float64
    assert net.to(minigrad.float32).scale.dtype == minigrad.float32
    assert net.to("cpu") is net and net.to(minigrad.float64).shift.dtype == "float64"


def thawed(module):
    return pickle.loads(pickle.dumps(module))


@pytest.mark.parametrize("twin", [copy.deepcopy, thawed])
def test_a_copy_has_the_same_numbers_on_its_own_memory(twin):
    net = Net().eval()
    net.tied = net.head
    other = twin(net)
    assert numbers(other) == numbers(net) and other.training is False
    assert other.tied is other.head and other.head is not net.head
    assert isinstance(other.scale, nn.Parameter) and other.scale.requires_grad
    other.scale.detach().fill_(9.0)
    assert net.scale.item() == 1
    x = minigrad.randn(4, 3)
    net.scale.detach().fill_(9.0)
    assert net(x).tolist() == other(x).tolist()


def test_a_module_dies_with_its_last_name():
    gc.disable()
    try:
        net = Net()
        net(minigrad.randn(5, 3)).sum().backward()
        gone = weakref.ref(net)
        del net
        assert gone() is None
    finally:
        gc.enable()


def test_a_parameter_is_a_leaf_on_the_memory_it_is_given():
    data = minigrad.ones(2, requires_grad=True) * 3
    parameter = nn.Parameter(data)
    assert parameter.is_leaf and parameter.requires_grad
    assert np.shares_memory(parameter.array, data.array)
    assert repr(parameter).startswith("Parameter containing:\ntensor([3., 3.], req")
    assert not nn.Parameter(minigrad.ones(1), requires_grad=False).requires_grad


# Printing

PRINTED = {
    "nn.Linear(2, 3, bias=False)": "Linear(in_features=2, out_features=3)",
    "nn.Conv2d(1, 2, (1, 3), 2)": "Conv2d(in_channels=1, out_channels=2, "
    "kernel_size=(1, 3), stride=(2, 2), padding=(0, 0))",
    "nn.GELU('tanh')": "GELU(approximate='tanh')",
    "nn.ModuleList([nn.Tanh()])": "ModuleList(\n  (0): Tanh()\n)",
    "nn.Sequential()": "Sequential()",
    "nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))": "Sequential(\n  (0): ReLU()\n"
    "  (1): Sequential(\n    (0): Tanh()\n  )\n)",
}


@pytest.mark.parametrize("layer", PRINTED)
def test_a_module_prints_what_it_is(layer):
    assert repr(eval(layer)) == PRINTED[layer]


# Containers


def test_a_sequential_is_a_list_of_layers():
    linear, relu, last = nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)
    model = nn.Sequential(linear, relu).append(last)
    assert list(model) == [linear, relu, last] and len(model) == 3
    assert model[-1] is last and list(model[1:]) == [relu, last]
    assert [name for name, _ in model[1:].named_children()] == ["1", "2"]
    model[1] = tanh = nn.Tanh()
    x = minigrad.randn(4, 2)
    assert model(x).tolist() == last(tanh(linear(x))).tolist()
    with pytest.raises(IndexError):
        model[3]


def test_a_module_list_holds_parts():
    model = nn.ModuleList(nn.Linear(i + 1, 1) for i in range(3))
    model.append(nn.ReLU()).append(nn.Tanh())
    assert len(model) == 5 and len(list(model.parameters())) == 6
    assert isinstance(model[1:3], nn.ModuleList) and model[1:3][0] is model[1]
    model[-1] = softmax = nn.Softmax(1)
    assert list(model)[4] is softmax


# Sums and statistics


def test_many_equal_windows_add_up_exactly_in_a_kernels_gradient():
    # not compared with PyTorch: on some processors its own sums are 5e-4 off
    x = minigrad.full((1, 3, 1, 60000), 0.1)
    w = minigrad.ones(2, 3, 1, 1, requires_grad=True)
    (F.conv2d(x, w) * 0.1).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 600, rtol=1e-5)


# Dropout


def test_dropout_drops_a_share_and_scales_the_rest():
    minigrad.manual_seed(0)
    x = minigrad.ones(200, 200, requires_grad=True)
    out = nn.Dropout(0.25)(x)
    values, counts = np.unique(out.detach().numpy(), return_counts=True)
    np.testing.assert_allclose(values, [0, 4 / 3], 1e-6)
    assert counts[0] / 40_000 == pytest.approx(0.25, abs=0.01)
    assert out.mean().item() == pytest.approx(1, abs=0.01)
    out.sum().backward()
    assert x.grad.tolist() == out.tolist()


# Wrong arguments


# Initial values


@pytest.mark.parametrize("shape", [(40, 30), (20, 6, 3, 3)])
@pytest.mark.parametrize(
    ("call", "std"),
    [
        ("kaiming_normal_(w)", lambda i, o: math.sqrt(2 / i)),
        ("kaiming_normal_(w, nonlinearity='relu')", lambda i, o: math.sqrt(2 / i)),
        ("kaiming_normal_(w, a=2)", lambda i, o: math.sqrt(2 / 5 / i)),
        ("kaiming_normal_(w, mode='fan_out')", lambda i, o: math.sqrt(2 / o)),
        ("normal_(w, 0.0, 3.0)", lambda i, o: 3.0),
        ("uniform_(w, -1, 1)", lambda i, o: 1 / math.sqrt(3)),
    ],
)
def test_initial_values_spread_as_said(call, std, shape):
    minigrad.manual_seed(1)
    weight = nn.Parameter(minigrad.zeros(shape))
    result = eval(call, vars(nn.init) | {"w": weight})
    assert result is weight and weight.is_leaf and weight.requires_grad
    expected = std(*(nn.init.fan(weight, mode) for mode in ("fan_in", "fan_out")))
    found = weight.detach().numpy()
    assert found.std() == pytest.approx(expected, rel=0.08)
    assert abs(found.mean()) < 0.12 * expected
    if "uniform" in call:
        bound = expected * math.sqrt(3)
        assert 0.97 * bound < np.abs(found).max() <= bound * (1 + 1e-6)


def test_who_forgets_to_begin_a_module_is_told_so():
    class Unbegun(nn.Module):
        def __init__(self):
            self.x = 3

    for ask in (lambda m: list(m.parameters()), nn.Module.state_dict, nn.Module.train):
        with pytest.raises(AttributeError, match=r"before super\(\)"):
            ask(Unbegun())
