"""Gradients added to the leaves, or returned: backward() and grad()."""

from collections.abc import Sequence
from typing import Any

from minigrad.graph.tensor import Tensor, collect, kind, walk_back


def many(values: Any) -> tuple:
    """Return a tuple: of the values, or of the only one."""
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False) -> None:
    """Add the gradients of several tensors to the grad of their leaves."""
    roots = many(tensors)
    weights = [None] * len(roots) if grad_tensors is None else many(grad_tensors)
    collect(roots, weights, retain_graph, create_graph, None)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradient of the outputs' sum, weighted by grad_outputs, by input.

    No `grad` changes. An input that is not used is an error, or with allow_unused None.
    """
    outputs, inputs = many(outputs), many(inputs)
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"inputs must be a Tensor, or several, not {kind(x)}")
    weights = [None] * len(outputs) if grad_outputs is None else many(grad_outputs)
    ends = walk_back(outputs, weights, inputs, retain_graph, create_graph)
    if not allow_unused and any(x.edge not in ends for x in inputs):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior."
        )
    found = [ends.get(x.edge) for x in inputs]
    return tuple(g if isinstance(g, Tensor | None) else Tensor(g) for g in found)
