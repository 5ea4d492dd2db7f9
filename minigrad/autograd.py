"""minigrad.autograd: gradients as values, and what can be computed with them."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad.creation import ones_like, randn_like, repeatable, zeros_like
from minigrad.function import Function
from minigrad.grad_mode import (
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from minigrad.numeric import GradcheckError, central_difference
from minigrad.op import alias
from minigrad.shapes import cat, stack
from minigrad.tensor import Tensor, collect, kind, walk_back

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
    "set_detect_anomaly",
    "set_grad_enabled",
    "vjp",
]


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


def gradcheck(
    func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True
) -> bool:
    """Compare the gradients of func at float64 inputs with central differences.

    The defaults are those of torch.autograd.gradcheck. Raises GradcheckError (or, if
    asked not to, returns False) with both Jacobians if they differ.
    """
    for k, x in enumerate(to_be_checked(inputs)):
        nudged = by_nudging(func, inputs, x, eps)
        # Back from 2, not 1: a rule has to use the gradient that arrives
        (table,) = table_of(all_outputs(func, inputs) * 2, [x], create_graph=False)
        walked = table.array.reshape(nudged.shape) / 2
        if not np.allclose(walked, nudged, rtol, atol, equal_nan=True):
            message = f"\nnumerical:\n{nudged}\nanalytical:\n{walked}"
            if raise_exception:
                raise GradcheckError(f"Jacobian mismatch for input {k},{message}")
            return False
    return True


def by_nudging(func, inputs, x: Tensor, eps: float) -> np.ndarray:
    """Return the Jacobian of all outputs for x: a column for each number nudged."""
    columns = []

    def outputs_at(i, number):
        x.array.flat[i] = number
        return all_outputs(func, inputs).array

    with no_grad():
        for i, middle in enumerate(x.array.flatten()):
            try:
                columns.append(central_difference(partial(outputs_at, i), middle, eps))
            finally:
                x.array.flat[i] = middle
    return np.array(columns).T


def all_outputs(func: Callable, inputs: Any) -> Tensor:
    """Return the numbers of all outputs of func(*inputs) in one row."""
    return tied(cat([output.reshape(-1) for output in many(func(*many(inputs)))]))


def to_be_checked(inputs: Any) -> list[Tensor]:
    """Return the inputs that require grad; raise ValueError if these are unfit."""
    checked = [x for x in many(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input with requires_grad=True")
    if any(x.dtype != np.float64 for x in checked):
        raise ValueError("gradcheck needs float64 inputs: float32 is too coarse for it")
    return checked


def gradgradcheck(func, inputs, grad_outputs=None, **options) -> bool:
    """Check the second derivatives: gradcheck of the gradient, for random weights."""
    inputs, weights = many(inputs), many(grad_outputs)
    if grad_outputs is None:
        weights = [randn_like(o, requires_grad=True) for o in many(func(*inputs))]
    checked = to_be_checked(inputs)

    def slopes(*_):  # gradcheck nudges inputs and weights where they are
        with enable_grad():
            return weighed(many(func(*inputs)), weights, checked, create_graph=True)

    return gradcheck(slopes, (*inputs, *weights), **options)


class Checkpoint(Function):
    """Runs a function without recording; backward runs it once more, recorded."""

    @staticmethod
    def forward(ctx, function, *tensors):
        ctx.function = function
        ctx.save_for_backward(*tensors)
        return function(*tensors)

    @staticmethod
    def backward(ctx, *grad_outputs):
        if is_grad_enabled():
            raise RuntimeError("checkpoint does not support create_graph=True")
        pairs = zip(ctx.saved_tensors, ctx.needs_input_grad[1:])
        leaves = [x.detach().requires_grad_(needed) for x, needed in pairs]
        with enable_grad():
            outputs = many(ctx.function(*leaves))
        pairs = zip(outputs, grad_outputs)
        ends = [(o, g) for o, g in pairs if getattr(o, "requires_grad", False)]
        if ends:
            backward(*zip(*ends))
        return None, *(leaf.grad for leaf in leaves)


def checkpoint(function: Callable, *args: Any, use_reentrant=None, **kwargs) -> Any:
    """Return function(*args), keeping nothing for backward but the arguments.

    Backward computes the inside again: more time for less memory. Source: T. Chen et
    al., "Training Deep Nets with Sublinear Memory Cost", 2016. Whatever use_reentrant
    says, one of the arguments has to require grad; and what is used inside, such as a
    layer's weights, gets its `grad` in every walk back, in that of grad(), too.
    """
    given, names = [*args, *kwargs.values()], list(kwargs)
    tensors = [x for x in given if isinstance(x, Tensor)]
    others = [(i, x) for i, x in enumerate(given) if not isinstance(x, Tensor)]
    if is_grad_enabled() and not any(x.requires_grad for x in tensors):
        warnings.warn("no argument requires grad: nothing inside learns", stacklevel=2)

    @repeatable
    def inside(*tensors):
        every = list(tensors)
        for i, other in others:
            every.insert(i, other)
        unnamed = len(every) - len(names)
        return function(*every[:unnamed], **dict(zip(names, every[unnamed:])))

    return Checkpoint.apply(inside, *tensors)
