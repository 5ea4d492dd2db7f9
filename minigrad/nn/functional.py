"""torch.nn.functional's names. Each function is in the file of its layer."""
# ruff: noqa: F401

from minigrad import errors
from minigrad.nn.activations import gelu
from minigrad.nn.attention import scaled_dot_product_attention
from minigrad.nn.conv import conv2d
from minigrad.nn.dropout import dropout
from minigrad.nn.embedding import embedding
from minigrad.nn.linear import linear
from minigrad.nn.losses import binary_cross_entropy_with_logits, cross_entropy, mse_loss
from minigrad.nn.normalization import batch_norm, layer_norm
from minigrad.nn.padding import pad
from minigrad.nn.pooling import max_pool2d
from minigrad.rules.pointwise import relu, sigmoid, tanh
from minigrad.rules.softmax import log_softmax, softmax


def __getattr__(name):
    raise errors.no_attribute("minigrad.nn.functional", name)
