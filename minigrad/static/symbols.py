"""Symbols: what stands in the place of arrays while a static graph is built.

Whatever NumPy is asked to do with a Symbol is not done but noted, as a Step. So the
rules, which know nothing of this, leave behind the graph of all that they would
compute, forwards and backwards: there is no second set of derivatives.
"""

import operator
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from minigrad.array.dtypes import Array

# What a step may call, by name


def with_item(array: ndarray, index: Any, value: Any) -> ndarray:
    """Return a copy of an array with other numbers at `index`."""
    array = array.copy()
    array[index] = value
    return array


def with_sum(array: ndarray, index: Any, value: Any) -> ndarray:
    """Return a copy of an array with `value` added at `index`, twice where named so."""
    array = array.copy()
    np.add.at(array, index, value)
    return array


def method(name: str) -> Callable:
    """Return what calls a method of an array, or of one of NumPy's numbers."""
    return lambda array, *args, **options: getattr(array, name)(*args, **options)


FUNCTIONS = """argmax argmin argsort broadcast_to clip concatenate cumprod cumsum dot
    einsum expand_dims flip max mean min moveaxis nan_to_num pad prod repeat reshape
    roll squeeze stack std sum swapaxes take tile transpose tril triu var where"""
METHODS = """all any argmax argmin astype clip copy cumsum max mean min prod ravel
    reshape round squeeze std sum swapaxes take transpose var view"""
CALLS = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
CALLS |= {f"{name}.reduce": f.reduce for name, f in CALLS.items() if f.nin == 2}
CALLS |= {name: getattr(np, name) for name in FUNCTIONS.split()}
CALLS |= {f"ndarray.{name}": method(name) for name in METHODS.split()}
CALLS |= {"getitem": operator.getitem, "with_item": with_item, "with_sum": with_sum}
CALLS |= {"tuple": lambda *items: items, "list": lambda *items: list(items)}
CALLS |= {"assign": lambda value, variable: value}
GIVEN = ("placeholder", "variable", "constant")  # steps that call nothing
ABOUT_SHAPES = np.shape, np.ndim, np.size, np.shares_memory, np.may_share_memory
BLANK = np.zeros_like, np.ones_like, np.empty_like


