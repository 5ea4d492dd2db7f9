"""Layers: each a few lines around a function of nn.functional."""

import math

from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.conv import check_padding, pair
from minigrad.nn.module import Module, Parameter
from minigrad.rules.operands import check_tensors
from minigrad.rules.shape import flatten
from minigrad.tensors import creation


class Linear(Module):
    """x @ weight.T + bias: (..., in_features) to (..., out_features).

    Both start uniform within 1 / sqrt(in_features), as in PyTorch.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(creation.empty(out_features, in_features))
        self.register_parameter("bias", None)
        if bias:
            self.bias = Parameter(creation.empty(out_features))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        bias = self.bias is not None
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={bias}"
        )


class Conv2d(Module):
    """The convolution of images (N, in_channels, H, W)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple,
        stride: int | tuple = 1,
        padding: int | tuple = 0,
        dilation: int | tuple = 1,
        groups: int = 1,
        bias: bool = True,
    ):
        super().__init__()
        if groups < 1:
            raise ValueError(f"groups must be a positive integer, not {groups}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels and out_channels, {in_channels} and {out_channels}, must "
                f"be divisible by groups, {groups}"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = pair(kernel_size)
        self.stride = pair(stride)
        check_padding(padding, self.stride)
        self.padding = padding if isinstance(padding, str) else pair(padding)
        self.dilation, self.groups = pair(dilation), groups
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(creation.empty(shape))
        self.register_parameter("bias", None)
        if bias:
            self.bias = Parameter(creation.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform within 1 / sqrt(fan_in)."""
        fan_in = init.fans(self.weight)[0]
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input):
        options = self.stride, self.padding, self.dilation, self.groups
        return F.conv2d(input, self.weight, self.bias, *options)

    def extra_repr(self):
        names = "kernel_size", "stride", "padding", "dilation", "groups"
        usual = {"padding": (0, 0), "dilation": (1, 1), "groups": 1}
        words = [f"{self.in_channels}, {self.out_channels}"]
        for name in names:
            if getattr(self, name) != usual.get(name):
                words.append(f"{name}={getattr(self, name)}")
        return ", ".join(words + ["bias=False"] * (self.bias is None))


def scale_nothing(norm: Module) -> None:
    """Set the weight of a norm to 1 and its bias to 0, if it has them."""
    if norm.weight is not None:
        init.ones_(norm.weight)
    if norm.bias is not None:
        init.zeros_(norm.bias)


class BatchNorm1d(Module):
    """Normalizes each channel of (N, C) or (N, C, L): over the batch in training."""

    dims = (2, 3)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        ones, zeros = creation.ones(num_features), creation.zeros(num_features)
        self.register_parameter("weight", Parameter(ones) if affine else None)
        self.register_parameter("bias", Parameter(zeros) if affine and bias else None)
        track = track_running_stats
        self.register_buffer("running_mean", zeros.clone() if track else None)
        self.register_buffer("running_var", ones.clone() if track else None)
        self.register_buffer(
            "num_batches_tracked", creation.tensor(0) if track else None
        )

    def reset_running_stats(self) -> None:
        """Forget all batches that were seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Begin anew: scale 1, shift 0, no batch seen."""
        self.reset_running_stats()
        scale_nothing(self)

    def forward(self, input):
        check_tensors("batch_norm", input)
        if input.ndim not in self.dims:
            wanted = " or ".join(f"{n}D" for n in self.dims)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")
        momentum = self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the mean of all batches
                momentum = 1 / self.num_batches_tracked.item()
        return F.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            momentum,
            self.eps,
        )

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm2d(BatchNorm1d):
    """Normalizes each channel of (N, C, H, W): over the batch in training."""

    dims = (4,)


class LayerNorm(Module):
    """Normalizes each example over its last axes."""

    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ):
        super().__init__()
        one = isinstance(normalized_shape, int)
        shape = (normalized_shape,) if one else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if elementwise_affine:
            self.weight = Parameter(creation.ones(shape))
        if elementwise_affine and bias:
            self.bias = Parameter(creation.zeros(shape))

    def reset_parameters(self) -> None:
        """Begin anew: scale 1, shift 0."""
        scale_nothing(self)

    def forward(self, input):
        return F.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Module):
    """A table of vectors, looked up by integers."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise IndexError(
                    f"Padding_idx must be within num_embeddings, {num_embeddings}, "
                    f"and is {padding_idx}"
                )
            self.padding_idx = padding_idx % num_embeddings
        self.weight = Parameter(creation.zeros(num_embeddings, embedding_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new vectors, but zeros at padding_idx."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        padding = (
            "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        )
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class Dropout(Module):
    """Sets each number to 0 with probability p, in training only."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Flatten(Module):
    """Makes one axis of those from start_dim to end_dim."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """Returns what it gets, whatever it was made with: it may stand for any layer."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input
