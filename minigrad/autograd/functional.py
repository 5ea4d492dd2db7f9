"""Jacobians and their products with vectors: vjp, jvp, jacobian, hessian, hvp."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.gradients import all_tensors, grad, many
from minigrad.graph.creation import ones_like, zeros_like
from minigrad.graph.recording import (
    enable_grad,
)
from minigrad.graph.tensor import Tensor
from minigrad.rules.joining import stack
from minigrad.rules.op import alias


def tracked(inputs: Any, create_graph: bool) -> tuple[Tensor, ...]:
    """Return inputs that are recorded: themselves, or leaves on the same memory."""
    return tuple(
        alias(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in all_tensors("inputs", inputs)
    )


def tied(output: Tensor) -> Tensor:
    """Return an output to walk back from; if it leads nowhere, as a new leaf."""
    return output if output.requires_grad else output.detach().requires_grad_()


def like_given(given: Any, results: Sequence) -> Any:
    """Return one result for one input, and a tuple for a tuple."""
    return results[0] if isinstance(given, Tensor) else tuple(results)


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph=False) -> tuple:
    """Return func(*inputs), and v times its Jacobian: one walk back.

    v has the shape of the output, and may be left out if that is one number.
    """
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        outputs = func(*leaves)
    ends = [tied(output) for output in all_tensors("func's outputs", outputs)]
    found = grad(ends, leaves, v, None, create_graph, allow_unused=True)
    found = [zeros_like(x) if g is None else g for g, x in zip(found, leaves)]
    result = outputs if create_graph else detached(outputs)
    return result, like_given(inputs, found)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph=False) -> tuple:
    """Return func(*inputs), and its Jacobian times v, by walking back twice.

    w·J is linear in its weights w, and the derivative of (w·J)·v for w is J·v.
    Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        outputs = func(*leaves)
        results = all_tensors("func's outputs", outputs)
        weights = [zeros_like(o).requires_grad_() for o in results]
        rows = weighed(results, weights, leaves, create_graph=True)
    found = weighed(rows, direction(v, leaves), weights, create_graph)
    result = outputs if create_graph else detached(outputs)
    return result, like_given(outputs, found)


def direction(v: Any, leaves: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return in which direction to go: v, which a single number may do without."""
    if v is not None:
        return many(v)
    if len(leaves) != 1 or leaves[0].numel() != 1:
        raise RuntimeError("v can only be left out for one input, of one number")
    return [ones_like(leaves[0])]


def weighed(outputs, weights, inputs, create_graph: bool) -> list[Tensor]:
    """Return the outputs' gradient, weighted, for each input; zeros where none."""
    if len(outputs) != len(weights):
        raise RuntimeError(f"expected {len(outputs)} tensors, but got {len(weights)}")
    pairs = [(o, w) for o, w in zip(outputs, weights) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        outputs, weights = zip(*pairs)
        found = grad(outputs, inputs, weights, None, create_graph, allow_unused=True)
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def detached(outputs: Any) -> Any:
    """Return one output or several without their history."""
    return like_given(outputs, [output.detach() for output in many(outputs)])


def jacobian(func: Callable, inputs: Any, create_graph: bool = False) -> Any:
    """Return the derivative of every output for every input, a row at a time.

    One input and one output of shapes s and t give a tensor of shape t + s; of several
    inputs a tuple, of several outputs a tuple of these.
    """
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        outputs = func(*leaves)
    tables = [
        like_given(inputs, table_of(tied(output), leaves, create_graph))
        for output in all_tensors("func's outputs", outputs)
    ]
    return like_given(outputs, tables)


def table_of(output: Tensor, leaves: Sequence[Tensor], create_graph: bool) -> list:
    """Return the Jacobians of one output, for each leaf: a walk back for each row."""
    rows = [[] for _ in leaves]
    for i in range(output.numel()):
        v = zeros_like(output)
        v.array.flat[i] = 1
        found = grad(output, leaves, v, True, create_graph, allow_unused=True)
        for row, g, leaf in zip(rows, found, leaves):
            row.append(zeros_like(leaf) if g is None else g)
    tables = zip(rows, leaves)
    return [stack(row).reshape(*output.shape, *leaf.shape) for row, leaf in tables]


def hessian(func: Callable, inputs: Any, create_graph: bool = False) -> Any:
    """Return the second derivatives of a function of one value: its Hessian."""

    def slopes(*leaves):
        output = all_tensors("func's output", func(*leaves))
        return like_given(inputs, weighed(output, [None], leaves, create_graph=True))

    return jacobian(slopes, inputs, create_graph)


def hvp(func: Callable, inputs: Any, v: Any, create_graph: bool = False) -> tuple:
    """Return func(*inputs), and its Hessian times v, without making the Hessian."""
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        output = func(*leaves)
        first = weighed([output], [None], leaves, create_graph=True)
    found = weighed(first, many(v), leaves, create_graph)
    return output if create_graph else output.detach(), like_given(inputs, found)
