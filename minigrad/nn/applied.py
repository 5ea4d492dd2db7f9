"""Layers without parameters: activations, pools, losses, each around its function."""

from typing import Any

from minigrad.array.arguments import MISSING, parameters_of
from minigrad.graph.tensor import Tensor, kind
from minigrad.nn import functional as F
from minigrad.nn.losses import chosen
from minigrad.nn.module import Module


class Applies(Module):
    """What layers without parameters have in common: a function and its options.

    `inputs` is how many of the function's arguments come with each call; the others are
    the layer's options, of which `shown` names those that print.
    """

    inputs, shown = 1, ""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        defaults = dict(list(parameters_of(self.function).items())[self.inputs :])
        in_order = self.function.__code__.co_argcount - self.inputs  # others: by name
        options = defaults | dict(zip(defaults, args)) | kwargs
        if len(args) > in_order or not are_complete(options, defaults):
            takes = f"the options ({', '.join(defaults)})" if defaults else "no options"
            inputs = "input, target" if self.inputs == 2 else "input"
            raise TypeError(
                f"{kind(self)} takes {takes}, not ({listed(args, kwargs)}). What it is "
                f"applied to comes later: {kind(self)}(...)({inputs})"
            )
        self.options = tuple(options)
        for name, value in options.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *inputs):
        options = {name: getattr(self, name) for name in self.options}
        return self.function(*inputs, **options)

    def extra_repr(self):
        shown = {name: getattr(self, name) for name in self.shown.split()}
        if not shown.get("inplace", True):
            del shown["inplace"]
        return listed((), shown)


def are_complete(options: dict, defaults: dict) -> bool:
    """Return whether these are all of the options, and none is an input."""
    return options.keys() == defaults.keys() and not any(
        value is MISSING or isinstance(value, Tensor) and not name.endswith("weight")
        for name, value in options.items()
    )


def listed(args: tuple, kwargs: dict) -> str:
    """Return arguments as they were written; of tensors only that they are some."""
    words = [("", value) for value in args]
    words += [(f"{name}=", value) for name, value in kwargs.items()]
    return ", ".join(
        f"{name}{kind(value) if isinstance(value, Tensor) else repr(value)}"
        for name, value in words
    )


class Loss(Applies):
    """What losses have in common: called with an input and a target."""

    inputs = 2

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.reduction = chosen(self.size_average, self.reduce, self.reduction)
        self.size_average = self.reduce = None


class Pool(Applies):
    """What pools have in common: windows that touch, unless a stride is given."""

    shown = "kernel_size stride padding"

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.stride = self.kernel_size if self.stride is None else self.stride


class ReLU(Applies):
    """max(x, 0)."""

    function, shown = staticmethod(F.relu), "inplace"


class LeakyReLU(Applies):
    """x where it is positive, negative_slope * x elsewhere."""

    function, shown = staticmethod(F.leaky_relu), "negative_slope inplace"


class ELU(Applies):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    function, shown = staticmethod(F.elu), "alpha inplace"


class GELU(Applies):
    """x times the share of a normal distribution below x."""

    function, shown = staticmethod(F.gelu), "approximate"


class SiLU(Applies):
    """x * sigmoid(x)."""

    function, shown = staticmethod(F.silu), "inplace"


class Sigmoid(Applies):
    """1 / (1 + exp(-x))."""

    function = staticmethod(lambda input: F.sigmoid(input))  # tells its parameters


class Tanh(Applies):
    """tanh(x)."""

    function = staticmethod(lambda input: F.tanh(input))  # tells its parameters


class Softplus(Applies):
    """log(1 + exp(beta * x)) / beta."""

    function, shown = staticmethod(F.softplus), "beta threshold"


class Softmax(Applies):
    """exp(x) as shares of its sum along dim."""

    function, shown = staticmethod(F.softmax), "dim"


class LogSoftmax(Applies):
    """The logarithm of softmax."""

    function, shown = staticmethod(F.log_softmax), "dim"


class MaxPool2d(Pool):
    """The largest number in each window."""

    shown = "kernel_size stride padding dilation ceil_mode"

    @staticmethod
    def function(  # PyTorch's order of the last two is not that of F.max_pool2d
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        options = stride, padding, dilation, ceil_mode, return_indices
        return F.max_pool2d(input, kernel_size, *options)


class AvgPool2d(Pool):
    """The mean of each window."""

    function = staticmethod(F.avg_pool2d)


class AdaptiveAvgPool2d(Applies):
    """Means over windows that give a chosen size."""

    function, shown = staticmethod(F.adaptive_avg_pool2d), "output_size"


class MSELoss(Loss):
    """The mean of the squared differences."""

    @staticmethod
    def function(input, target, size_average=None, reduce=None, reduction="mean"):
        return F.mse_loss(input, target, size_average, reduce, reduction)


class L1Loss(Loss):
    """The mean of the absolute differences."""

    @staticmethod
    def function(input, target, size_average=None, reduce=None, reduction="mean"):
        return F.l1_loss(input, target, size_average, reduce, reduction)


class NLLLoss(Loss):
    """Minus the log-probability of the right class, on average."""

    function = staticmethod(F.nll_loss)


class CrossEntropyLoss(Loss):
    """The cross-entropy of scores and the right classes."""

    function = staticmethod(F.cross_entropy)


class BCELoss(Loss):
    """The binary cross-entropy of probabilities."""

    function = staticmethod(F.binary_cross_entropy)


class BCEWithLogitsLoss(Loss):
    """The binary cross-entropy of scores."""

    function = staticmethod(F.binary_cross_entropy_with_logits)
