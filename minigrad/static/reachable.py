"""What a function can get at: tensors, numbers that change, and all the rest."""

import dis
import gc
import random
from collections.abc import Iterator
from functools import partial
from operator import is_, setitem
from types import CellType, CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.optim import Optimizer
from minigrad.optim.lr_scheduler import LRScheduler

ONLY_ONCE = "print", "input", "open", "next", "random", "time"  # in a trace
RESTLESS = Iterator, random.Random, np.random.Generator, np.random.RandomState
PARTS = list, tuple, set, CellType, MethodType, partial, property, staticmethod
PARTS += (classmethod,)


class Reachable:
    """All that a function can get at, so that a change of it is noticed.

    `tensors` maps tensors to names. `slots` has the numbers and arrays that optimizers
    and schedules remember, as (dict, key). All that `watched` objects refer to has to
    stay the same, and so has `kept`. `undo` puts it back.
    """

    def __init__(self, function, inputs: dict[Tensor, str]):
        self.tensors, self.arrays, self.memories, self.seen = dict(inputs), [], [], {}
        self.slots, self.kept, self.watched, self.undo, self.moving = [], [], [], [], []
        self.visit([function, *map(hooks_of, inputs)], "", False)
        for memory in self.memories:
            self.visit(memory, "", True)
        self.sizes = [*map(len, self.moving)]
        self.before = gc.get_referents(*self.watched)

    def unchanged(self) -> bool:
        """Return whether all that has to stay the same is the same."""
        now, before = gc.get_referents(*self.watched), self.before
        kept = all(where.get(key) is value for where, key, value in self.kept)
        kept = kept and [*map(len, self.moving)] == self.sizes
        return kept and len(now) == len(before) and all(map(is_, now, before))

    def visit(self, value, name: str, moves: bool) -> None:
        """Note an object, and all that can be got at from it.

        If it `moves`, it belongs to an optimizer or a schedule, and numbers may change.
        """
        over = id(value) in self.seen or "static" in type(value).__module__
        if over or isinstance(value, type | ModuleType):
            return
        self.seen[id(value)] = value
        if isinstance(value, RESTLESS):
            raise TypeError(f"{name or value} is something else at each call")
        if isinstance(value, Tensor):
            if value in self.tensors or not value.is_leaf:
                raise TypeError(f"{name} is an argument, too, or has a history")
            self.tensors[value] = name
            self.visit(hooks_of(value), name, False)
        elif isinstance(value, np.ndarray):
            self.arrays.append(value)
        elif isinstance(value, dict):
            self.visit_items(value, value, moves)
        elif isinstance(value, FunctionType):
            self.visit_function(value)
        elif isinstance(value, PARTS):
            self.watched.append(value)
            if isinstance(value, list):
                self.undo.append(partial(setitem, value, slice(None), [*value]))
            elif isinstance(value, CellType):
                old = value.cell_contents
                self.undo.append(partial(setattr, value, "cell_contents", old))
            for each in gc.get_referents(value):
                self.visit(each, name, moves)
        elif hasattr(value, "__dict__"):
            if isinstance(value, Optimizer | LRScheduler):
                self.memories.append(vars(value))  # later, as names there are poor
            else:
                self.visit(vars(value), name, moves)
            for kind in type(value).__mro__:
                for key, each in () if is_ours(kind) else vars(kind).items():
                    self.kept.append((vars(kind), key, each))
                    self.visit(each, name, False)
        elif gc.is_tracked(value):
            raise TypeError(f"what changes in {name} ({type(value)}) cannot be seen")

    def visit_items(self, values: dict, scope: dict, moves: bool) -> None:
        """Visit the values of a dict, from `scope`. What moves there is a slot."""
        self.undo += [values.clear] if scope is values else []
        self.undo.append(partial(scope.update, dict(values)))
        if scope is values:
            (self.moving if moves else self.watched).append(values)
        for key, value in values.items():
            if moves and type(value) in (int, float, np.ndarray):
                self.slots.append((values, key))
                continue
            if moves or scope is not values:
                self.kept.append((scope, key, value))
            self.visit(value, self.tensors.get(key, key), moves)

    def visit_function(self, function: FunctionType) -> None:
        """Visit what a function finds by the names of variables around it."""
        if is_ours(function):
            return
        scope, names = function.__globals__, dict(names_in(function.__code__))
        found = {x: scope[x] for x, around in names.items() if around and x in scope}
        for name in ONLY_ONCE:
            if name in names and not isinstance(found.get(name), FunctionType):
                raise TypeError(f"{name} would be called only once")
        self.visit_items(found, scope, False)
        held = [y for y in found.values() if isinstance(y, type | ModuleType)]
        held = [vars(z) for y in held for z in getattr(y, "__mro__", [y])]
        self.kept += [(z, key, z[key]) for z in held for key in names if key in z]
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells):
            self.visit(cell, name, False)
        self.visit((function.__defaults__, function.__kwdefaults__), "", False)


def hooks_of(x: Tensor) -> list:
    """Return a tensor's hooks, and the variables around each."""
    return [(hook, hook.__closure__) for hook in x.edge.hooks] if x.edge else []


def is_ours(thing) -> bool:
    """Return whether a function or class is from a package that remembers nothing."""
    return str(thing.__module__).split(".")[0] in ("minigrad", "numpy", "builtins")


def names_in(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Yield the names that code uses, and whether they are variables around it."""
    yield from ((name, False) for name in code.co_names)
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval, True
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)
