"""Steps: The calls that make up a static graph, and the functions that they call."""

import itertools
import operator
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray

from minigrad.tensors.creation import generator

positions = itertools.count()


@dataclass(eq=False, repr=False)
class Step:
    """One call in a static graph, with the name of its function and its arguments.

    A placeholder is fed, a variable starts with its `value`, and a constant always is
    its `value`. `line` says where in the program the step comes from. Later steps have
    larger positions.
    """

    call: str
    arguments: list["Step"] = field(default_factory=list)
    options: dict = field(default_factory=dict)
    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None
    value: object = None
    name: str = ""
    line: str = ""
    position: int = field(default_factory=positions.__next__)

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {self.shape}"
        line = f" from {self.line}" if self.line else ""
        return f"<{self.name or self.call}{shape}{line}>"


def line_outside() -> str:
    """Return the line outside of minigrad and NumPy that called into them."""
    package = os.path.dirname(os.path.dirname(__file__))
    inside = tuple(os.path.join(m, "") for m in (package, os.path.dirname(np.__file__)))
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    name, ending = os.path.splitext(os.path.basename(frame.f_code.co_filename))
    file = "" if ending != ".py" or name.isdecimal() else f"{name}.py, "  # no cell's
    return f"{file}line {frame.f_lineno}"


def with_item(array: ndarray, index, value) -> ndarray:
    """Return a copy of an array with other numbers at `index`."""
    array = np.array(array, order="K")  # on the same layout, sums come out the same
    array[index] = value
    return array


def with_sum(array: ndarray, index, value) -> ndarray:
    """Return a copy of an array with `value` added at `index`, as np.add.at does."""
    array = np.array(array, order="K")
    np.add.at(array, index, value)
    return array


def method(name: str) -> Callable:
    """Return a function that calls a method of an array, or of a NumPy number."""
    return lambda array, *args, **options: getattr(array, name)(*args, **options)


def masked(mask: ndarray, array: ndarray) -> ndarray:
    """Return the numbers of an array where a mask is True, and 0 elsewhere."""
    return np.where(mask, array, 0)


def draw(name: str) -> Callable:
    """Return a function that draws with a method of minigrad's random generator."""
    return lambda *args, **options: getattr(generator(), name)(*args, **options)


FUNCTIONS = """argmax argmin argsort broadcast_to clip concatenate cumsum dot einsum
    expand_dims flip max mean min moveaxis pad prod reshape roll squeeze stack std sum
    swapaxes take transpose tril triu var where"""
METHODS = """all any argmax argmin astype clip copy cumsum max mean min prod ravel
    reshape round squeeze std sum swapaxes take transpose var view"""
DRAWS = "random", "standard_normal", "integers"
CALLS = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
CALLS |= {f"{name}.reduce": f.reduce for name, f in CALLS.items() if f.nin == 2}
CALLS |= {name: getattr(np, name) for name in FUNCTIONS.split()}
CALLS |= {f"ndarray.{name}": method(name) for name in METHODS.split()}
CALLS |= {"getitem": operator.getitem, "with_item": with_item, "with_sum": with_sum}
SIGNS = dict(add="+", subtract="-", multiply="*", divide="/", power="**", negative="-")
OF_NUMBERS = dict(subtract="sub", multiply="mul", divide="truediv", power="pow")
OF_NUMBERS |= dict(add="add", negative="neg")
CALLS |= {f"number.{k}": getattr(operator, v) for k, v in OF_NUMBERS.items()}
CALLS |= {"masked": masked} | {f"generator.{name}": draw(name) for name in DRAWS}
CALLS |= {"tuple": lambda *items: items, "list": lambda *items: list(items)}
CALLS |= {"assign": lambda value, variable: value.copy()}
GIVEN = ("placeholder", "variable", "constant")  # steps that call nothing
