"""Operations under the names that PyTorch gives their nodes."""

import copy
from functools import lru_cache
from typing import Any

from minigrad.graph.node import Node
from minigrad.graph.tensor import Tensor
from minigrad.rules.op import Op


@lru_cache  # 128 at most: an operation that a learner replaced can go
def renamed(op: Op, name: str) -> Op:
    """Return the same operation under another name."""
    op = copy.copy(op)
    op.name = name
    return op


def called(name: str, tensor: Tensor) -> Tensor:
    """Give a result of several operations the name of the one that PyTorch has."""
    if tensor.grad_fn is not None:
        tensor.edge.op = renamed(tensor.edge.op, name)
    return tensor


class AlongAxes(Op):
    """An operation whose node is numbered 1 where it is given axes: x.sum(0)."""

    def record(self, targets: list, known: dict[str, Any]) -> Node:
        """Return the node, under the name that tells whether there was a `dim`."""
        node = super().record(targets, known)
        if known["dim"] is not None:
            node.op = renamed(self, f"{self.name}Backward1")
        return node
