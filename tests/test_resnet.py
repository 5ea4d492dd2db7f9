"""Residual networks have torchvision's names, and compute what PyTorch computes."""

import numpy as np
import pytest

import minigrad
from minigrad.models import DIGITS, ResNet, resnet18, resnet_digits
from minigrad.models.pretrain import first_digits
from minigrad.training.data import load_digits


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


def test_weights_load_from_a_file(tmp_path):
    model = resnet18()
    minigrad.save(model.state_dict(), tmp_path / "weights.safetensors")
    other = resnet18(weights=tmp_path / "weights.safetensors")
    for name, tensor in model.state_dict().items():
        assert np.array_equal(other.state_dict()[name].array, tensor.array), name


def torch_resnet(torch, layers, widths):
    """The same network, written for PyTorch."""
    nn = torch.nn

    def conv(i, o, size, stride=1):
        return nn.Conv2d(i, o, size, stride, size // 2, bias=False)

    class Block(nn.Module):
        def __init__(self, i, w, stride):
            super().__init__()
            self.conv1, self.bn1 = conv(i, w, 3, stride), nn.BatchNorm2d(w)
            self.conv2, self.bn2 = conv(w, w, 3), nn.BatchNorm2d(w)
            self.downsample = None
            if stride > 1 or i != w:
                norm = nn.BatchNorm2d(w)
                self.downsample = nn.Sequential(conv(i, w, 1, stride), norm)

        def forward(self, x):
            y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
            return (y + (self.downsample(x) if self.downsample else x)).relu()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = conv(3, widths[0], 7, 2), nn.BatchNorm2d(widths[0])
            i = widths[0]
            for n, (count, w) in enumerate(zip(layers, widths)):
                blocks = []
                for k in range(count):
                    blocks.append(Block(i, w, 2 if n and not k else 1))
                    i = w
                setattr(self, f"layer{n + 1}", nn.Sequential(*blocks))
            self.fc = nn.Linear(i, 7)

        def forward(self, x):
            x = nn.functional.max_pool2d(self.bn1(self.conv1(x)).relu(), 3, 2, 1)
            for n in range(len(layers)):
                x = getattr(self, f"layer{n + 1}")(x)
            return self.fc(x.mean((2, 3)))

    return Net().double()


@pytest.mark.parametrize("train", [True, False])
def test_logits_and_gradients_are_pytorchs(train):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers, widths = (1, 2, 1, 1), (8, 12, 16, 20)
    theirs = torch_resnet(torch, layers, widths)
    for name, buffer in theirs.named_buffers():
        if "running" in name:
            buffer.uniform_(0.5, 1.5)
    ours = ResNet(layers, num_classes=7, widths=widths).double()
    state = theirs.state_dict().items()
    ours.load_state_dict({n: minigrad.tensor(t.numpy()) for n, t in state})
    ours.train(train), theirs.train(train)
    x = torch.randn(3, 3, 64, 64, dtype=torch.float64)
    classes = torch.tensor([1, 6, 0])
    scores = theirs(x)
    torch.nn.functional.cross_entropy(scores, classes).backward()
    got = ours(minigrad.from_numpy(x.numpy()))
    target = minigrad.from_numpy(classes.numpy())
    minigrad.nn.functional.cross_entropy(got, target).backward()
    np.testing.assert_allclose(got.detach().numpy(), scores.detach().numpy(), 1e-8)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad, q.grad, 1e-7, 1e-10, err_msg=name)
    for (name, b), c in zip(ours.named_buffers(), theirs.buffers(), strict=True):
        np.testing.assert_allclose(b.numpy(), c.numpy(), 1e-10, err_msg=name)


def test_a_network_for_small_images():
    model = ResNet((1, 1), 5, widths=(4, 8), channels=1, small=True)
    assert model(minigrad.rand(2, 1, 8, 8)).shape == (2, 5)
    halved = model.layer2(model.layer1(model.conv1(minigrad.rand(2, 1, 8, 8))))
    assert halved.shape == (2, 8, 4, 4)


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
    learnt, tested = first_digits()
    assert len(learnt) + len(tested) == 901
    assert not set(learnt.indices) & set(tested.indices)
    assert {int(label) for _, label in learnt} == {0, 1, 2, 3, 4}
