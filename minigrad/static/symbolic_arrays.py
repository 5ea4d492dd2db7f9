"""Symbols: They replace arrays and numbers while a static graph is built.

If NumPy is asked to compute with a Symbol, the call is not run but noted as a Step. The
rules do not notice this. So they leave behind a graph of everything that they would
compute, forwards and backwards, and no second set of derivatives is needed.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from minigrad.array.dtypes import Array
from minigrad.errors import expect
from minigrad.graph.saved_values import storage
from minigrad.static.steps import CALLS, Step, line_outside

ABOUT_SHAPES = np.shape, np.ndim, np.size, np.shares_memory, np.may_share_memory
BLANK = np.zeros_like, np.ones_like, np.empty_like


sources = WeakValueDictionary()  # of constants, by position, as long as they live


class Symbol(NDArrayOperatorsMixin):
    """Represents an array. Notes what NumPy should do with it, and does not do it.

    `example` is an array of the same shape and dtype. Its numbers mean something only
    while a function is traced. In that case, `asked` lists the numbers that Python has
    asked for, each as a step whose argument was asked and whose value was the answer.
    """

    T = property(lambda self: note("transpose", self))
    mT = property(lambda self: note("swapaxes", self, -2, -1))

    def __init__(self, step: Step, example: ndarray, asked: list | None = None):
        self.now, self.asked = (step, example), asked
        self.base = self.since = self.take = None  # of a view: see view_of()

    step = property(lambda self: self.renewed()[0])
    example = property(lambda self: self.renewed()[1])

    def view_of(self, base: "Symbol", take: Callable) -> None:
        """Become take(base), a view of `base`. A write to one shows in both."""
        self.base, self.since, self.take = base, base.step, take

    def renewed(self) -> tuple[Step, ndarray]:
        """Return step and example, or new ones if a view's base was written to."""
        if self.base is not None and self.base.step is not self.since:
            self.now, self.since = self.take(self.base).now, self.base.step
        return self.now

    def __getattr__(self, name: str):
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "strides", "flags"):
            return getattr(self.example, name)
        if name in ("item", "tolist"):
            return getattr(self.numbers(), name)
        if f"ndarray.{name}" in CALLS:
            return partial(note, f"ndarray.{name}", self)
        raise AttributeError(f"a Symbol has no {name!r}: its numbers are not known yet")

    def __len__(self) -> int:
        return len(self.example)

    def __getitem__(self, index) -> "Symbol":
        if any(isinstance(x, Symbol) and x.dtype == bool for x in flat([index])):
            raise TypeError("a mask takes an unknown number of elements: use where()")
        return note("getitem", self, index)

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if method == "at" and ufunc is np.add:  # np.add.at(array, index, value) writes
            return inputs[0].become(note("with_sum", *inputs))
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        result = note(name, *inputs, **options)
        if out and not isinstance(out[0], Symbol):
            raise TypeError(f"an array cannot hold what is not known yet: {result}")
        return out[0].become(result) if out else result

    def __array_function__(self, function, types, args, kwargs):
        if function not in ABOUT_SHAPES + BLANK:
            return note(function.__name__, *args, **kwargs)
        found = function(*map(example_of, args), **kwargs)
        if function not in BLANK:
            return found
        step = replace(step_of(found), name=function.__name__)
        return Symbol(step, found, self.asked)

    # Writing

    def __setitem__(self, index, value) -> None:
        self.become(note("with_item", self, index, value))

    def become(self, other: "Symbol") -> "Symbol":
        """Represent `other` from now on, as after an in-place operation.

        A view writes `other` to its base, at its own index or positions. To find these,
        the same view is taken of an array that numbers the positions of the base.
        """
        if other.dtype != self.dtype:
            other = note("ndarray.astype", other, self.dtype)
        if self.base is None:
            self.now = other.now
            return self
        call, (_, *given) = self.step.call, self.step.arguments
        if call == "getitem":
            self.base.become(note("with_item", self.base, given[0].value, other))
            return self
        if call == "ndarray.transpose":
            back = np.argsort([axis.value for axis in given]).tolist()
            self.base.become(note("ndarray.transpose", other, *back))
            return self
        shape, size = self.base.shape, self.base.size
        places = self.take(Symbol(Step("constant"), np.arange(size).reshape(shape)))
        numbers = self.base.reshape(-1), (places.example.ravel(),), other.reshape(-1)
        self.base.become(note("with_item", *numbers).reshape(shape))
        return self

    # What Python asks for numbers

    def numbers(self, what: str = "number") -> ndarray:
        """Return the example's numbers. Raises TypeError if they are not real ones.

        `what` is "truth" if Python asks only whether it is 0.
        """
        why = f"Python asks for the numbers of {self.step}, which are not known before "
        cure = "the graph runs. Choose with where(), or before you feed it."
        expect(self.asked is not None, f"{why}{cure}", error=TypeError)
        line = line_outside()
        answer = Step("asked", [self.step], value=self.example, name=what, line=line)
        self.asked.append(answer)
        return self.example

    def __bool__(self) -> bool:
        return bool(self.numbers("truth"))

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"{self.step} cannot note what is done with it as an array")

    def __repr__(self) -> str:
        return f"Symbol({self.step})"


