"""What is said where something cannot be: errors with PyTorch's key phrases."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect takes longer than the rest


def kind(value: Any) -> str:
    """Return the name of a value's type, for a message."""
    return type(value).__name__


def freed(name: str) -> RuntimeError:
    """Return the error for a backward through a graph that an earlier one has freed."""
    return RuntimeError(
        f"Trying to backward through the graph a second time: what {name} had saved is "
        "freed. Call the first backward with retain_graph=True, or compute it anew."
    )


def stale(name: str) -> RuntimeError:
    """Return the error for a saved value that was written over."""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an "
        f"inplace operation: {name} had saved it. Write to a clone(), or later."
    )


def stale_view() -> RuntimeError:
    """Return the error for a view that is older than a recorded write to its base."""
    return RuntimeError(
        "this view's base was modified by an inplace operation since: take it anew"
    )


def invalid_gradient(name: str, got: tuple, expected: tuple) -> RuntimeError:
    """Return the error for a gradient whose shape does not fit its argument."""
    return RuntimeError(
        f"{name} returned an invalid gradient: got the shape {got} for an argument of "
        f"shape {expected}. Its formula has to give that shape, or a stretched one."
    )


def no_leaf(name: str) -> RuntimeError:
    """Return the error for setting requires_grad of a result."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables; this one is what "
        f"{name} goes back from. Take its detach() instead."
    )


def no_floats(dtype: Any) -> RuntimeError:
    """Return the error for setting requires_grad of integers or bools."""
    return RuntimeError(
        "only Tensors of floating point dtype can require gradients, and this one is "
        f"{dtype}. Make it float() first."
    )


def no_graph() -> RuntimeError:
    """Return the error for backward() of a tensor that was not recorded."""
    return RuntimeError(
        "element 0 of tensors does not require grad and does not have a grad_fn: all "
        "that it comes from has requires_grad=False, or it was made in no_grad"
    )


def no_scalar(shape: tuple) -> RuntimeError:
    """Return the error for backward() of several numbers without a gradient."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs; this one has shape "
        f"{shape}. Give backward() a gradient of that shape."
    )


def mismatch(gradient: Any, output: Any) -> RuntimeError:
    """Return the error for a gradient whose shape is not that of its output."""
    return RuntimeError(
        f"Mismatch in shape: the gradient has the shape {gradient.shape}, the output "
        f"{output.shape}. Give a gradient of the output's shape."
    )


def unused() -> RuntimeError:
    """Return the error for an input that no output depends on."""
    return RuntimeError(
        "One of the differentiated Tensors appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )


def wrong_count(name: str, expected: int, got: int) -> RuntimeError:
    """Return the error for a backward that returns too few gradients, or too many."""
    return RuntimeError(
        f"function {name} returned an incorrect number of gradients (expected "
        f"{expected}, got {got})"
    )


def not_a_tensor(name: str, value: Any) -> TypeError:
    """Return the error for a value that should be a tensor."""
    return TypeError(
        f"{name}: argument must be Tensor, not {kind(value)}; make it one with "
        "minigrad.tensor(...)"
    )


def refuse_generator(function: Any) -> None:
    """Raise TypeError for decorating a generator with no_grad() or the like."""
    code = getattr(function, "__code__", None)
    if getattr(code, "co_flags", 0) & GENERATOR:
        raise TypeError(
            f"{function.__name__} is a generator, which runs when it is asked for "
            "values: write the `with` inside of it"
        )


def no_argument(name: str, parameters: Iterable, strange: Iterable) -> TypeError:
    """Return the error for an Op with a formula for an argument it does not have."""
    there_is_no = " or ".join(map(repr, strange))
    return TypeError(f"{name} takes {', '.join(parameters)}: there is no {there_is_no}")


def not_to_save() -> TypeError:
    """Return the error for a value other than a Tensor in save_for_backward."""
    return TypeError(
        "save_for_backward can only save Tensors: keep anything else as an attribute, "
        "ctx.name = ..."
    )


def no_output(name: str, value: Any) -> TypeError:
    """Return the error for a Function whose forward does not return one Tensor."""
    return TypeError(
        f"{name}.forward must return one Tensor, not {kind(value)}: make one of "
        "several with cat or stack, or write a Function for each"
    )


def no_attribute(place: str, name: str) -> AttributeError:
    """Return the error for a name that is not there; it says if PyTorch has it.

    pytorch_names.txt lists the public names of torch, torch.Tensor, torch.nn,
    torch.optim, torch.autograd and what is in them, of PyTorch 2.13.
    """
    names = Path(__file__).with_name("pytorch_names.txt").read_text(encoding="utf-8")
    left_out = ": PyTorch has it, minigrad leaves it out" * (name in names.split())
    return AttributeError(f"{place} has no attribute {name!r}{left_out}")


NOT_A_LEAF = (
    "The .grad of a Tensor that is not a leaf is being accessed: only leaves get one "
    "in backward(). Call retain_grad() on a result before."
)
