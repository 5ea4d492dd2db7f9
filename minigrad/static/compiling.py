"""compile() writes what a function does as straight-line NumPy, and runs that instead.

The text is written from a trace. A trace is right only as long as all that Python has
looked at stays as it was, so each call first asks whether it did.
"""

import builtins
import copy
import inspect
import linecache
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from operator import attrgetter, getitem, is_

import numpy as np
from numpy import ndarray

from minigrad.errors import kind
from minigrad.graph.recording import recording
from minigrad.graph.saved_values import record_write, storage
from minigrad.graph.tensor import Tensor
from minigrad.static import passes
from minigrad.static.passes import layout_of, ordered
from minigrad.static.reachable import Reachable
from minigrad.static.steps import CALLS, Step, line_outside
from minigrad.static.symbolic_arrays import (
    Number,
    Symbol,
    named_symbol,
    sources,
    step_of,
)
from minigrad.static.writing import Writer
from minigrad.tensors.creation import _generators, generator

MOST = 8
PLAIN = int | float | bool | str | None
SHORT = {"weight": "w", "bias": "b"}
TAKEN = "np", "inf", "nan", "generator", "once", "call", "Changed"


class Changed(Exception):
    """A number that Python asked for is another one now."""


class Draws:
    """Represents the random generator while a function is traced. Notes each draw."""

    def __init__(self, example: np.random.Generator, asked: list):
        self.example, self.asked, self.steps = example, asked, []

    def __getattr__(self, name: str):
        if f"generator.{name}" not in CALLS:
            raise TypeError(f"a static graph cannot note {name} of a random generator")
        return partial(self.draw, name)

    def draw(self, name: str, *args, **options) -> Symbol:
        """Note a draw, and return its symbol."""
        drawn = np.asarray(getattr(self.example, name)(*args, **options))
        step = Step(f"generator.{name}", [*map(step_of, args)], options, drawn.shape)
        step.dtype, step.line = drawn.dtype, line_outside()
        self.steps.append(step)
        return Symbol(step, drawn, self.asked)


class Compiled:
    """A function that runs as NumPy's calls, written once for each kind of arguments.

    `source` is the text that was written last. The first call runs the function itself,
    in which an optimizer makes what it remembers.
    """

    def __init__(self, function: Callable, variables: Iterable[Tensor] = ()):
        self.function, self.variables = function, tuple(variables)
        self.codes, self.warm, self.why_not = [], False, ""

    @property
    def source(self) -> str:
        """The text that was written last, or "" if there is none."""
        return self.codes[-1].source if self.codes else ""

    def __call__(self, *args):
        """Return what the function returns. Results have no history."""
        for code in self.codes:
            if code.fits(args):
                before = code.drawn and generator().bit_generator.state
                try:
                    return code.run(args)
                except Changed:
                    if before:
                        generator().bit_generator.state = before
        if not self.warm or self.why_not:
            self.warm = True
            return self.function(*args)
        try:
            code, why = Code(self.function, args, self.variables), ""
            if len(self.codes) == MOST:
                why = f"{MOST} traces did not fit: {code.unlike(self.codes[-1])}"
        except Exception as error:  # if it is the function's own, it comes again
            why = str(error) or repr(error)
        if not why:
            self.codes.append(code)
            return code.run(args)
        result = self.function(*args)
        self.why_not = why
        name = getattr(self.function, "__qualname__", kind(self.function))
        warnings.warn(f"{name} is not compiled: {why}", stacklevel=2)
        return result


def compile(function: Callable, variables: Iterable[Tensor] = ()) -> Compiled:
    """Return a function that does the same in less time, and records no graph.

    What the function can get at is found, such as a model or an optimizer. `variables`
    names further tensors whose numbers may change.
    """
    return Compiled(function, variables)


class Place:
    """Where an array or a number is kept: in a tensor, in its gradient, or in a dict."""

    def __init__(self, owner, key: str, name: str, fed: bool, asked: list):
        self.owner, self.key, self.name = owner, key, name
        self.get = partial(attrgetter(key), owner)
        if isinstance(owner, dict):
            self.get = partial(getitem, owner, key)
        self.old = self.get()
        if isinstance(self.old, ndarray):
            call = "placeholder" if fed else "variable"
            self.symbol = named_symbol(call, self.old, name, asked)
        else:
            self.symbol = Number(Step("placeholder", name=name), self.old, asked)
        self.step = self.symbol.step

    def put(self, value) -> None:
        """Keep another value here."""
        if isinstance(self.owner, dict):
            self.owner[self.key] = value
        elif self.key == "array":
            self.owner.array = value
        else:
            self.owner._grad = Tensor(value)


