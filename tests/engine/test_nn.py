"""nn: modules and what they keep, initial values; reference/ has the layers."""

import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import minigrad
from minigrad import nn


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


@pytest.mark.parametrize("name", ["head", "scale", "shift", "training"])
def test_what_a_module_keeps_can_be_deleted(name):
    net = Net()
    delattr(net, name)
    assert not hasattr(net, name) and not any(name in n for n in net.state_dict())
    with pytest.raises(AttributeError, match=name):
        delattr(net, name)


def test_a_pickle_of_what_learns_is_refused_and_other_copies_are_not():
    with pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(Net())
    assert pickle.loads(pickle.dumps(minigrad.ones(2))).tolist() == [1, 1]
    assert numbers(copy.deepcopy(net := Net())) == numbers(net)


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


# State


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
        "    Missing key(s) in state_dict: ['scale', 'body.1.bias']",
        "    Unexpected key(s) in state_dict: ['extra', 'more']",
    ]
    assert numbers(net) == before


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


def test_layers_of_no_inputs_are_made():
    for call in ("nn.Linear(0, 3)(minigrad.zeros(2, 0))", "nn.Conv2d(0, 2, 3).weight"):
        assert eval(call).shape[-1] == 3
    assert nn.init.kaiming_normal_(minigrad.zeros(3, 0)).shape == (3, 0)
    of_nothing = nn.functional.batch_norm(
        minigrad.zeros(2, 0), None, None, None, None, True
    )
    assert of_nothing.shape == (2, 0)
    nothing = [minigrad.zeros(1, 1, 2, 0)] * 3
    assert nn.functional.scaled_dot_product_attention(*nothing).shape == (1, 1, 2, 0)
