"""Error messages, with PyTorch's key phrases."""

from collections.abc import Iterable
from inspect import isgeneratorfunction
from pathlib import Path


def kind(value) -> str:
    """Return the name of a value's type, for a message."""
    return type(value).__name__


def expect(fits: bool, wanted: str, *came, error: type = RuntimeError) -> None:
    """Unless `fits` is true, raise an error with what was wanted and what came."""
    if not fits:
        got = f", but got {' and '.join(map(short, came))}" if came else ""
        raise error(f"{wanted}{got}")


def expect_alike(names: str, input, shape: tuple, *tensors) -> None:
    """Raise RuntimeError for a tensor without this shape and the input's dtype.

    Each may also be None. NumPy would stretch a parameter that has another shape.
    """
    wanted = f"{input.dtype}{shape}"
    fits = all(x is None or short(x) == wanted for x in tensors)
    expect(fits, f"expected {names} to be {wanted}", *tensors)


def freed(name: str) -> RuntimeError:
    """Return the error for a backward through a graph that an earlier one has freed."""
    return RuntimeError(
        f"Trying to backward through the graph a second time: {name}'s values are gone."
        " Pass retain_graph=True to the first backward, or compute the result again."
    )


def stale(name: str) -> RuntimeError:
    """Return the error for a saved value that was written over."""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an "
        f"inplace operation, but {name} saved it. Clone it, or write after backward()."
    )


def stale_view() -> RuntimeError:
    """Return the error for a view that is older than a recorded write to its base."""
    why = "this view's base was modified by an inplace operation: take the view again"
    return RuntimeError(why)


def invalid_gradient(name: str, got: tuple, expected: tuple) -> RuntimeError:
    """Return the error for a gradient whose shape does not fit its argument."""
    return RuntimeError(
        f"{name} returned an invalid gradient: got the shape {got} for an argument of "
        f"shape {expected}. Return a shape that {expected} can be stretched to."
    )


def no_leaf(name: str) -> RuntimeError:
    """Return the error for setting requires_grad of a result."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables, and this tensor is "
        f"the result of {name}. Use its detach() instead."
    )


def no_floats(dtype) -> RuntimeError:
    """Return the error for setting requires_grad of integers or bools."""
    why = "only Tensors of floating point dtype can require gradients, and this one is "
    return RuntimeError(f"{why}{dtype}. Convert it with float() first.")


def no_graph() -> RuntimeError:
    """Return the error for backward() of a tensor that was not recorded."""
    why = "element 0 of tensors does not require grad and does not have a grad_fn: all"
    return RuntimeError(f"{why} its leaves have requires_grad=False, or no_grad was on")


def no_scalar(shape: tuple) -> RuntimeError:
    """Return the error for backward() of several numbers without a gradient."""
    why = "grad can be implicitly created only for scalar outputs, and this has shape "
    return RuntimeError(f"{why}{shape}. Give backward() a gradient of that shape.")


def mismatch(gradient, output) -> RuntimeError:
    """Return the error for a gradient whose shape differs from its output's."""
    why = f"Mismatch in shape: the gradient has the shape {gradient.shape}, the output "
    return RuntimeError(f"{why}{output.shape}. Give a gradient of the output's shape.")


def unused() -> RuntimeError:
    """Return the error for an input that no output depends on."""
    why = "One of the differentiated Tensors appears to not have been used in the"
    cure = "Set allow_unused=True if this is the desired behavior."
    return RuntimeError(f"{why} graph. {cure}")


def wrong_count(name: str, expected: int, got: int) -> RuntimeError:
    """Return the error for a backward that returns too few gradients, or too many."""
    why = f"function {name} returned an incorrect number of gradients"
    return RuntimeError(f"{why} (expected {expected}, got {got})")


def not_a_tensor(name: str, value) -> TypeError:
    """Return the error for a value that should be a tensor."""
    this = f"argument must be Tensor, not {kind(value)}"
    return TypeError(f"{name}: {this}. Convert it with minigrad.tensor(...)")


def expect_tensors(name: str, *values, having: str = "dtype") -> None:
    """Raise TypeError for a value that has no attribute `having`, as tensors have."""
    for value in values:
        if not hasattr(value, having):
            raise not_a_tensor(name, value)


def expect_roots(tensors: tuple, gradients: tuple) -> None:
    """Raise TypeError for a root that is not a tensor, ValueError for a wrong count."""
    expect_tensors("the tensor to be differentiated", *tensors, having="edge")
    counts = f"got {len(tensors)} tensors and {len(gradients)} gradients"
    expect(len(tensors) == len(gradients), counts, error=ValueError)


def unfit(name: str, values: dict, error: Exception) -> Exception:
    """Return NumPy's error with the operation's name and arguments.

    If an axis is missing, the error has PyTorch's words.
    """
    axis = getattr(error, "axis", None)
    told = error if axis is None else out_of_range(axis, error.ndim)
    given = ", ".join(f"{key}={short(value)}" for key, value in values.items())
    kinds = [k for k in (IndexError, TypeError, ValueError) if isinstance(error, k)]
    return kinds[0](f"{name.lower()}({given}): {told}")


def out_of_range(axis: int, ndim: int) -> str:
    """Return PyTorch's words for a missing axis. A single number counts as one axis."""
    n = max(ndim, 1)
    if -n <= axis < n:
        return f"Dimension specified as {axis} but tensor has no dimensions"
    known = f"expected to be in range of [{-n}, {n - 1}], but got {axis}"
    return f"Dimension out of range ({known})"


def short(value) -> str:
    """Return an array as its dtype and shape, and anything else as Python shows it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(short, value))}]"
    return f"{value.dtype}{value.shape}" if hasattr(value, "dtype") else repr(value)


def refuse_generator(function) -> None:
    """Raise TypeError for decorating a generator with no_grad() or the like."""
    if isgeneratorfunction(function):
        raise TypeError("a generator runs when iterated: write the `with` inside it")


def no_argument(name: str, parameters: Iterable, strange: Iterable) -> TypeError:
    """Return the error for an Op with a formula for an argument that it lacks."""
    there_is_no = " or ".join(map(repr, strange))
    return TypeError(f"{name} takes {', '.join(parameters)}: there is no {there_is_no}")


def not_to_save() -> TypeError:
    """Return the error for a value other than a Tensor in save_for_backward."""
    return TypeError("save_for_backward can only save Tensors. Set others as ctx.name")


def no_output(name: str, value) -> TypeError:
    """Return the error for a Function whose forward does not return one Tensor."""
    what = f"{name}.forward must return one Tensor, not {kind(value)}."
    return TypeError(f"{what} Join several with cat or stack, or write more Functions")


def no_attribute(place: str, name: str) -> AttributeError:
    """Return the error for a missing name. It says whether PyTorch has the name.

    pytorch_names.txt lists the public names of torch, torch.Tensor, torch.nn,
    torch.optim, torch.autograd and their modules, of PyTorch 2.13.
    """
    names = Path(__file__).with_name("pytorch_names.txt").read_text(encoding="utf-8")
    left_out = ": PyTorch has it, but minigrad leaves it out" * (name in names.split())
    return AttributeError(f"{place} has no attribute {name!r}{left_out}")


NOT_A_LEAF = (
    "The .grad of a Tensor that is not a leaf is being accessed, but backward() "
)
NOT_A_LEAF += "fills only leaves. Call retain_grad() on the result before backward()."
