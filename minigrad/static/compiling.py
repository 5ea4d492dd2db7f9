"""compile() writes what a function does as straight-line NumPy, and runs that instead.

The text is written from a trace. A trace is right only as long as all that Python has
looked at stays as it was, so each call first asks whether it did.
"""

import copy
import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from operator import attrgetter, is_, itemgetter, setitem

import numpy as np
from numpy import ndarray

from minigrad.graph import saved_values
from minigrad.graph.recording import recording
from minigrad.graph.saved_values import storage
from minigrad.graph.tensor import Tensor
from minigrad.static.passes import layout_of, ordered, shortened
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


class Changed(Exception):
    """A number that Python asked for is another one now."""


NAMES = {"np": np, "generator": generator, "inf": np.inf, "nan": np.nan}
NAMES |= {"Changed": Changed, "once": None, "call": None}


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

    `source` is the text that was written last. If a call cannot be traced, the function
    itself runs, in which an optimizer makes what it remembers. If the next call cannot
    be traced either, that is said once, and from then on the function itself runs.
    """

    def __init__(self, function: Callable, variables: Iterable[Tensor] = ()):
        self.function, self.variables = function, tuple(variables)
        self.codes, self.failures, self.why_not, self.source = [], 0, "", ""

    def __call__(self, *args):
        """Return what the function returns. Results have memory of their own."""
        for code in self.codes:
            if code.fits(args):
                before = code.drawn and generator().bit_generator.state
                try:
                    return code.run(args)
                except Changed:
                    if before:
                        generator().bit_generator.state = before
        if self.failures == 2:
            return self.function(*args)
        try:
            code, why = Code(self.function, args, self.variables), ""
            if len(self.codes) == MOST:
                why = f"{MOST} traces did not fit: {code.unlike(self.codes[-1])}"
        except Exception as error:  # if it is the function's own, it comes again
            why = str(error) or repr(error)
        if not why:
            self.codes.append(code)
            self.source, self.failures, self.why_not = code.source, 0, ""
            return code.run(args)
        result = self.function(*args)
        self.failures, self.why_not = self.failures + 1, why
        if self.failures == 2:
            warnings.warn(f"the function is not compiled: {why}", stacklevel=2)
        return result


def compile(function: Callable, variables: Iterable[Tensor] = ()) -> Compiled:
    """Return a function that does the same in less time, and records no graph.

    What the function can get at is found, such as a model or an optimizer. `variables`
    names further tensors whose numbers may change.
    """
    return Compiled(function, variables)


class Place:
    """Where arrays and numbers are kept: by a tensor, as its gradient, or in a dict."""

    def __init__(self, owner, key: str, name: str, fed: bool, asked: list):
        by_name = isinstance(owner, Tensor)
        self.get = partial(attrgetter(key) if by_name else itemgetter(key), owner)
        self.put = partial(put if by_name else setitem, owner, key)
        self.owner, self.key, self.old, self.name = owner, key, self.get(), name
        if isinstance(self.old, ndarray):
            call = "placeholder" if fed else "variable"
            self.symbol = named_symbol(call, self.old, name, asked)
        else:
            self.symbol = Number(Step("placeholder", name=name), self.old, asked)
        self.step = self.symbol.step

    def end(self) -> Step | None:
        """Return the step of another number that is kept here now, or None."""
        now = self.symbol if self.key == "_grad.array" else self.get()
        if now is not self.symbol and not isinstance(now, Number):
            raise TypeError(f"it puts something else into {self.name}")
        if now.step is self.step:
            return None
        if isinstance(self.old, ndarray) and self.step.call == "placeholder":
            raise TypeError("it writes to an argument: write to its clone()")
        return now.step


class Code:
    """What a function did with its arguments, as text, and what this depends on."""

    def __init__(self, function: Callable, args: tuple, variables: tuple):
        plain = (
            isinstance(x, PLAIN) or isinstance(x, Tensor) and x.is_leaf for x in args
        )
        if not all(plain):
            raise TypeError("an argument has a history, or is no tensor or plain value")
        names = [*inspect.signature(function).parameters] + ["x"] * len(args)
        inputs = {x: name for x, name in zip(args, names) if isinstance(x, Tensor)}
        self.reach, self.asked = Reachable(partial(function, *variables), inputs), []
        known, now = [*self.reach.tensors], generator()
        self.tensors = known[len(inputs) :]
        self.own = {*self.tensors}
        self.key, draws = self.key_of(args), Draws(copy.deepcopy(now), self.asked)
        self.places = self.find_places(len(inputs))
        try:
            _generators[:] = [draws]
            fetches = self.trace(function, args, known)
            if _generators[0] is not draws:
                raise TypeError("it sets the seed of the random numbers")
            _generators[:] = [copy.deepcopy(now)]
            self.write([self.asked, draws.steps, *fetches])
        finally:
            _generators[:] = [now]

    def key_of(self, args: tuple) -> list:
        """Return all that has to be equal in a call."""
        key, seen = [recording.on], {}
        for x in args:
            key.append(type(x))
            if isinstance(x, Tensor):
                key += layout_of(x.array)
                key += seen.setdefault(x, len(seen)), x.edge is None, *ties(x)[1:]
            else:
                key.append(repr(x))  # it tells 0.0 from -0.0, and nan is like nan
        for x in self.tensors:
            key += ties(x)
        return key

    def find_places(self, fed: int) -> list[Place]:
        """Return where all numbers are kept that may be others in the next call."""
        tensors, slots = self.reach.tensors.items(), self.reach.slots
        found = [(x, "array", name) for x, name in tensors]
        found += [(where, key, key) for where, key in slots]
        found += [(x, "_grad.array", "grad") for x, _ in tensors if x._grad is not None]
        names = [str(name).partition(".")[0] for *_, name in found]
        names = [SHORT.get(x, x) if x.isidentifier() else "p" for x in names]
        often, seen, places = Counter([*names, *NAMES]), Counter(), []
        for i, (name, (owner, key, _)) in enumerate(zip(names, found)):
            seen[name] += 1
            name = f"{name}{seen[name]}" if often[name] > 1 else name
            places.append(Place(owner, key, name, i < fed, self.asked))
        return places

    def trace(self, function: Callable, args: tuple, known: list) -> list[list[Step]]:
        """Call the function with symbols. Return the steps of all that it changed."""
        before = [(x._grad, *ties(x)) for x in known]
        frozen = [x for x in self.reach.arrays if x.flags.writeable]
        same = False
        try:
            for x in frozen:
                x.flags.writeable = False
            for place in self.places:
                place.put(place.symbol)
            old = [x._grad for x in known]
            outputs = function(*args)
            ends = [(place, place.end()) for place in self.places]
            grads = [(i, x._grad) for i, x in enumerate(known) if x._grad is not old[i]]
            same = all(ties(x)[:2] == (*now,) for x, (_, *now, _) in zip(known, before))
            same = same and recording.on == self.key[0]
        finally:
            recording.on = self.key[0]
            for place in self.places:
                place.put(place.old)
            for x, (grad, edge, hooks, _) in zip(known, before):
                x._grad, x.edge = grad, edge
                if edge:
                    edge.hooks, edge.shape = hooks, x.shape
            for x in frozen:
                x.flags.writeable = True
            same = same and self.reach.unchanged()
            for put_back in () if same else self.reach.undo:
                put_back()
        if not same:
            raise TypeError("it changes what requires grad or an object such as a list")
        self.written = {p: x for p, x in ends if x and isinstance(p.old, ndarray)}
        self.numbers = {p: x for p, x in ends if x and p not in self.written}
        self.graded = [(i, grad is None) for i, grad in grads]
        self.several = type(outputs) if isinstance(outputs, list | tuple) else None
        outputs = outputs if self.several else [outputs]
        if any(x is y for x in outputs for y in known):
            raise TypeError("it returns a tensor that was there before")
        self.made = [isinstance(x, Tensor) for x in outputs]
        steps = [self.written.values(), [result(x) for _, x in grads if x is not None]]
        return [*steps, self.numbers.values(), [result(x) for x in outputs]]

    def write(self, parts: list) -> None:
        """Shorten the graph, and write its text."""
        fetches, given = sum(map(list, parts), []), {x.step: x.old for x in self.places}
        living = [sources.get(step.position) for step in ordered(fetches)]
        living = {id(x): x for x in [*living, *self.reach.arrays] if x is not None}
        self.living = [(x, x.copy()) for x in living.values()]
        rest = iter(shortened(fetches, given))
        asked, drawn, new, grads, *ends = ([*islice(rest, len(x))] for x in parts)
        asked = [x for x in asked if x.arguments[0].call != "constant"]
        first, ends = ordered([*asked, *drawn]) if asked else [], sum(ends, [])
        later = ordered([*drawn, *new, *grads, *ends])
        order = first + [x for x in later if x not in {*first}]
        ahead = {*ordered([*asked, *ends])}
        names = {step: "h1" if step in ahead else "g1" for step in order}
        places = [x for x in self.places if x.step in names]
        owners = [i for i, none in self.graded if not none]
        names |= {step: f"{self.places[i].name}_grad" for step, i in zip(grads, owners)}
        names |= {x.step: x.name for x in self.places}
        new = dict(zip((x.step for x in self.written), new))
        writer = Writer(order, given, names, [*grads, *ends], new)
        self.variables = [x for x in places if x.step.call == "variable"]
        fed = [x for x in places if x not in self.variables]
        once, call = ([x.name for x in some] for some in (self.variables, fed))
        self.source, self.drawn = writer.source(once, call), bool(drawn)
        self.scope = NAMES | writer.constants
        exec(self.source, self.scope)
        self.fed = [self.places.index(x) if x.key == "array" else x.get for x in fed]
        self.layouts = [layout_of(x.old) for x in self.variables]
        if not self.bind([x.old for x in self.variables]):
            raise TypeError("two of its variables share memory")

    def bind(self, arrays: list[ndarray]) -> bool:
        """Get ready for variables in these arrays. Return whether the text is right."""
        if [layout_of(x) for x in arrays] != self.layouts:
            return False
        self.storages, self.arrays = {id(storage(x)) for x in arrays}, arrays
        self.call = self.scope["once"](*arrays)
        return not self.written or len(self.storages) == len(arrays)

    def fits(self, args: tuple) -> bool:
        """Return whether the text is right for these arguments."""
        if self.key_of(args) != self.key or not self.reach.unchanged():
            return False
        owners = {id(storage(x.array)) for x in args if isinstance(x, Tensor)}
        if owners & self.storages or not self.own.isdisjoint(args):
            return False
        arrays = [place.get() for place in self.variables]
        bound = all(map(is_, arrays, self.arrays)) or self.bind(arrays)
        return bound and all(np.array_equal(*pair) for pair in self.living)

    @np.errstate(all="ignore")
    def run(self, args: tuple):
        """Run the text, and put all results where the function would."""
        known = [*{x: 0 for x in args if isinstance(x, Tensor)}, *self.tensors]
        fed = [known[x].array if isinstance(x, int) else x() for x in self.fed]
        results = iter(self.call(*fed))
        for place in self.written:
            saved_values.record_write(place.get())
        for i, none in self.graded:
            known[i]._grad = None if none else Tensor(next(results))
        for place in self.numbers:
            place.put(next(results))
        pairs = zip(self.made, results)
        outputs = [Tensor(np.asarray(x)) if made else x for made, x in pairs]
        return self.several(outputs) if self.several else outputs[0]

    def unlike(self, other: "Code") -> str:
        """Return why a text was written that is not the other one."""
        for mine, theirs in zip(self.asked, other.asked):
            if not np.array_equal(mine.value, theirs.value):
                return f"Python asked for a number in {mine.line}"
        return "its arguments, or Python's own numbers and objects, are others"


def ties(x: Tensor) -> tuple:
    """Return where a tensor's gradient goes, its hooks, and who it is if it has one."""
    return x.edge, x.edge and x.edge.hooks, x._grad is not None and id(x)


def put(x: Tensor, key: str, array) -> None:
    """Give a tensor an array, or a gradient with this array."""
    setattr(x, key.removesuffix(".array"), array if key == "array" else Tensor(array))


def result(value) -> Step:
    """Return the step of a result, unless backward() could go on from there."""
    if not isinstance(value, Tensor | Symbol | PLAIN):
        raise TypeError(f"it returns {value!r:.30}")
    if isinstance(value, Tensor) and value.edge is not None and not is_over(value.edge):
        why = "its result requires grad: compile a step with backward()"
        raise TypeError(f"{why}, or call it under no_grad()")
    return step_of(value.array if isinstance(value, Tensor) else value)


def is_over(node) -> bool:
    """Return whether backward() has freed a part of the graph from a node on."""
    parents = (each for each in node.parents if each is not None)
    return getattr(node, "saved", 0) is None or any(map(is_over, parents))