@dataclass(eq=False, repr=False)
class Step:
    """One call in a static graph: a function by its name, and its arguments.

    A placeholder is fed, a variable starts with its `value`, a constant stays its
    `value`. `line` tells where in the program the step comes from.
    """

    call: str
    arguments: list["Step"] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None
    value: Any = None
    name: str = ""
    line: str = ""

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {self.shape}"
        line = f" from {self.line}" if self.line else ""
        return f"<{self.name or self.call}{shape}{line}>"


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array: notes what NumPy should do with it, and does not do it.

    `example` is an array of the same shape and dtype. Its numbers mean something only
    where a function is traced: then `asked` lists for which ones Python has asked.
    """

    base = None  # it has no memory that another could be a view of

    def __init__(self, step: Step, example: ndarray, asked: list | None = None):
        self.step, self.example, self.asked = step, example, asked
        self._base = self._place = None

    @property
    def owner(self) -> "Symbol | None":
        """The symbol of which this is a view, as long as somebody holds it."""
        return None if self._base is None else self._base()

    @property
    def T(self) -> "Symbol":
        return note("transpose", self)

    @property
    def mT(self) -> "Symbol":
        return note("swapaxes", self, -2, -1)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "strides", "flags"):
            return getattr(self.example, name)
        if f"ndarray.{name}" in CALLS:
            return partial(note, f"ndarray.{name}", self)
        raise AttributeError(f"a Symbol has no {name!r}: its numbers are not known yet")

    def __len__(self) -> int:
        return len(self.example)

    def __getitem__(self, index: Any) -> "Symbol":
        if any(isinstance(x, Symbol) and x.dtype == bool for x in flat([index])):
            raise TypeError(
                "how many numbers a mask takes is not known before the graph runs, and "
                "shapes have to be. Keep them all, and choose with where()."
            )
        part = note("getitem", self, index)
        part._place = index
        return part

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if method == "at" and ufunc is np.add:  # np.add.at(array, index, value) writes
            return inputs[0].become(note("with_sum", *inputs))
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        result = note(name, *inputs, **options)
        if not out:
            return result
        if not isinstance(out[0], Symbol):
            raise TypeError(f"an array cannot take what is not known yet: {result}")
        return out[0].become(result)

    def __array_function__(self, function, types, args, kwargs):
        if function in ABOUT_SHAPES:
            return function(*map(example_of, args), **kwargs)
        if function in BLANK:
            array = function(*map(example_of, args), **kwargs)
            return Symbol(step_of(array), array, self.asked)
        return note(function.__name__, *args, **kwargs)

    # Writing

    def __setitem__(self, index: Any, value: Any) -> None:
        self.become(note("with_item", self, index, value))

    def become(self, other: "Symbol") -> "Symbol":
        """Stand for `other` from here on: that is what an in-place operation notes."""
        if other.dtype != self.dtype:
            other = note("ndarray.astype", other, self.dtype)
        self.step, self.example = other.step, other.example
        owner = self.owner
        if owner is not None and self._place is None:
            raise RuntimeError(
                "a write to a view cannot be noted in a static graph while the array "
                f"that it is a view of is in use: {self.step}"
            )
        if owner is not None:
            owner[self._place] = self
        return self

    # What Python asks for numbers

    def numbers(self) -> ndarray:
        """Return the example's numbers; raise TypeError where they mean nothing."""
        if self.asked is None:
            raise TypeError(
                f"Python asks for the numbers of {self.step}, which are not known "
                "before the graph runs. Choose with where(), or before you feed it."
            )
        line = line_outside()
        self.asked.append(f"{line}: {self.step.name or self.step.call}")
        return self.example

    def __bool__(self) -> bool:
        return bool(self.numbers())

    def __float__(self) -> float:
        return float(self.numbers())

    def __int__(self) -> int:
        return int(self.numbers())

    def item(self) -> float | int | bool:
        return self.numbers().item()

    def tolist(self) -> Any:
        return self.numbers().tolist()

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{self.step} would become an array of NumPy's here, and what is computed "
            "from that could not be noted"
        )

    def __repr__(self) -> str:
        return f"Symbol({self.step})"


Array.register(Symbol)


def note(call: str, *args: Any, **options: Any) -> Symbol:
    """Note a call with symbols, and return the symbol of its result.

    It is tried on the examples: so shapes and dtypes are known, and an error comes
    here, at the line that caused it, not when the graph runs.
    """
    check_notable(call, options)
    example = np.asarray(CALLS[call](*map(example_of, args), **options))
    step = Step(call, list(map(step_of, args)), options, example.shape, example.dtype)
    step.line = line_outside()
    symbols = [value for value in flat(args) if isinstance(value, Symbol)]
    traced = all(symbol.asked is not None for symbol in symbols)
    result = Symbol(step, example, symbols[0].asked if traced else None)
    if np.may_share_memory(example, symbols[0].example):
        result._base = weakref.ref(symbols[0])
    return result


def check_notable(call: str, options: dict[str, Any]) -> None:
    """Raise TypeError for calls that no step can be, and for symbols as options."""
    if call not in CALLS:
        raise TypeError(f"a static graph cannot note a call of {call}")
    if any(isinstance(value, Symbol) for value in flat(options.values())):
        raise TypeError(f"{call}: what is not known yet cannot be one of {[*options]}")


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


def line_outside() -> str:
    """Return the line that led to the caller, outside of minigrad and NumPy."""
    package = os.path.dirname(os.path.dirname(__file__))
    inside = tuple(os.path.join(m, "") for m in (package, os.path.dirname(np.__file__)))
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    name, ending = os.path.splitext(os.path.basename(frame.f_code.co_filename))
    file = "" if ending != ".py" or name.isdecimal() else f"{name}.py, "  # no cell's
    return f"{file}line {frame.f_lineno}"
