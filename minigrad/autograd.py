"""minigrad.autograd: gradients as values, and what can be computed with them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.creation import ones_like, randn_like, zeros_like
from minigrad.function import Function
from minigrad.grad_mode import (
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minigrad.numeric import GradcheckError
from minigrad.op import alias
from minigrad.shapes import stack
from minigrad.tensor import Tensor, collect, walk_back

__all__ = [
    "Function",
    "backward",
    "checkpoint",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "hessian",
    "hvp",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "set_grad_enabled",
    "vjp",
]


def many(values: Any) -> tuple:
    """Return a tuple: of the values, or of the only one."""
    return tuple(values) if isinstance(values, list | tuple) else (values,)


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None
):
    """Add the gradients of several tensors to the grad of their leaves."""
    tensors = many(tensors)
    gradients = (
        many(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    )
    collect(tensors, gradients, retain_graph, create_graph, inputs)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradient of the outputs' sum, weighed by grad_outputs, for each input.

    No `grad` changes. An input that is not used is an error, or with allow_unused None.
    """
    outputs, inputs = many(outputs), many(inputs)
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


def tracked(inputs: Any, create_graph: bool) -> tuple[Tensor, ...]:
    """Return inputs that are recorded: themselves, or leaves on the same memory."""
    if create_graph:
        return tuple(
            alias.method(x) if x.requires_grad else x.detach().requires_grad_()
            for x in many(inputs)
        )
    return tuple(x.detach().requires_grad_() for x in many(inputs))


