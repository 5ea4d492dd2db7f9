"""When an answer or a guess equals the expected value, and how both are shown."""

import re
from typing import Any

import numpy as np

from minigrad.graph.tensor import Tensor

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # which tells nobody anything
ARRAYS = (Tensor, np.ndarray, np.generic)


def array_of(value: Any) -> np.ndarray:
    """Return a tensor's array, or anything else as an array."""
    return np.asarray(value.array if isinstance(value, Tensor) else value)


def agree(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Tell for each element whether it is right, within the precision of the dtypes."""
    coarse = any(x.dtype in (np.float32, np.float16) for x in (got, expected))
    rtol, atol = (1e-4, 1e-6) if coarse else (1e-6, 1e-9)
    return np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)


def same(got: Any, expected: Any) -> bool:
    """Tell whether an answer, of any type, equals what was expected."""
    if isinstance(expected, np.generic):
        expected = expected.item()
    if isinstance(expected, ARRAYS):
        if not isinstance(got, ARRAYS):
            return False
        got, expected = array_of(got), array_of(expected)
        return got.shape == expected.shape and bool(agree(got, expected).all())
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return type(got) is type(expected) and got == expected
    if isinstance(expected, (int, float)):
        if isinstance(got, ARRAYS) and not got.shape:
            got = got.item()
        return _is_number(got) and bool(agree(np.float64(got), np.float64(expected)))
    if isinstance(expected, list | tuple) and isinstance(got, np.ndarray) and got.ndim:
        got = list(got) if got.ndim > 1 else got.tolist()
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, dict) and isinstance(got, dict):
        same_keys = got.keys() == expected.keys()
        return same_keys and all(same(got[key], expected[key]) for key in expected)
    return got is expected


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def apart(got: Any, expected: Any) -> tuple[str, str]:
    """Return two values as text, with as many digits as a difference needs."""
    texts = show(got), show(expected)  # six digits may be alike, seven are not: `agree`
    return texts if texts[0] != texts[1] else (show(got, 7), show(expected, 7))


def show(x: Any, digits: int = 6) -> str:
    """Return a value as text: floats with some digits, large arrays as their shape."""
    if isinstance(x, float):
        return f"{x + 0.0:.{digits}g}"  # -0.0 is 0
    if isinstance(x, ARRAYS):
        kind = "Tensor" if isinstance(x, Tensor) else "array"
        x = array_of(x)
        few = x.size <= 12
        return f"{kind} {show(x.tolist(), digits) if few else x.shape}"
    if isinstance(x, list | tuple):
        inside = ", ".join(show(each, digits) for each in x)
        comma = "," if len(x) == 1 else ""
        return f"[{inside}]" if isinstance(x, list) else f"({inside}{comma})"
    return ADDRESS.sub("", repr(x))


def compare(guess: Any, found: Any) -> None:
    """Say how a guess compares with the result, or nothing if it is still `...`.

    Both are words, numbers, or lists of numbers.
    """
    if guess is ...:
        return
    guess = guess.strip().lower() if isinstance(guess, str) else guess
    if same(guess, found):
        print(f"You guessed {show(guess)}, which is right.")
        return
    text = "You guessed {}, and it is {}".format(*apart(guess, found))
    quoted = isinstance(guess, str) and re.search(r"\d", guess)
    if _is_number(found) and (quoted or isinstance(guess, tuple)):
        text += ". Write numbers without commas and quotes"
    if all(type(x) in (int, float) for x in (guess, found)) and guess * found > 0:
        times = max(found / guess, guess / found)
        how = "larger" if abs(found) > abs(guess) else "smaller"
        text += ": near" if times < 1.25 else f", {round(times, 1):,g} times {how}"
    print(f"{text}.")
