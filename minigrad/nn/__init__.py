"""minigrad.nn: The part of torch.nn that minigrad has."""

from minigrad import errors
from minigrad.nn import functional, init
from minigrad.nn.activations import GELU, ReLU, Tanh
from minigrad.nn.containers import ModuleList, Sequential
from minigrad.nn.conv import Conv2d
from minigrad.nn.dropout import Dropout
from minigrad.nn.embedding import Embedding
from minigrad.nn.linear import Flatten, Identity, Linear
from minigrad.nn.losses import CrossEntropyLoss, MSELoss
from minigrad.nn.module import Module, Parameter
from minigrad.nn.normalization import BatchNorm1d, BatchNorm2d, LayerNorm
from minigrad.nn.pooling import MaxPool2d


def __getattr__(name):
    raise errors.no_attribute("minigrad.nn", name)