def like_given(given: Any, results: Sequence) -> Any:
    """Return one result for one input, and a tuple for a tuple."""
    return tuple(results) if isinstance(given, list | tuple) else results[0]


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph=False) -> tuple:
    """Return func(*inputs), and v times its Jacobian: one walk back.

    v has the shape of the output, and may be left out if that is one number.
    """
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        outputs = func(*leaves)
    found = grad(many(outputs), leaves, v, None, create_graph, allow_unused=True)
    found = [zeros_like(x) if g is None else g for g, x in zip(found, leaves)]
    result = outputs if create_graph else detached(outputs)
    return result, like_given(inputs, found)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph=False) -> tuple:
    """Return func(*inputs), and its Jacobian times v, by walking back twice.

    u·J is linear in u, and the derivative of (u·J)·v for u is J·v.
    Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        outputs = func(*leaves)
        u = [zeros_like(o).requires_grad_() for o in many(outputs)]
        rows = grad(many(outputs), leaves, u, create_graph=True, allow_unused=True)
    v = many(v) if v is not None else [ones_like(x) for x in leaves]
    found = weighed(rows, v, u, create_graph)
    result = outputs if create_graph else detached(outputs)
    return result, like_given(outputs, found)


def weighed(outputs, weights, inputs, create_graph: bool) -> list[Tensor]:
    """Return the gradient of the outputs, weighed, for each input; zeros where none."""
    pairs = [(o, w) for o, w in zip(outputs, weights) if o is not None]
    pairs = [(o, w) for o, w in pairs if o.requires_grad]
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
        like_given(inputs, table_of(output, leaves, create_graph))
        for output in many(outputs)
    ]
    return like_given(outputs, tables)


def table_of(output: Tensor, leaves: Sequence[Tensor], create_graph: bool) -> list:
    """Return the Jacobians of one output, for each leaf."""
    rows = [
        grad(element, leaves, None, True, create_graph, allow_unused=True)
        for element in output.reshape(-1).unbind()
    ]
    tables = []
    for i, leaf in enumerate(leaves):
        cells = [zeros_like(leaf) if row[i] is None else row[i] for row in rows]
        table = stack(cells) if cells else zeros_like(leaf)
        tables.append(table.reshape(*output.shape, *leaf.shape))
    return tables


def hessian(func: Callable, inputs: Any, create_graph: bool = False) -> Any:
    """Return the second derivatives of a function of one value: its Hessian."""

    def slopes(*leaves):
        first = grad(func(*leaves), leaves, create_graph=True, allow_unused=True)
        first = [zeros_like(x) if g is None else g for g, x in zip(first, leaves)]
        return like_given(inputs, first)

    return jacobian(slopes, inputs, create_graph)


def hvp(func: Callable, inputs: Any, v: Any, create_graph: bool = False) -> tuple:
    """Return func(*inputs), and its Hessian times v, without making the Hessian."""
    with enable_grad():
        leaves = tracked(inputs, create_graph)
        output = func(*leaves)
        first = grad(output, leaves, create_graph=True, allow_unused=True)
    found = weighed(first, many(v), leaves, create_graph)
    return output if create_graph else output.detach(), like_given(inputs, found)


def numerical_jacobians(func, inputs, x: Tensor, eps: float) -> list[np.ndarray]:
    """Return the Jacobian of each output for x by central differences."""
    columns, flat = [], x.array.reshape(-1)
    with no_grad():
        for i in range(flat.size):
            middle = flat[i]
            flat[i] = middle + eps
            above = [o.array.copy() for o in many(func(*inputs))]
            flat[i] = middle - eps
            below = [o.array.copy() for o in many(func(*inputs))]
            flat[i] = middle
            columns.append([(a - b) / (2 * eps) for a, b in zip(above, below)])
    return [np.stack(each, -1).reshape(each[0].size, -1) for each in zip(*columns)]


def analytical_jacobian(output: Tensor, x: Tensor) -> np.ndarray:
    """Return the Jacobian of an output for x by walking back from each number."""
    table = np.zeros((output.numel(), x.numel()), x.dtype)
    for row, element in zip(table, output.reshape(-1).unbind()):
        (g,) = grad(element, x, retain_graph=True, allow_unused=True)
        if g is not None:
            row[:] = g.array.reshape(-1)
    return table


def gradcheck(
    func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True
) -> bool:
    """Hold the gradients of func at float64 inputs against central differences.

    The defaults are those of torch.autograd.gradcheck. Raises GradcheckError (or, if
    asked not to, returns False) with both Jacobians if they differ.
    """
    inputs = many(inputs)
    checked = to_be_checked(inputs)
    outputs = many(func(*inputs))
    for k, x in enumerate(x for x in checked if x.numel()):
        for o, numerical in enumerate(numerical_jacobians(func, inputs, x, eps)):
            if outputs[o].requires_grad:
                table = analytical_jacobian(outputs[o], x)
                if not np.allclose(table, numerical, rtol, atol, equal_nan=True):
                    message = f"Jacobian mismatch for output {o} and input {k}"
                    return disagreed(message, numerical, table, raise_exception)
    return True


def to_be_checked(inputs: Sequence) -> list[Tensor]:
    """Return the inputs that require grad; raise ValueError for any unfit ones."""
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input with requires_grad=True")
    if any(x.dtype != np.float64 for x in checked):
        raise ValueError("gradcheck needs float64 inputs: float32 is too coarse for it")
    for x in checked:
        x.array = np.asarray(x.array, order="C")
    return checked


def disagreed(message: str, numerical, analytical, raise_exception: bool) -> bool:
    """Return False, or raise GradcheckError with both Jacobians."""
    if raise_exception:
        raise GradcheckError(
            f"{message},\nnumerical:\n{numerical}\nanalytical:\n{analytical}"
        )
    return False


def gradgradcheck(func, inputs, grad_outputs=None, **options) -> bool:
    """Check the second derivatives: gradcheck of the gradient, for random weights."""
    inputs, n = many(inputs), len(many(inputs))
    weights = many(grad_outputs)
    if grad_outputs is None:
        weights = [randn_like(o, requires_grad=True) for o in many(func(*inputs))]
    recorded = [getattr(x, "requires_grad", False) for x in inputs]

    def first(*everything):
        wanted = [x for x, needed in zip(everything, recorded) if needed]
        with enable_grad():
            outputs = many(func(*everything[:n]))
            found = grad(outputs, wanted, everything[n:], None, True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(first, (*inputs, *weights), **options)


class Checkpoint(Function):
    """Runs a function without recording; backward runs it once more, recorded."""

    @staticmethod
    def forward(ctx, function, *args):
        ctx.function, ctx.args = (
            function,
            [x for x in args if not isinstance(x, Tensor)],
        )
        ctx.places = [isinstance(x, Tensor) for x in args]
        ctx.save_for_backward(*(x for x in args if isinstance(x, Tensor)))
        return function(*args)

    @staticmethod
    def backward(ctx, *grad_outputs):
        if is_grad_enabled():
            raise RuntimeError("checkpoint does not support create_graph=True")
        saved, others = iter(ctx.saved_tensors), iter(ctx.args)
        args = [next(saved) if is_tensor else next(others) for is_tensor in ctx.places]
        leaves = [
            x.detach().requires_grad_(needed) if isinstance(x, Tensor) else x
            for x, needed in zip(args, ctx.needs_input_grad[1:])
        ]
        with enable_grad():
            outputs = many(ctx.function(*leaves))
        backward(outputs, grad_outputs)
        return None, *(x.grad if isinstance(x, Tensor) else None for x in leaves)


def checkpoint(function: Callable, *args: Any) -> Any:
    """Return function(*args), keeping nothing for backward but the arguments.

    Backward computes the inside again: more time for less memory. At least one
    argument has to require grad. Source: T. Chen et al., "Training Deep Nets with
    Sublinear Memory Cost", 2016.
    """
    return Checkpoint.apply(function, *args)