class Code:
    """What a function did with its arguments, as text, and what this depends on."""

    def __init__(self, function: Callable, args: tuple, variables: tuple):
        if any(not isinstance(x, Tensor | PLAIN) for x in args):
            raise TypeError("an argument is neither a tensor nor a plain value")
        self.reach, self.asked = Reachable(partial(function, *variables)), []
        inputs = [x for x in args if isinstance(x, Tensor)]
        self.tensors = [
            x for x in self.reach.tensors if x.is_leaf and x not in {*inputs}
        ]
        self.key, now, outside = self.key_of(args), generator(), drawn_outside()
        self.find_places(function, inputs)
        draws = Draws(copy.deepcopy(now), self.asked)
        try:
            _generators[:] = [draws]
            parts = self.trace(function, args, [*inputs, *self.tensors])
            if _generators[0] is not draws or drawn_outside() != outside:
                raise TypeError("it draws random numbers that are not minigrad's")
            _generators[:] = [copy.deepcopy(now)]
            self.write([self.asked, draws.steps, *parts])
        finally:
            _generators[:] = [now]

    def key_of(self, args: tuple) -> list:
        """Return all that has to be equal in a call."""
        key = [recording.on, len({*map(id, args)})]
        key += [x._grad is None for x in self.tensors]
        key += [x.edge for x in self.tensors]
        for x in args:
            tensor = isinstance(x, Tensor)
            key += layout_of(x.array) if tensor else (type(x), x)
            key += [x.edge is None, x._grad is None] if tensor else []
        return key

    def find_places(self, function: Callable, inputs: list) -> None:
        """Find where all numbers are kept that may be others in the next call."""
        names = [*inspect.signature(function).parameters]
        names += [f"x{i}" for i in range(len(names), len(inputs))]
        paths = dict(zip(inputs, names)) | {
            x: self.reach.tensors[x] for x in self.tensors
        }
        found = [(x, "array", path) for x, path in paths.items()] + self.reach.slots
        found += [
            (x, "_grad.array", f"{path}_grad")
            for x, path in paths.items()
            if x._grad is not None
        ]
        names, self.places = short_names([path for *_, path in found]), []
        for i, ((owner, key, _), name) in enumerate(zip(found, names)):
            self.places.append(Place(owner, key, name, i < len(inputs), self.asked))

    def trace(self, function: Callable, args: tuple, known: list) -> list[list]:
        """Call the function with symbols. Return the steps of all that it changed."""
        before = {x: (x._grad, x.edge) for x in known}
        frozen = [x for x in self.reach.arrays if x.flags.writeable]
        try:
            for each in frozen:
                each.flags.writeable = False
            for place in self.places:
                place.put(place.symbol)
            held = [x._grad for x in known]
            outputs = function(*args)
            grads, edges = [x._grad for x in known], [x.edge for x in known]
            ends = [
                x.symbol if x.key == "_grad.array" else x.get() for x in self.places
            ]
        finally:
            for place in self.places:
                place.put(place.old)
            for x, (grad, _) in before.items():
                x._grad = grad
            for each in frozen:
                each.flags.writeable = True
        self.reach.check()
        if edges != [edge for _, edge in before.values()]:
            raise TypeError("it changes what requires grad")
        new = self.keep_writes(ends)
        pairs = enumerate(zip(grads, held))
        self.graded = [(i, grad is None) for i, (grad, old) in pairs if grad is not old]
        grads = [
            self.result(x) for x, old in zip(grads, held) if not (x is old or x is None)
        ]
        self.several = type(outputs) if isinstance(outputs, list | tuple) else None
        outputs = outputs if self.several else [outputs]
        if not {*map(id, known)}.isdisjoint(map(id, outputs)):
            raise TypeError("it returns a tensor that was there before")
        self.are_tensors = [isinstance(x, Tensor) for x in outputs]
        outputs = [self.result(x) for x in outputs]
        return [new, grads, [*map(step_of, self.numbers.values())], outputs]

    def keep_writes(self, ends: list) -> list[Step]:
        """Note which places have other numbers now. Return the steps of the arrays."""
        self.written, self.numbers = [], {}
        for place, end in zip(self.places, ends):
            if end is not place.symbol:
                if isinstance(place.old, ndarray) or not isinstance(end, Number):
                    raise TypeError(f"it puts something else into {place.name}")
                self.numbers[place] = end
            elif end.step is not place.step:
                if place.step.call == "placeholder":
                    raise TypeError("it writes to an argument: write to its clone()")
                self.written.append(place)
        return [place.symbol.step for place in self.written]

    def result(self, value) -> Step:
        """Return the step of a result, unless backward() could go on from there."""
        if isinstance(value, Tensor):
            if value.edge is not None and not is_over(value.edge):
                why = "its result requires grad: compile a step with backward(), "
                raise TypeError(f"{why}or call it under no_grad()")
            return step_of(value.array)
        if not isinstance(value, Symbol | PLAIN):
            raise TypeError(f"it returns a {kind(value)}")
        return step_of(value)

    def write(self, parts: list[list[Step]]) -> None:
        """Shorten the graph, and write its text."""
        fetches, given = sum(parts, []), {x.step: x.old for x in self.places}
        found = {
            id(x): x for x in map(sources.get, (s.number for s in ordered(fetches)))
        }
        self.living = [(x, x.copy()) for x in found.values() if x is not None]
        fetches = passes.shortened(fetches, given)
        rest = iter(fetches)
        asked, drawn, new, grads, *ends = ([*islice(rest, len(x))] for x in parts)
        asked = [x for x in asked if x.arguments[0].call != "constant"]
        first = ordered([*asked, *drawn]) if asked else []
        order = [
            *first,
            *(x for x in ordered(fetches) if x not in {*first} and x.call != "asked"),
        ]
        ahead = {*ordered([*asked, *ends[-1]])}
        names = {step: "g1" for step in order if step not in ahead}
        names |= {place.step: place.name for place in self.places}
        tensors = [place.name for place in self.places if place.key == "array"]
        graded = [tensors[i] for i, none in self.graded if not none]
        names |= {step: f"{name}_grad" for step, name in zip(grads, graded)}
        self.drawn, used = bool(drawn), {*order}
        self.variables = [
            x for x in self.places if x.step in used and x.step.call == "variable"
        ]
        self.fed = [
            x for x in self.places if x.step in used and x.step.call != "variable"
        ]
        changed = {place.step: step for place, step in zip(self.written, new)}
        writer = Writer(order, given, names, [*grads, *sum(ends, [])], changed)
        head = [[x.name for x in some] for some in (self.variables, self.fed)]
        self.source = writer.source(*head)
        name = f"<compiled {id(self)}>"
        linecache.cache[name] = 0, None, self.source.splitlines(True), name
        self.scope = {
            "np": np,
            "generator": generator,
            "Changed": Changed,
            "inf": np.inf,
        }
        self.scope |= {"nan": np.nan} | writer.constants
        exec(builtins.compile(self.source, name, "exec"), self.scope)
        self.layouts, self.arrays = [layout_of(x.old) for x in self.variables], []
        numbers = {id(x): i for i, x in enumerate(self.places)}
        self.fed = [numbers[id(x)] if x.key == "array" else x.get for x in self.fed]
        self.bind([x.old for x in self.variables])

    # Running

    def bind(self, arrays: list[ndarray]) -> bool:
        """Get ready for variables in these arrays. Return whether the text is right."""
        if [layout_of(x) for x in arrays] != self.layouts:
            return False
        self.storages, self.arrays = {id(storage(x)) for x in arrays}, arrays
        if self.written and len(self.storages) < len(arrays):
            raise TypeError("two of its variables share memory")
        self.call = self.scope["once"](*arrays)
        return True

    def fits(self, args: tuple) -> bool:
        """Return whether the text is right for these arguments."""
        if self.key_of(args) != self.key or not self.reach.unchanged():
            return False
        if not all(np.array_equal(*pair) for pair in self.living):
            return False
        owners = {id(storage(x.array)) for x in args if isinstance(x, Tensor)}
        if not {*self.tensors}.isdisjoint(args) or owners & self.storages:
            return False
        arrays = [place.get() for place in self.variables]
        return all(map(is_, arrays, self.arrays)) or self.bind(arrays)

    @np.errstate(all="ignore")
    def run(self, args: tuple):
        """Run the text, and put all results where the function would."""
        known = [x for x in args if isinstance(x, Tensor)] + self.tensors
        fed = [known[x].array if isinstance(x, int) else x() for x in self.fed]
        results = iter(self.call(*fed))
        for place in self.written:
            record_write(place.get())
        for i, none in self.graded:
            known[i]._grad = None if none else Tensor(next(results))
        for place in self.numbers:
            place.put(next(results))
        pairs = zip(self.are_tensors, results)
        outputs = [Tensor(x) if is_tensor else x for is_tensor, x in pairs]
        return self.several(outputs) if self.several else outputs[0]

    def unlike(self, other: "Code") -> str:
        """Return why a text was written that is not the other one."""
        if self.key != other.key:
            pairs = [pair for pair in zip(self.key, other.key) if pair[0] != pair[1]]
            return "{0} is not {1}".format(*pairs[0])
        for mine, theirs in zip(self.asked, other.asked):
            if not np.array_equal(mine.value, theirs.value):
                return f"Python asked for a number in {mine.line}"
        return "Python's own numbers or objects are others"


def is_over(edge) -> bool:
    """Return whether backward() has freed a part of the graph before an edge."""
    to_visit, seen = [edge], set()
    while to_visit:
        node = to_visit.pop()
        if getattr(node, "saved", {}) is None:
            return True
        seen.add(node)
        to_visit += [x for x in node.parents if x is not None and x not in seen]
    return False


def drawn_outside() -> tuple:
    """Return the state of random numbers that are not minigrad's."""
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), keys.tobytes(), rest


def short_names(paths: list[str]) -> list[str]:
    """Return a name for each path, such as w2 for the second of the weights."""
    keys = [re.sub(r"\W", "_", path.rpartition(".")[2]) for path in paths]
    keys = [SHORT.get(key, f"p{key}" if key.isdigit() else key) for key in keys]
    often, seen, names = Counter([*keys, *TAKEN]), Counter(), []
    for key in keys:
        seen[key] += 1
        names.append(f"{key}{seen[key]}" if often[key] > 1 else key)
    return names
