"""Symbols: what stands in the place of arrays while a static graph is built.

Whatever NumPy is asked to do with a Symbol is not done but noted, as a Step. So the
rules, which know nothing of this, leave behind the graph of all that they would
compute, forwards and backwards: there is no second set of derivatives.
"""

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from minigrad.array.dtypes import Array
from minigrad.static.steps import CALLS, Step, line_outside

ABOUT_SHAPES = np.shape, np.ndim, np.size, np.shares_memory, np.may_share_memory
BLANK = np.zeros_like, np.ones_like, np.empty_like


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array: notes what NumPy should do with it, and does not do it.

    `example` is an array of the same shape and dtype. Its numbers mean something only
    where a function is traced: then `asked` lists for which ones Python has asked.
    """

    base = None  # it has no memory that another could be a view of
    T = property(lambda self: note("transpose", self))
    mT = property(lambda self: note("swapaxes", self, -2, -1))

    def __init__(self, step: Step, example: ndarray, asked: list | None = None):
        self.step, self.example, self.asked = step, example, asked
        self.owner = lambda: None  # of a view: the symbol it is part of, while in use
        self.index = None  # where in its owner it is, if it was made by an index

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "strides", "flags"):
            return getattr(self.example, name)
        if name in ("item", "tolist"):
            return getattr(self.numbers(), name)
        if f"ndarray.{name}" in CALLS:
            return partial(note, f"ndarray.{name}", self)
        raise AttributeError(f"a Symbol has no {name!r}: its numbers are not known yet")

    def __len__(self) -> int:
        return len(self.example)

    def __getitem__(self, index: Any) -> "Symbol":
        if any(isinstance(x, Symbol) and x.dtype == bool for x in flat([index])):
            raise TypeError("how many numbers a mask takes is not known: use where()")
        part = note("getitem", self, index)
        part.index = index
        return part

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if method == "at" and ufunc is np.add:  # np.add.at(array, index, value) writes
            return inputs[0].become(note("with_sum", *inputs))
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        result = note(name, *inputs, **options)
        if out and not isinstance(out[0], Symbol):
            raise TypeError(f"an array cannot take what is not known yet: {result}")
        return out[0].become(result) if out else result

    def __array_function__(self, function, types, args, kwargs):
        if function not in ABOUT_SHAPES + BLANK:
            return note(function.__name__, *args, **kwargs)
        found = function(*map(example_of, args), **kwargs)
        blank = function in BLANK
        return Symbol(step_of(found), found, self.asked) if blank else found

    # Writing

    def __setitem__(self, index: Any, value: Any) -> None:
        self.become(note("with_item", self, index, value))

    def become(self, other: "Symbol") -> "Symbol":
        """Stand for `other` from here on: that is what an in-place operation notes."""
        if other.dtype != self.dtype:
            other = note("ndarray.astype", other, self.dtype)
        self.step, self.example = other.step, other.example
        owner = self.owner()
        if owner is not None and self.index is None:
            raise RuntimeError(f"{self.step} writes to a view: that cannot be noted")
        if owner is not None:
            owner[self.index] = self
        return self

    # What Python asks for numbers

    def numbers(self) -> ndarray:
        """Return the example's numbers; raise TypeError where they mean nothing."""
        if self.asked is None:
            raise TypeError(
                f"Python asks for the numbers of {self.step}, which are not known "
                "before the graph runs. Choose with where(), or before you feed it."
            )
        self.asked.append(f"{line_outside()}: {self.step.name or self.step.call}")
        return self.example

    def __bool__(self) -> bool:
        return bool(self.numbers())

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"what is done with {self.step} as an array is not noted")

    def __repr__(self) -> str:
        return f"Symbol({self.step})"


Array.register(Symbol)


def named_symbol(call: str, array: ndarray, name: str, asked=None) -> Symbol:
    """Return the symbol of a new placeholder, or of a variable that starts as array."""
    value = array if call == "variable" else None
    step = Step(call, [], {}, array.shape, array.dtype, value, name, line_outside())
    return Symbol(step, array, asked)


def note(call: str, *args: Any, **options: Any) -> Symbol:
    """Note a call with symbols, and return the symbol of its result.

    It is tried on the examples: so shapes and dtypes are known, and an error comes
    here, at the line that caused it, not when the graph runs.
    """
    symbols = [value for value in flat(args) if isinstance(value, Symbol)]
    if call not in CALLS or not symbols:  # a symbol as an option is no argument
        raise TypeError(f"a static graph cannot note a call of {call}")
    example = np.asarray(CALLS[call](*map(example_of, args), **options))
    step = Step(call, list(map(step_of, args)), options, example.shape, example.dtype)
    step.line = line_outside()
    result = Symbol(step, example, symbols[0].asked)
    if np.may_share_memory(example, symbols[0].example):
        result.owner = weakref.ref(symbols[0])
    return result


def flat(values: Any) -> Iterator[Any]:
    """Yield what is in a nest of tuples and lists."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from flat(value)
        else:
            yield value


def example_of(value: Any) -> Any:
    """Return an argument with an example in the place of each symbol."""
    if isinstance(value, tuple | list):
        return type(value)(map(example_of, value))
    return value.example if isinstance(value, Symbol) else value


def step_of(value: Any) -> Step:
    """Return the step that an argument stands for: a constant, if it is known."""
    if isinstance(value, Symbol):
        return value.step
    if any(isinstance(x, Symbol) for x in flat([value])):
        return Step(type(value).__name__, list(map(step_of, value)))
    if isinstance(value, ndarray | np.generic):
        value = value.copy()  # whoever holds it may write to it later
        return Step("constant", [], {}, value.shape, value.dtype, value)
    return Step("constant", value=value)
