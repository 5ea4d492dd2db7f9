"""What a function can get at: tensors, numbers that change, and all the rest."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from operator import call, is_, setitem
from types import CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.optim import Optimizer
from minigrad.optim.lr_scheduler import LRScheduler

OURS = "minigrad", "numpy", "builtins"  # their functions and classes remember nothing
ONLY_ONCE = "print", "input", "open", "next"  # what a trace would call only once
RESTLESS = Iterator, random.Random, np.random.Generator, np.random.RandomState


class Reachable:
    """All that a function can get at, so that a change of it is noticed.

    `tensors` maps tensors to their names. `slots` are the numbers and arrays that an
    optimizer or a schedule remembers, each as (dict, key, name). The objects that the
    functions in `watched` return have to stay the same. `undo` puts them back.
    """

    def __init__(self, function: Callable):
        self.tensors, self.arrays, self.slots, self.seen = {}, [], [], {}
        self.watched, self.undo = [], []
        self.visit(function, "", False)
        self.before = list(self.now())

    def now(self) -> Iterator:
        """Yield all objects that have to stay the same, and END."""
        return chain(chain.from_iterable(map(call, self.watched)), [RESTLESS])

    def unchanged(self) -> bool:
        """Return whether all that has to stay the same is the same."""
        return all(map(is_, self.now(), self.before))

    def check(self) -> None:
        """Raise TypeError if something changed, and put it back as it was."""
        if not self.unchanged():
            for put_back in self.undo:
                put_back()
            raise TypeError("it changes what it can get at, such as a list")

    def visit(self, value, name: str, moves: bool) -> None:
        """Note an object, and all that can be got at from it.

        If it `moves`, it belongs to an optimizer or a schedule, and numbers may change.
        """
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if isinstance(value, RESTLESS):
            raise TypeError(f"{name} is something else at each call")
        if isinstance(value, Tensor):
            self.tensors[value] = name
        elif isinstance(value, np.ndarray):
            self.arrays.append(value)
        elif isinstance(value, dict):
            self.visit_dict(value, name, moves)
        elif isinstance(value, list | tuple):
            self.watched.append(partial(iter, value))
            if isinstance(value, list):
                self.undo.append(partial(setitem, value, slice(None), [*value]))
            self.visit_all(dict(enumerate(value)), name, moves)
        elif isinstance(value, MethodType):
            self.visit_all({"": value.__self__, "f": value.__func__}, name, moves)
        elif isinstance(value, partial):
            parts = {"": value.func, "args": value.args, "kw": value.keywords}
            self.visit_all(parts, name, moves)
        elif isinstance(value, FunctionType):
            self.visit_function(value)
        elif hasattr(value, "__dict__") and not isinstance(value, type | ModuleType):
            moves = moves or isinstance(value, Optimizer | LRScheduler)
            self.visit(vars(value), name, moves)
            for kind in type(value).__mro__:
                self.visit_all(vars(kind) if not is_ours(kind) else {}, "", False)

    def visit_all(self, values: dict, name: str, moves: bool) -> None:
        """Visit all values, whose names begin with `name`."""
        for key, value in values.items():
            key = self.tensors.get(key, key) if isinstance(key, Tensor) else key
            self.visit(value, f"{name}.{key}".strip("."), moves)

    def visit_dict(self, values: dict, name: str, moves: bool) -> None:
        """Visit the values of a dict. Numbers that move are slots."""
        kinds = (int, float, np.ndarray) if moves else ()
        moving = [key for key in values if type(values[key]) in kinds]
        kept = {key: each for key, each in values.items() if type(each) not in kinds}
        self.watched.append(lambda: (len(values), *map(values.get, kept)))
        if len(kept) == len(values):
            self.watched[-1] = values.values
        self.undo += [values.clear, partial(values.update, dict(values))]
        self.slots += [(values, k, f"{name}.{k}") for k in moving]
        self.visit_all(kept, name, moves)

    def visit_function(self, function: FunctionType) -> None:
        """Visit what a function can get at by a name of a variable around it."""
        if is_ours(function):
            return
        cells, code, around = function.__closure__ or (), function.__code__, {}
        for name in names_in(code):
            if name in ONLY_ONCE and name not in function.__globals__:
                raise TypeError(f"{name}() would be called only once")
            if name in function.__globals__:
                around[name] = function.__globals__[name]
        self.watched.append(lambda: map(function.__globals__.get, around))
        self.watched.append(lambda: [cell.cell_contents for cell in cells])
        inside = dict(zip(code.co_freevars, self.watched[-1]()))
        for cell, value in zip(cells, inside.values()):
            self.undo.append(partial(setattr, cell, "cell_contents", value))
        self.undo.append(partial(function.__globals__.update, around))
        self.visit_all(inside | around, "", False)
        self.visit(function.__defaults__, "default", False)


def is_ours(thing) -> bool:
    """Return whether a function or class is from a package that remembers nothing."""
    return str(thing.__module__).split(".")[0] in OURS


def names_in(code: CodeType) -> list[str]:
    """Return the names that code uses, and those of the functions inside of it."""
    inner = [names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return [*code.co_names, *chain.from_iterable(inner)]