Array.register(Symbol)


class Number(Symbol):
    """Represents a number of Python, such as a learning rate."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        call = f"number.{ufunc.__name__}"
        if call in CALLS and all(isinstance(x, Number | int | float) for x in inputs):
            step = Step(call, [*map(step_of, inputs)], line=line_outside())
            return Number(step, CALLS[call](*map(example_of, inputs)), self.asked)
        return super().__array_ufunc__(ufunc, method, *inputs, out=out, **options)

    def __float__(self) -> float:
        return float(self.numbers())

    def __index__(self) -> int:
        return operator.index(self.numbers())


def named_symbol(call: str, array: ndarray, name: str, asked=None) -> Symbol:
    """Return the symbol of a new placeholder, or of a variable that starts as array."""
    value = array if call == "variable" else None
    step = Step(call, [], {}, array.shape, array.dtype, value, name, line_outside())
    return Symbol(step, array, asked)


def note(call: str, *args, **options) -> Symbol:
    """Note a call with symbols, and return the symbol of its result.

    The call is tried on the examples. So shapes and dtypes are known, and an error
    appears at the line that caused it, and not when the graph runs.
    """
    symbols = [value for value in flat(args) if isinstance(value, Symbol)]
    if call not in CALLS or not symbols:  # a symbol as an option is not an argument
        raise TypeError(f"a static graph cannot note a call of {call}")
    example = np.asarray(CALLS[call](*map(example_of, args), **options))
    step = Step(call, list(map(step_of, args)), options, example.shape, example.dtype)
    step.line = line_outside()
    result = Symbol(step, example, symbols[0].asked)
    if np.may_share_memory(example, symbols[0].example):
        result.view_of(symbols[0], lambda base: note(call, base, *args[1:], **options))
    return result


def flat(values) -> Iterator:
    """Yield the items of nested tuples and lists."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from flat(value)
        else:
            yield value


def example_of(value):
    """Return an argument with each symbol replaced by its example."""
    if isinstance(value, tuple | list):
        return type(value)(map(example_of, value))
    return value.example if isinstance(value, Symbol) else value


def step_of(value) -> Step:
    """Return the step of an argument, which is a constant if the argument is known."""
    if isinstance(value, Symbol):
        return value.step
    if any(isinstance(x, Symbol) for x in flat([value])):
        return Step(type(value).__name__, list(map(step_of, value)))
    if isinstance(value, ndarray | np.generic):
        copy = value.copy()  # other code may write to it later
        step = Step("constant", [], {}, value.shape, value.dtype, copy)
        if isinstance(value, ndarray):
            sources[step.position] = storage(value)
        return step
    return Step("constant", value=value)
