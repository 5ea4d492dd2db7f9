"""Programs: The calls of a static graph, in order and ready to run.

A Program needs no code of the model that it came from. It is a list of calls, which can
be shortened before it runs (folded, frozen), and saved as JSON.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
from numpy import ndarray

from minigrad.static.steps import CALLS, GIVEN, Step


def in_order(fetches: Sequence[Step]) -> list[Step]:
    """List only the steps that the fetches need, arguments before results."""
    order, to_visit = {}, [*reversed(fetches)]
    while to_visit:
        missing = [a for a in to_visit[-1].arguments if a not in order]
        to_visit += reversed(missing)
        if not missing:
            order[to_visit.pop()] = None
    return list(order)


class Program:
    """Steps in order, ready to run. Each is just one NumPy call.

    `inputs` are placeholders, in the order in which a call gives their numbers. The
    default is all placeholders that `fetches` need.
    """

    def __init__(self, fetches: Sequence[Step], inputs: Sequence[Step] = ()):
        self.fetches, self.steps = list(fetches), in_order([*inputs, *fetches])
        self.inputs = [step for step in self.steps if step.call == "placeholder"]
        self.variables = [step for step in self.steps if step.call == "variable"]
        self.values = [step.value for step in self.steps]
        self.place = {step: i for i, step in enumerate(self.steps)}
        last = {a: step for step in self.steps for a in step.arguments}
        calls = [step for step in self.steps if step.call not in GIVEN]
        self.plan = [self.instruction(step, last) for step in calls]

    def instruction(self, step: Step, last: Mapping[Step, Step]) -> tuple:
        """Return a step's index, function and arguments, and the indices to free."""
        call = CALLS[step.call]
        call = partial(call, **step.options) if step.options else call
        done = [a for a in step.arguments if last[a] is step and a not in self.fetches]
        places = [[self.place[a] for a in some] for some in (step.arguments, done)]
        return self.place[step], call, *places

    def __len__(self) -> int:
        """Return how many calls a run makes."""
        return len(self.plan)

    @np.errstate(all="ignore")
    def run(self, given: Mapping[Step, ndarray]) -> list[ndarray]:
        """Return the results, from the numbers of all inputs and variables."""
        values, i = self.values.copy(), 0
        for step in self.inputs + self.variables:
            values[self.place[step]] = given[step]
        try:
            for i, call, arguments, done in self.plan:
                values[i] = call(*[values[k] for k in arguments])
                for k in done:
                    values[k] = None
        except Exception as error:
            raise RuntimeError(f"{self.steps[i]} failed: {error}") from error
        return [np.array(values[self.place[step]]) for step in self.fetches]

    def __call__(self, *arrays):
        """Run with an array for each input. Return one array, or a list of them.

        Variables have the values that they start with.
        """
        given = {step: step.value for step in self.variables}
        given |= checked(self.inputs, dict(zip(self.inputs, arrays, strict=True)))
        results = self.run(given)
        return results[0] if len(results) == 1 else results

    def first_nan(self, given: Mapping[Step, ndarray]) -> Step | None:
        """Return the first step that makes a nan from the given numbers, or None."""
        floats = [x for x in self.steps if x.dtype is not None and x.dtype.kind == "f"]
        for step, result in zip(floats, Program(floats).run(given)):
            if np.isnan(result).any():
                return step
        return None

    @np.errstate(all="ignore")
    def folded(self, known: Mapping[Step, Step] | None = None) -> "Program":
        """Return a program in which all that depends only on constants is computed.

        `known` maps steps to the steps that replace them.
        """
        new = dict(known or {})
        for step in self.steps:
            if step not in new:
                new[step] = fold(step, [new[argument] for argument in step.arguments])
        fetches = [new[step] for step in self.fetches]
        return Program(fetches, [new[step] for step in self.inputs])

    def frozen(self, values: Mapping[Step, ndarray] | None = None) -> "Program":
        """Return a folded program whose variables are constants, with these values."""
        now = {x: (values or {}).get(x, x.value).copy() for x in self.variables}
        new = {x: replace(x, call="constant", value=value) for x, value in now.items()}
        return self.folded(new)

    def save(self, path: str | PathLike) -> None:
        """Write a JSON file, one step per line. A step's arguments are line numbers.

        Raises TypeError for objects that JSON cannot hold, such as a slice.
        """
        places = [[self.place[a] for a in step.arguments] for step in self.steps]
        steps = [
            vars(step) | {"arguments": arguments, "position": i}
            for i, (step, arguments) in enumerate(zip(self.steps, places))
        ]
        lines = ",\n".join(json.dumps(step, default=plain) for step in steps)
        fetches = [self.place[step] for step in self.fetches]
        text = f'{{"steps": [\n{lines}\n],\n"fetches": {fetches}}}\n'
        Path(path).write_text(text, encoding="utf-8")


def plain(value):
    """Return an array as lists of numbers, and a dtype as its name."""
    is_array = isinstance(value, ndarray | np.generic)
    return value.tolist() if is_array else np.dtype(value).name


def fold(step: Step, arguments: list[Step]) -> Step:
    """Return a step with new arguments. If all are constants, return its value."""
    if step.call in GIVEN:
        return step
    if any(argument.call != "constant" for argument in arguments):
        return replace(step, arguments=arguments)
    value = CALLS[step.call](*(each.value for each in arguments), **step.options)
    return replace(step, call="constant", arguments=[], options={}, value=value)


def checked(inputs: list[Step], feed: Mapping) -> dict[Step, ndarray]:
    """Return the fed numbers as arrays, or raise ValueError if they do not fit."""
    if others := [step for step in feed if step.call != "placeholder"]:
        raise ValueError(f"only placeholders can be fed, not {others}")
    given = {}
    for step in inputs:
        if step not in feed:
            raise ValueError(f"nothing was fed for {step}: give run() its numbers")
        array = np.asarray(getattr(feed[step], "array", feed[step]))
        if array.shape != step.shape:
            this = f"{step.name} is a placeholder of shape {step.shape}"
            raise ValueError(f"{this}; got {array.shape}")
        given[step] = array.astype(step.dtype, casting="same_kind", copy=False)
    return given
