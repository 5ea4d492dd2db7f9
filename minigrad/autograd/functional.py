"""Jacobians and their products with vectors: vjp, jvp, jacobian, hessian, hvp."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.gradients import grad, many
from minigrad.graph.recording import enable_grad
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import alias
from minigrad.rules.joining import stack
from minigrad.tensors.creation import zeros_like


def recorded(func: Callable, inputs: Any, create_graph: bool = False) -> tuple:
    """Return func(*inputs), recorded, and the inputs that it was recorded from."""
    with enable_grad():
        leaves = [
            alias(x)
            if create_graph and x.requires_grad
            else x.detach().requires_grad_()
            for x in many(inputs)
        ]
        return func(*leaves), leaves


def weighed(outputs: Sequence, weights: Any, inputs: Sequence, **options: Any) -> list:
    """Return the outputs' gradient, weighted, for each input; zeros where none."""
    weights = [None] * len(outputs) if weights is None else many(weights)
    pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        ends, weights = zip(*pairs)
        found = grad(ends, inputs, weights, allow_unused=True, **options)
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def like_given(given: Any, results: Sequence) -> Any:
    """Return one result for one input, and a tuple for a tuple."""
    return results[0] if isinstance(given, Tensor) else tuple(results)


def detached(outputs: Any) -> Any:
    """Return one output or several without their history."""
    return like_given(outputs, [output.detach() for output in many(outputs)])


def vjp(func: Callable, inputs: Any, v: Any = None) -> tuple:
    """Return func(*inputs), and v times its Jacobian: one walk back.

    v has the shape of the output, and may be left out if that is one number.
    """
    outputs, leaves = recorded(func, inputs)
    found = weighed(many(outputs), v, leaves)
    return detached(outputs), like_given(inputs, found)


def jvp(func: Callable, inputs: Any, v: Any) -> tuple:
    """Return func(*inputs), and its Jacobian times v, by walking back twice.

    w·J is linear in its weights w, and the derivative of (w·J)·v for w is J·v.
    Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    outputs, leaves = recorded(func, inputs)
    weights = [zeros_like(o, requires_grad=True) for o in many(outputs)]
    rows = weighed(many(outputs), weights, leaves, create_graph=True)
    found = weighed(rows, v, weights)
    return detached(outputs), like_given(outputs, found)


def jacobian(func: Callable, inputs: Any, create_graph: bool = False) -> Any:
    """Return the derivative of every output for every input, a row at a time.

    One input and one output of shapes s and t give a tensor of shape t + s; of several
    inputs a tuple, of several outputs a tuple of these.
    """
    outputs, leaves = recorded(func, inputs, create_graph)
    tables = [table_of(output, leaves, create_graph) for output in many(outputs)]
    return like_given(outputs, [like_given(inputs, table) for table in tables])


def table_of(output: Tensor, leaves: Sequence[Tensor], create_graph: bool) -> list:
    """Return the Jacobians of one output, for each leaf: a walk back for each row."""
    rows = []
    for i in range(output.numel()):
        v = zeros_like(output)
        v.array.flat[i] = 1
        options = {"retain_graph": True, "create_graph": create_graph}
        rows.append(weighed([output], v, leaves, **options))
    columns = zip(zip(*rows), leaves)
    return [stack(c).reshape(*output.shape, *leaf.shape) for c, leaf in columns]


def slope_of(func: Callable, inputs: Any) -> Callable:
    """Return the function that makes the gradient of func, of one value, recorded."""

    def slope(*leaves):
        found = weighed([func(*leaves)], None, leaves, create_graph=True)
        return like_given(inputs, found)

    return slope


def hessian(func: Callable, inputs: Any) -> Any:
    """Return the second derivatives of a function of one value: its Hessian."""
    return jacobian(slope_of(func, inputs), inputs)


def hvp(func: Callable, inputs: Any, v: Any) -> tuple:
    """Return func(*inputs), and its Hessian times v, without making the Hessian."""
    output, leaves = recorded(func, inputs)
    first = weighed([output], None, leaves, create_graph=True)
    return output.detach(), like_given(inputs, weighed(first, v, leaves))
