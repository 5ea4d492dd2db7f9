"""Attention: Each query mixes the values, weighted by how well their keys fit."""

import math

import numpy as np

from minigrad.array.sums import max_along
from minigrad.graph.tensor import Tensor
from minigrad.nn.dropout import dropout
from minigrad.rules import pointwise
from minigrad.rules.op import called
from minigrad.rules.softmax import softmax


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None
):
    """Return softmax(query @ key.mT * scale + mask) @ value, for (..., length, width).

    A boolean mask is True where a query may look. With is_causal, no query sees later
    keys.
    """
    if attn_mask is not None and is_causal:
        raise RuntimeError("attn_mask and is_causal: only one of them can be set")
    scale = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    scores = (query * scale) @ key.mT
    if is_causal:
        attn_mask = Tensor(np.tri(*scores.shape[-2:], dtype=bool))
    if attn_mask is not None and attn_mask.dtype == bool:
        attn_mask = pointwise.where(attn_mask, 0.0, -math.inf)
    if attn_mask is not None:
        scores = scores + attn_mask
    out = dropout(safe_softmax(scores, attn_mask), dropout_p) @ value
    name = "ScaledDotProductFlashAttentionForCpu"
    return called(name, out) if query.ndim == 4 else out


def safe_softmax(scores, attn_mask):
    """Return the softmax along the last axis, with zeros in a fully masked row."""
    if attn_mask is None or (scores.array[..., :1] > -math.inf).all():
        return softmax(scores, -1)  # each query sees the first key, so none is blind
    blind = Tensor(max_along(scores.array, -1) == -math.inf)
    return softmax(scores.masked_fill(blind, 0.0), -1).masked_fill(blind, 0.0)
