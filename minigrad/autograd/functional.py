"""Jacobians and their products with vectors: vjp, jvp, jacobian, hessian, hvp."""

from collections.abc import Callable, Sequence

from minigrad.autograd.gradients import grad, many
from minigrad.autograd.nesting import is_nested, nestable
from minigrad.errors import expect_roots, expect_tensors
from minigrad.graph.recording import enable_grad
from minigrad.graph.tensor import Tensor
from minigrad.rules.casting import alias
from minigrad.rules.joining import stack
from minigrad.tensors.creation import zeros, zeros_like


@nestable
def recorded(func: Callable, inputs, create_graph: bool = False) -> tuple:
    """Return func(*inputs), recorded, and the tensors that it was computed from."""
    expect_tensors("an input of the function", *many(inputs), having="edge")
    with enable_grad():
        leaves = [
            alias(x)
            if create_graph and x.requires_grad
            else x.detach().requires_grad_()
            for x in many(inputs)
        ]
        outputs = func(*leaves)
    expect_tensors("an output of the function", *many(outputs), having="edge")
    return outputs, leaves


def vjps(outputs: Sequence, weights, inputs: Sequence, **options) -> list:
    """Return the weighted outputs' gradient with respect to each input, or zeros."""
    options |= {"create_graph": True} if is_nested() else {}
    weights = [None] * len(outputs) if weights is None else many(weights)
    expect_roots(outputs, weights)
    pairs = [(o, w) for o, w in zip(outputs, weights) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        ends, weights = zip(*pairs)
        found = grad(ends, inputs, weights, allow_unused=True, **options)
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def like_given(given, results: Sequence):
    """Return one result for one input, and a tuple for a tuple."""
    return results[0] if isinstance(given, Tensor) else tuple(results)


def detached(outputs):
    """Return one or several outputs without their history, unless it is wanted."""
    if is_nested():
        return outputs
    return like_given(outputs, [output.detach() for output in many(outputs)])


def vjp(func: Callable, inputs, v=None) -> tuple:
    """Return func(*inputs), and v times its Jacobian, with one walk back.

    v has the shape of the output, and may be left out if the output is one number.
    """
    outputs, leaves = recorded(func, inputs)
    found = vjps(many(outputs), v, leaves)
    return detached(outputs), like_given(inputs, found)


def jvp(func: Callable, inputs, v) -> tuple:
    """Return func(*inputs), and its Jacobian times v, with two walks back.

    Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    outputs, leaves = recorded(func, inputs)
    # w·J is linear in w, so the derivative of (w·J)·v with respect to any w is J·v
    weights = [zeros_like(o, requires_grad=True) for o in many(outputs)]
    rows = vjps(many(outputs), weights, leaves, create_graph=True)
    found = vjps(rows, v, weights)
    return detached(outputs), like_given(outputs, found)


def jacobian(func: Callable, inputs, create_graph: bool = False):
    """Return the derivative of every output with respect to every input, row by row.

    One input and one output of shapes s and t give a tensor of shape t + s. Several
    inputs give a tuple, and several outputs a tuple of these.
    """
    outputs, leaves = recorded(func, inputs, create_graph)
    tables = [table_of(output, leaves, create_graph) for output in many(outputs)]
    return like_given(outputs, [like_given(inputs, table) for table in tables])


def table_of(output: Tensor, leaves: Sequence[Tensor], create_graph: bool) -> list:
    """Return the Jacobians of one output, one for each leaf."""
    if not output.numel():
        return [zeros(*output.shape, *x.shape, dtype=x.dtype) for x in leaves]
    rows = []
    for i in range(output.numel()):
        v = zeros_like(output)
        v.array.flat[i] = 1
        options = {"retain_graph": True, "create_graph": create_graph}
        rows.append(vjps([output], v, leaves, **options))
    columns = zip(zip(*rows), leaves)
    return [stack(c).reshape(*output.shape, *leaf.shape) for c, leaf in columns]


def slope_of(func: Callable, inputs) -> Callable:
    """Return the function that computes the gradient of func, which has one value."""

    def slope(*leaves):
        found = vjps([func(*leaves)], None, leaves, create_graph=True)
        return like_given(inputs, found)

    return slope


def hessian(func: Callable, inputs):
    """Return the Hessian of a function of one value: its second derivatives."""
    return jacobian(slope_of(func, inputs), inputs)


def hvp(func: Callable, inputs, v) -> tuple:
    """Return func(*inputs), and its Hessian times v, without making the Hessian."""
    output, leaves = recorded(func, inputs)
    first = vjps([output], None, leaves, create_graph=True)
    found = vjps(first, v, leaves)
    return detached(output), like_given(inputs, found)
