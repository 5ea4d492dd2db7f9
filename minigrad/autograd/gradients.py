"""Gradients added to the leaves, or returned: backward() and grad()."""

from collections.abc import Iterable, Sequence
from typing import Any

from minigrad import errors
from minigrad.graph.tensor import Tensor, collect, walk_back


def many(values: Any) -> tuple:
    """Return a tuple: of the values, or of the only one."""
    several = isinstance(values, Iterable) and not isinstance(values, Tensor)
    return tuple(values) if several else (values,)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False) -> None:
    """Add the gradients of several tensors to the grad of their leaves."""
    roots = many(tensors)
    weights = [None] * len(roots) if grad_tensors is None else many(grad_tensors)
    collect(roots, weights, None, retain_graph, create_graph)


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
    weights = [None] * len(outputs) if grad_outputs is None else many(grad_outputs)
    ends = walk_back(outputs, weights, inputs, retain_graph, create_graph)
    if not allow_unused and any(x.edge not in ends for x in inputs):
        raise errors.unused()
    found = [ends.get(x.edge) for x in inputs]
    return tuple(g if isinstance(g, Tensor | None) else Tensor(g) for g in found)
