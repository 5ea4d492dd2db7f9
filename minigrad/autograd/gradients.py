"""Gradients added to the leaves, or returned: backward() and grad()."""

from collections.abc import Iterable, Sequence
from typing import Any

from minigrad.graph.tensor import Tensor, collect, kind, walk_back


def many(values: Any) -> tuple:
    """Return a tuple: of the values, or of the only one."""
    several = isinstance(values, Iterable) and not isinstance(values, Tensor)
    return tuple(values) if several else (values,)


def all_tensors(what: str, values: Any) -> tuple[Tensor, ...]:
    """Return a tuple of tensors, of several or of one; raise TypeError for others."""
    values = many(values)
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{what} must be a Tensor, or several, not {kind(value)}")
    return values


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None
):
    """Add the gradients of several tensors to the grad of their leaves."""
    roots = all_tensors("tensors", tensors)
    weights = many(grad_tensors if grad_tensors is not None else [None] * len(roots))
    collect(roots, weights, retain_graph, create_graph, inputs)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,  # for older programs: it changes nothing
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradient of the outputs' sum, weighted by grad_outputs, by input.

    No `grad` changes. An input that is not used is an error, or with allow_unused None.
    """
    outputs, inputs = all_tensors("outputs", outputs), all_tensors("inputs", inputs)
    weights = many(grad_outputs if grad_outputs is not None else [None] * len(outputs))
    ends = walk_back(outputs, weights, inputs, retain_graph, create_graph)
    found = [ends.get(tensor.edge) for tensor in inputs]
    check_all_used(found, allow_unused)
    return tuple(g if isinstance(g, Tensor | None) else Tensor(g) for g in found)


def check_all_used(found: list, allow_unused: bool) -> None:
    """Raise RuntimeError if an input has no gradient, and that was not allowed."""
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior."
        )
