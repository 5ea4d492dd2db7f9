"""Residual networks, with torchvision's names for all of their parts.

So torchvision's weights can be loaded from a file with resnet18(weights=path), where
path is a .safetensors file with the state_dict of torchvision's resnet18. Source: K. He
et al., "Deep Residual Learning for Image Recognition", 2015.
"""

from pathlib import Path

from minigrad.nn import BatchNorm2d, Conv2d, Linear, MaxPool2d, Module, ReLU, Sequential
from minigrad.nn.init import kaiming_normal_
from minigrad.training.saving import load


def conv3x3(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a convolution that keeps height and width. Stride 2 halves them."""
    return Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)


def conv1x1(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a convolution of single pixels."""
    return Conv2d(inputs, outputs, 1, stride=stride, bias=False)


class BasicBlock(Module):
    """Two convolutions and a shortcut for x around them: relu(f(x) + x).

    It turns (N, inputs, H, W) into (N, width, H / stride, W / stride).
    """

    def __init__(self, inputs: int, width: int, stride: int = 1):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(inputs, width, stride), BatchNorm2d(width)
        self.conv2, self.bn2 = conv3x3(width, width), BatchNorm2d(width)
        self.relu = ReLU()
        self.downsample = shortcut(inputs, width, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (self.downsample(x) if self.downsample else x))


def shortcut(inputs: int, outputs: int, stride: int) -> Sequential | None:
    """Return the modules that make x fit f(x), or None if x fits as it is."""
    if stride == 1 and inputs == outputs:
        return None
    return Sequential(conv1x1(inputs, outputs, stride), BatchNorm2d(outputs))


def stage(count: int, inputs: int, width: int, stride: int) -> Sequential:
    """Return a sequence of blocks, the first of which changes the size of images."""
    first = BasicBlock(inputs, width, stride)
    return Sequential(first, *(BasicBlock(width, width) for _ in range(count - 1)))


class ResNet(Module):
    """Blocks in stages. Each stage but the first halves the height and the width.

    `layers` has each stage's number of blocks, and `widths` each stage's number of
    channels. Images are (N, channels, H, W). The result is scores (N, num_classes), and
    not probabilities. For `small` images, the first convolution is 3 x 3, and no
    pooling follows it.
    """

    def __init__(self, layers, num_classes, widths, channels=3, small=False):
        super().__init__()
        self.conv1 = Conv2d(channels, widths[0], 7, stride=2, padding=3, bias=False)
        self.bn1, self.relu = BatchNorm2d(widths[0]), ReLU()
        self.maxpool = MaxPool2d(3, stride=2, padding=1)
        if small:
            self.conv1, self.maxpool = conv3x3(channels, widths[0]), Sequential()
        self.stages, inputs = [], widths[0]
        for i, (count, width) in enumerate(zip(layers, widths, strict=True)):
            self.stages.append(f"layer{i + 1}")
            setattr(self, self.stages[-1], stage(count, inputs, width, 2 if i else 1))
            inputs = width
        self.fc = Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, Conv2d):
                kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in self.stages:
            x = getattr(self, stage)(x)
        return self.fc(x.mean((2, 3)))


def loaded(model: ResNet, weights: str | Path | None) -> ResNet:
    """Return a model, with weights from a .safetensors file if there is one."""
    if weights is not None:
        model.load_state_dict(load(weights))
    return model


def resnet18(weights: str | Path | None = None) -> ResNet:
    """Return a network of 18 layers for 224 x 224 color images, and 1,000 classes."""
    return loaded(ResNet((2, 2, 2, 2), 1000, (64, 128, 256, 512)), weights)


DIGITS = Path(__file__).with_name("digits.safetensors")


def resnet_digits(weights: str | Path | None = None) -> ResNet:
    """Return a network of 8 layers for 8 x 8 gray images and 5 classes.

    `weights` is a .safetensors file. With the file DIGITS, it knows the digits 0 to 4.
    """
    model = ResNet((1, 1, 1), 5, (16, 32, 64), channels=1, small=True)
    return loaded(model, weights)
