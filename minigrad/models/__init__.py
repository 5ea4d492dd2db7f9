"""minigrad.models: Whole networks, under the names that torchvision gives them."""

from minigrad.models.gpt import GPT
from minigrad.models.resnet import DIGITS, ResNet, resnet18, resnet_digits
