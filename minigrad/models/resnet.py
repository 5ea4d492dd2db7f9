"""Residual networks, with torchvision's names for all that they hold.

So the weights that torchvision offers load from a file: resnet18(weights=path), where
path is a .safetensors file with the state_dict of torchvision's resnet18.
Source: K. He et al., "Deep Residual Learning for Image Recognition", 2015.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import ClassVar

from minigrad.nn import (
    AdaptiveAvgPool2d,
    BatchNorm2d,
    Conv2d,
    Identity,
    Linear,
    MaxPool2d,
    Module,
    ReLU,
    Sequential,
    init,
)
from minigrad.training.saving import load


def conv3x3(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a convolution that keeps height and width; stride 2 halves them."""
    return Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)


def conv1x1(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """Return a convolution of single pixels."""
    return Conv2d(inputs, outputs, 1, stride=stride, bias=False)


class BasicBlock(Module):
    """Two convolutions, and beside them a way on which x comes through: relu(f(x) + x).

    From (N, inputs, H, W) to (N, width, H / stride, W / stride).
    """

    expansion: ClassVar[int] = 1

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


class Bottleneck(Module):
    """Three convolutions, narrow in the middle: from inputs to 4 width channels."""

    expansion: ClassVar[int] = 4

    def __init__(self, inputs: int, width: int, stride: int = 1):
        super().__init__()
        outputs = width * self.expansion
        self.conv1, self.bn1 = conv1x1(inputs, width), BatchNorm2d(width)
        self.conv2, self.bn2 = conv3x3(width, width, stride), BatchNorm2d(width)
        self.conv3, self.bn3 = conv1x1(width, outputs), BatchNorm2d(outputs)
        self.relu = ReLU()
        self.downsample = shortcut(inputs, outputs, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (self.downsample(x) if self.downsample else x))


def shortcut(inputs: int, outputs: int, stride: int) -> Sequential | None:
    """Return what makes x fit beside f(x); None where it fits as it is."""
    if stride == 1 and inputs == outputs:
        return None
    return Sequential(conv1x1(inputs, outputs, stride), BatchNorm2d(outputs))


def stage(
    block: type[BasicBlock | Bottleneck],
    count: int,
    inputs: int,
    width: int,
    stride: int,
) -> Sequential:
    """Return blocks in a row; the first brings images to their new size."""
    first, outputs = block(inputs, width, stride), width * block.expansion
    return Sequential(first, *(block(outputs, width) for _ in range(count - 1)))


def kaiming(module: Module) -> None:
    """Give a convolution weights that keep the size of gradients."""
    if isinstance(module, Conv2d):
        init.kaiming_normal_(module.weight, 0.0, "fan_out", "relu")


class ResNet(Module):
    """Blocks in stages, each but the first half as high and wide as the one before.

    `layers` says how many blocks each stage has, `widths` how many channels. Images are
    (N, channels, H, W), the result (N, num_classes): scores, not probabilities. For
    `small` images the first convolution is 3 x 3, and nothing is pooled after it.
    """

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        widths: Sequence[int] = (64, 128, 256, 512),
        channels: int = 3,
        small: bool = False,
    ):
        super().__init__()
        self.conv1 = Conv2d(channels, widths[0], 7, stride=2, padding=3, bias=False)
        self.bn1, self.relu = BatchNorm2d(widths[0]), ReLU()
        self.maxpool = MaxPool2d(3, stride=2, padding=1)
        if small:
            self.conv1, self.maxpool = conv3x3(channels, widths[0]), Identity()
        self.stages, inputs = [], widths[0]
        for i, (count, width) in enumerate(zip(layers, widths, strict=True)):
            self.stages.append(f"layer{i + 1}")
            blocks = stage(block, count, inputs, width, 2 if i else 1)
            setattr(self, self.stages[-1], blocks)
            inputs = width * block.expansion
        self.avgpool, self.fc = AdaptiveAvgPool2d(1), Linear(inputs, num_classes)
        self.apply(kaiming)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in self.stages:
            x = getattr(self, stage)(x)
        return self.fc(self.avgpool(x).flatten(1))


def resnet(
    block: type, layers: Sequence[int], weights: str | PathLike | None
) -> ResNet:
    """Return a network for 224 x 224 color images and ImageNet's 1,000 classes."""
    model = ResNet(block, layers)
    if weights is not None:
        model.load_state_dict(load(weights))
    return model


def resnet18(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 18 layers; `weights` is a .safetensors file."""
    return resnet(BasicBlock, (2, 2, 2, 2), weights)


def resnet34(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 34 layers; `weights` is a .safetensors file."""
    return resnet(BasicBlock, (3, 4, 6, 3), weights)


def resnet50(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 50 layers; `weights` is a .safetensors file."""
    return resnet(Bottleneck, (3, 4, 6, 3), weights)


def resnet101(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 101 layers; `weights` is a .safetensors file."""
    return resnet(Bottleneck, (3, 4, 23, 3), weights)


def resnet152(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 152 layers; `weights` is a .safetensors file."""
    return resnet(Bottleneck, (3, 8, 36, 3), weights)


DIGITS = Path(__file__).with_name("digits.safetensors")  # written by pretrain.py


def resnet_digits(weights: str | PathLike | None = None) -> ResNet:
    """Return a network of 8 layers for 8 x 8 gray images, and 5 classes.

    `weights` is a .safetensors file; with DIGITS it knows the digits 0 to 4.
    """
    model = ResNet(BasicBlock, (1, 1, 1), 5, (16, 32, 64), channels=1, small=True)
    if weights is not None:
        model.load_state_dict(load(weights))
    return model
