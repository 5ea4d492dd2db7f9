"""minigrad.nn: what torch.nn has, as far as minigrad has it."""

from minigrad.nn import backward_hooks, functional, init, utils
from minigrad.nn.applied import (
    ELU,
    GELU,
    AdaptiveAvgPool2d,
    AvgPool2d,
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    L1Loss,
    LeakyReLU,
    LogSoftmax,
    MaxPool2d,
    MSELoss,
    NLLLoss,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from minigrad.nn.containers import ModuleList, Sequential
from minigrad.nn.layers import (
    BatchNorm1d,
    BatchNorm2d,
    Conv2d,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    Linear,
)
from minigrad.nn.module import Module, Parameter
