"""Residual networks have torchvision's names; reference/ holds their numbers."""

import runpy
from pathlib import Path

import minigrad
from minigrad.models import DIGITS, resnet18, resnet_digits
from minigrad.training.data import load_digits

ROOT = Path(__file__).resolve().parents[2]


def test_names_and_sizes_are_torchvisions():
    model = resnet18()
    state = model.state_dict()
    assert sum(p.numel() for p in model.parameters()) == 11_689_512
    assert len(state) == 122
    assert state["conv1.weight"].shape == (64, 3, 7, 7)
    assert state["layer2.0.downsample.0.weight"].shape == (128, 64, 1, 1)
    assert state["layer4.1.bn2.running_var"].shape == (512,)
    assert state["fc.weight"].shape == (1000, 512)
    assert "layer1.0.downsample.0.weight" not in state


def test_the_weights_that_ship_know_the_digits_0_to_4():
    model = resnet_digits(DIGITS)
    model.eval()
    images, classes = load_digits().tensors
    few = classes.array < 5
    with minigrad.no_grad():
        found = model(images[minigrad.tensor(few)]).argmax(1)
    assert (found.array == classes.array[few]).mean() > 0.98
    assert DIGITS.stat().st_size < 500_000


def test_only_known_digits_are_learnt_before_and_none_is_tested():
    pretrain = runpy.run_path(str(ROOT / "chapters/22_freeze/pretrain.py"))
    learnt, tested = pretrain["first_digits"]()
    assert len(learnt) + len(tested) == 901
    assert not set(learnt.indices) & set(tested.indices)
    assert {int(label) for _, label in learnt} == {0, 1, 2, 3, 4}
