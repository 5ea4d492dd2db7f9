"""How a Tensor prints: the numbers as PyTorch aligns them, then what is special."""

import math
from typing import Any

import numpy as np

PRECISION, EDGE, MANY, WIDTH = 4, 3, 1000, 80


def printed(tensor: Any) -> str:
    """Return the tensor as PyTorch would print it."""
    array, suffixes = tensor.array, []
    if not isinstance(array, np.ndarray):
        return f"tensor({array!r})"
    if not array.size and array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    if array.dtype != np.float32 and not (
        array.dtype in (np.int64, np.bool_) and array.size
    ):
        suffixes.append(f"dtype=minigrad.{array.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    name = "Parameter containing:\n" if type(tensor).__name__ == "Parameter" else ""
    body = "tensor(" + (numbers(array, 7) if array.size else "[]")
    return f"{name}{wrapped(body, suffixes, 7)})"


def wrapped(body: str, suffixes: list[str], indent: int) -> str:
    """Append the suffixes, on a new line where the last one would be too long."""
    width = len(body) - body.rfind("\n") + 1
    for suffix in suffixes:
        if width + len(suffix) + 2 > WIDTH:
            body, width = f"{body},\n{' ' * indent}{suffix}", indent + len(suffix)
        else:
            body, width = f"{body}, {suffix}", width + len(suffix) + 2
    return body


def numbers(array: np.ndarray, indent: int) -> str:
    """Return the numbers in brackets, of many only those at the edges."""
    shorten = array.size > MANY
    show, width = formatter(corners(array) if shorten else array)

    def nested(part: np.ndarray, indent: int) -> str:
        if not part.ndim:
            return show(part.item())
        some = shorten and len(part) > 2 * EDGE
        pieces = [*part[:EDGE], ..., *part[-EDGE:]] if some else part
        if part.ndim > 1:
            inner = ["..." if p is ... else nested(p, indent + 1) for p in pieces]
            gap = "," + "\n" * (part.ndim - 1) + " " * (indent + 1)
            return f"[{gap.join(inner)}]"
        words = [" ..." if p is ... else show(p.item()).rjust(width) for p in pieces]
        room = max(1, (WIDTH - indent) // (width + 2))
        lines = [", ".join(words[i : i + room]) for i in range(0, len(words), room)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"

    return nested(array, indent)


def corners(array: np.ndarray) -> np.ndarray:
    """Return the numbers at the edges: those that are shown of many."""
    for axis, length in enumerate(array.shape):
        if length > 2 * EDGE:
            ends = [*range(EDGE), *range(length - EDGE, length)]
            array = np.take(array, ends, axis)
    return array


def formatter(array: np.ndarray) -> tuple[Any, int]:
    """Return what writes one number, and the width that the numbers need.

    Source of the thresholds: `torch.set_printoptions`, and what PyTorch 2.13 prints.
    """
    if array.dtype.kind != "f":
        return str, max(len(str(value)) for value in array.ravel().tolist())
    finite = np.abs(array[np.isfinite(array) & (array != 0)]).astype(float)
    low, high = (finite.min(), finite.max()) if finite.size else (1.0, 1.0)
    whole = bool((finite == np.ceil(finite)).all())
    scientific = high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)

    def show(value: float) -> str:
        if not math.isfinite(value):
            return str(value)
        if scientific:
            return f"{value:.{PRECISION}e}"
        return f"{value:.0f}." if whole else f"{value:.{PRECISION}f}"

    shown = array[np.isfinite(array) & (array != 0)].ravel().tolist()
    return show, max((len(show(value)) for value in shown), default=1)
