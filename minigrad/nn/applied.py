"""Layers without parameters: activations, pools, losses, each around its function."""

from minigrad.nn import functional as F
from minigrad.nn.module import Module


class Applies(Module):
    """What layers without parameters have in common: a function and its options."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.args, self.kwargs = args, kwargs

    def forward(self, *inputs):
        return type(self).function(*inputs, *self.args, **self.kwargs)

    def extra_repr(self):
        words = [*map(str, self.args), *(f"{k}={v}" for k, v in self.kwargs.items())]
        return ", ".join(words)


class ReLU(Applies):
    """max(x, 0)."""

    function = staticmethod(F.relu)


class LeakyReLU(Applies):
    """x where it is positive, negative_slope * x elsewhere."""

    function = staticmethod(F.leaky_relu)


class ELU(Applies):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    function = staticmethod(F.elu)


class GELU(Applies):
    """x times the share of a normal distribution below x."""

    function = staticmethod(F.gelu)


class SiLU(Applies):
    """x * sigmoid(x)."""

    function = staticmethod(F.silu)


class Sigmoid(Applies):
    """1 / (1 + exp(-x))."""

    function = staticmethod(F.sigmoid)


class Tanh(Applies):
    """tanh(x)."""

    function = staticmethod(F.tanh)


class Softplus(Applies):
    """log(1 + exp(beta * x)) / beta."""

    function = staticmethod(F.softplus)


class Softmax(Applies):
    """exp(x) as shares of its sum along dim."""

    function = staticmethod(F.softmax)


class LogSoftmax(Applies):
    """The logarithm of softmax."""

    function = staticmethod(F.log_softmax)


class MaxPool2d(Applies):
    """The largest number in each window."""

    function = staticmethod(F.max_pool2d)


class AvgPool2d(Applies):
    """The mean of each window."""

    function = staticmethod(F.avg_pool2d)


class AdaptiveAvgPool2d(Applies):
    """Means over windows that give a chosen size."""

    function = staticmethod(F.adaptive_avg_pool2d)


class MSELoss(Applies):
    """The mean of the squared differences."""

    function = staticmethod(F.mse_loss)


class L1Loss(Applies):
    """The mean of the absolute differences."""

    function = staticmethod(F.l1_loss)


class NLLLoss(Applies):
    """Minus the log-probability of the right class, on average."""

    function = staticmethod(F.nll_loss)


class CrossEntropyLoss(Applies):
    """The cross-entropy of scores and the right classes."""

    function = staticmethod(F.cross_entropy)


class BCELoss(Applies):
    """The binary cross-entropy of probabilities."""

    function = staticmethod(F.binary_cross_entropy)


class BCEWithLogitsLoss(Applies):
    """The binary cross-entropy of scores."""

    function = staticmethod(F.binary_cross_entropy_with_logits)
