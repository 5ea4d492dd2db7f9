"""Gradients added to the leaves, or returned: backward() and grad()."""

from collections.abc import Iterable, Sequence

from minigrad import errors
from minigrad.graph.tensor import Tensor, collect, walk_back


def many(values) -> tuple:
    """Return several values as a tuple, and one value as a tuple of one."""
    several = isinstance(values, Iterable) and not isinstance(values, Tensor)
    return tuple(values) if several else (values,)


def weights_of(outputs: tuple, gradients, inputs: tuple = ()) -> Sequence:
    """Return a gradient, or None, for each output. Raises an error if one is unfit."""
    weights = [None] * len(outputs) if gradients is None else many(gradients)
    errors.expect_roots((*outputs, *inputs), (*weights, *inputs))
    return weights


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False) -> None:
    """Add the gradients of several tensors to the grad of their leaves."""
    roots = many(tensors)
    collect(roots, weights_of(roots, grad_tensors), None, retain_graph, create_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return for each input the gradient of the outputs' sum, weighted by grad_outputs.

    No `grad` changes. An unused input is an error, or gets None if allow_unused.
    """
    outputs, inputs = many(outputs), many(inputs)
    weights = weights_of(outputs, grad_outputs, inputs)
    reached = walk_back(outputs, weights, inputs, retain_graph, create_graph)
    if not allow_unused and any(x.edge not in reached for x in inputs):
        raise errors.unused()
    found = [reached.get(x.edge) for x in inputs]
    return tuple(g if isinstance(g, Tensor | None) else Tensor(g) for g in found)
