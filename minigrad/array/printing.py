"""Print a Tensor aligned as in PyTorch, with its dtype and grad_fn."""

import math

import numpy as np

EDGE, MANY, WIDTH = 3, 1000, 80


def printed(tensor) -> str:
    """Return the tensor as PyTorch would print it."""
    array, suffixes = tensor.array, []
    if not isinstance(array, np.ndarray):
        return f"tensor({array!r})"
    if not array.size and array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    usual = (np.float32, np.int64, np.bool_) if array.size else (np.float32,)
    if array.dtype not in usual:
        suffixes.append(f"dtype=minigrad.{array.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    text = ", ".join([numbers(array) if array.size else "[]", *suffixes])
    name = "Parameter containing:\n" if type(tensor).__name__ == "Parameter" else ""
    return f"{name}tensor({text})"


def numbers(array: np.ndarray) -> str:
    """Return the elements in brackets, or only those at the edges if there are many."""
    show, width = formatter(corners(array) if array.size > MANY else array)
    how = {"separator": ", ", "prefix": "tensor(", "threshold": MANY, "edgeitems": EDGE}
    how["max_line_width"] = WIDTH - 1 + array.ndim  # NumPy also counts closing brackets
    how["formatter"] = {"all": lambda value: show(value).rjust(width)}
    text = np.array2string(array, **how)
    return text.replace(", ...", ",  ...")


def corners(array: np.ndarray) -> np.ndarray:
    """Return the elements at the edges of a large array, which are printed."""
    for axis, length in enumerate(array.shape):
        if length > 2 * EDGE:
            array = np.take(array, [*range(EDGE), *range(-EDGE, 0)], axis)
    return array


def formatter(array: np.ndarray) -> tuple:
    """Return the function that formats an element, and the width of the longest.

    The thresholds come from `torch.set_printoptions` and the output of PyTorch 2.13.
    """
    if array.dtype.kind != "f":
        return str, max(map(len, map(str, array.ravel())))
    shown = array[np.isfinite(array) & (array != 0)].astype(float)
    sizes = np.abs(shown) if shown.size else np.ones(1)
    low, high = sizes.min(), sizes.max()
    whole = (sizes == np.ceil(sizes)).all()
    scientific = high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)

    form = ".4e" if scientific else ".0f" if whole else ".4f"

    def show(value: float) -> str:
        point = "." if form == ".0f" and math.isfinite(value) else ""
        return format(value, form) + point

    return show, max(map(len, map(show, shown)), default=1)
