"""Define, then run: a graph that is built once, without numbers, and then run often.

As TensorFlow 1 had it:

    x = placeholder((32, 2))
    w = variable(np.zeros((2, 1)))
    loss = ((x @ w) ** 2).mean()
    (g,) = minigrad.autograd.grad(loss, [w])
    train = assign(w, w - 0.1 * g)
    Session().run([loss, train], {x: batch})

trace() notes what a function does with examples instead, and runs that again.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.dtypes import as_array, as_dtype, float32
from minigrad.symbols import CALLS, GIVEN, Step, Symbol, line_outside, step_of
from minigrad.tensor import Tensor, kind

# Building


def placeholder(shape: Sequence[int], dtype: Any = float32, name: str = "x") -> Tensor:
    """Return a tensor without numbers: each run feeds them, in this shape and dtype."""
    shape, dtype = tuple(shape), as_dtype(dtype)
    step = Step("placeholder", [], {}, shape, dtype, None, name, line_outside())
    return Tensor(Symbol(step, np.zeros(shape, dtype)))


def variable(value: Any, name: str = "w") -> Tensor:
    """Return a leaf whose numbers a Session keeps, and may change, from run to run."""
    array = as_array(getattr(value, "array", value), copy=True)
    line = line_outside()
    step = Step("variable", [], {}, array.shape, array.dtype, array, name, line)
    tensor = Tensor(Symbol(step, np.zeros_like(array)))
    tensor.requires_grad = array.dtype.kind == "f"
    return tensor


def assign(target: Tensor, value: Tensor) -> Tensor:
    """Return `value`; a run that fetches it makes it the variable's, in the end.

    Raises TypeError unless `target` is a variable, RuntimeError if the value's shape
    or dtype is another.
    """
    step = as_step(target)
    if step.call != "variable":
        raise TypeError(f"assign changes variables, and {step} is none")
    if (value.shape, value.dtype) != (step.shape, step.dtype):
        raise RuntimeError(
            f"{step.name} is {step.dtype} of shape {step.shape}; it cannot become "
            f"{value.dtype} of shape {value.shape}"
        )
    new = Step("assign", [step_of(value.array), step], {}, step.shape, step.dtype)
    new.line = line_outside()
    return Tensor(Symbol(new, np.zeros(step.shape, step.dtype)))


def as_step(value: Any) -> Step:
    """Return the step of a tensor in a static graph; raise TypeError for others."""
    if not isinstance(value, Tensor) or not isinstance(value.array, Symbol):
        raise TypeError(
            f"expected a tensor of a static graph, not a {kind(value)} with numbers: "
            "placeholder(), variable(), or what is computed from them"
        )
    return value.array.step


# Running


def in_order(fetches: Iterable[Step]) -> list[Step]:
    """List the steps that the fetches need, and no others, arguments before results."""
    order, seen, to_visit = [], set(), [(step, False) for step in reversed(fetches)]
    while to_visit:
        step, complete = to_visit.pop()
        if complete:
            order.append(step)
        elif step not in seen:
            seen.add(step)
            to_visit.append((step, True))
            to_visit += [(argument, False) for argument in reversed(step.arguments)]
    return order


class Program:
    """Steps that are ready to run, in order: each is one call of NumPy, no more."""

    def __init__(self, fetches: Sequence[Step]):
        self.fetches, self.steps = list(fetches), in_order(fetches)
        self.inputs = [step for step in self.steps if step.call == "placeholder"]
        self.variables = [step for step in self.steps if step.call == "variable"]
        self.place = {step: i for i, step in enumerate(self.steps)}
        self.results = [self.place[step] for step in self.fetches]
        self.constants = [
            np.copy(step.value) if isinstance(step.value, ndarray) else step.value
            for step in self.steps
        ]
        last = {a: step for step in self.steps for a in step.arguments}
        self.plan = []
        for step in self.steps:
            if step.call not in GIVEN:
                done = [a for a in set(step.arguments) if last[a] is step]
                self.plan.append((self.place[step], *self.call_of(step, done)))

    def __len__(self) -> int:
        """Return how many calls a run makes."""
        return len(self.plan)

    def call_of(self, step: Step, done: list[Step]) -> tuple:
        """Return what a step calls, where its arguments are, and what is free then."""
        call = CALLS[step.call]
        call = partial(call, **step.options) if step.options else call
        free = [self.place[a] for a in done if a not in self.fetches]
        return call, [self.place[a] for a in step.arguments], free

    def run(self, values: dict[Step, ndarray]) -> list[ndarray]:
        """Return the results, from the values of all inputs and variables."""
        slots, i = self.constants.copy(), 0
        for step in self.inputs + self.variables:
            slots[self.place[step]] = values[step]
        try:
            for i, call, arguments, free in self.plan:
                slots[i] = call(*[slots[k] for k in arguments])
                for k in free:
                    slots[k] = None
        except Exception as error:
            raise RuntimeError(f"{self.steps[i]} failed: {error}") from error
        return [slots[i] for i in self.results]

    def __call__(self, *arrays: Any) -> Any:
        """Run with an array for each input; return one array, or a list of them."""
        values = checked(self.inputs, dict(zip(self.inputs, arrays, strict=True)))
        results = self.run(values | {step: step.value for step in self.variables})
        return results[0] if len(results) == 1 else results

    def frozen(self) -> "Program":
        """Return a program whose variables are constants, with constants folded.

        What depends on constants alone is computed now, once and for all.
        """
        new: dict[Step, Step] = {}
        for step in self.steps:
            arguments = [new[argument] for argument in step.arguments]
            known = all(argument.call == "constant" for argument in arguments)
            value, calls = step.value, step.call not in GIVEN
            if calls and known:
                inputs = [argument.value for argument in arguments]
                value = CALLS[step.call](*inputs, **step.options)
            fold = step.call == "variable" or (calls and known)
            changes = {"call": "constant", "arguments": [], "options": {}}
            changes = changes | {"value": value} if fold else {"arguments": arguments}
            new[step] = Step(**vars(step) | changes)
        return Program([new[step] for step in self.fetches])

    def save(self, path: str | PathLike) -> None:
        """Write a JSON file: the calls, and the values that variables start with."""
        steps = [
            {
                "call": step.call,
                "arguments": [self.place[argument] for argument in step.arguments],
                "options": {k: to_json(v) for k, v in step.options.items()},
                "shape": to_json(step.shape),
                "dtype": to_json(step.dtype),
                "value": to_json(step.value),
                "name": step.name,
                "line": step.line,
            }
            for step in self.steps
        ]
        text = json.dumps({"steps": steps, "fetches": self.results}, indent=1)
        Path(path).write_text(text, encoding="utf-8")


def checked(inputs: list[Step], feed: dict[Step, Any]) -> dict[Step, ndarray]:
    """Return what is fed as arrays; raise ValueError unless it fits the inputs."""
    for step in feed:
        if step.call != "placeholder":
            raise ValueError(f"only placeholders can be fed, and {step} is none")
    values = {}
    for step in inputs:
        if step not in feed:
            raise ValueError(f"{step} needs a value: feed_dict={{{step.name}: ...}}")
        array = np.asarray(getattr(feed[step], "array", feed[step]), step.dtype)
        if array.shape != step.shape:
            raise ValueError(
                f"{step.name} is a placeholder of shape {step.shape}; got {array.shape}"
            )
        values[step] = array
    return values


class Session:
    """Runs graphs, and keeps the values of variables from one run to the next."""

    def __init__(self):
        self.values: dict[Step, ndarray] = {}
        self.programs: dict[tuple[Step, ...], Program] = {}

    def run(self, fetches: Any, feed_dict: dict[Tensor, Any] | None = None) -> Any:
        """Return the value of a tensor, or a list for several, as arrays.

        Only what they need is computed. Variables that are assigned change in the end.
        """
        several = isinstance(fetches, list | tuple)
        steps = tuple(map(as_step, fetches if several else [fetches]))
        if steps not in self.programs:
            self.programs[steps] = Program(steps)
        program = self.programs[steps]
        feed = {as_step(tensor): value for tensor, value in (feed_dict or {}).items()}
        values = checked(program.inputs, feed)
        for step in program.variables:
            values[step] = self.values.setdefault(step, step.value)
        results = list(map(np.array, program.run(values)))
        for step, result in zip(steps, results):
            if step.call == "assign":
                self.values[step.arguments[1]] = result.copy()
        return results if several else results[0]


# Tracing


class Traced:
    """What a function did with its examples, to be done again with other numbers.

    `asked` lists where Python has looked at numbers, such as those of an `if`: what it
    decided then is decided for good.
    """

    def __init__(self, inputs, outputs, changes, single, asked):
        self.inputs, self.changes, self.single = inputs, changes, single
        self.program = Program([*outputs, *changes.values()])
        self.asked = asked

    def __call__(self, *tensors: Tensor) -> Any:
        """Return what the same steps make of other tensors, of the same shapes."""
        if len(tensors) != len(self.inputs):
            raise TypeError(
                f"traced with {len(self.inputs)} inputs, not {len(tensors)}"
            )
        values = checked(self.inputs, dict(zip(self.inputs, tensors)))
        values |= {step: step.value for step in self.program.variables}
        results = self.program.run(values)
        outputs = results[: len(results) - len(self.changes)]
        for step, result in zip(self.changes, results[len(outputs) :]):
            step.value[...] = result
        return Tensor(outputs[0]) if self.single else tuple(map(Tensor, outputs))


def trace(
    function: Callable, *examples: Tensor, variables: Iterable[Tensor] = ()
) -> Traced:
    """Call function(*examples), note what it computes, and return what runs it again.

    `variables` are tensors, such as model.parameters(), whose numbers are looked up at
    each run, and which `function` may change in place. Any other tensor remains as it
    is now, and so does every number that Python asks for.
    """
    inputs, asked = [], []
    for i, x in enumerate(examples):
        inputs.append(Step("placeholder", [], {}, x.shape, x.dtype, None, f"input {i}"))
    symbols = [Symbol(step, x.array, asked) for step, x in zip(inputs, examples)]
    with held_by_symbols(list(variables), asked) as holders:
        out = function(*map(Tensor, symbols))
        after = {step: tensor.array.step for step, tensor in holders.items()}
    changes = {step: new for step, new in after.items() if new is not step}
    single = isinstance(out, Tensor)
    outputs = [step_of(tensor.array) for tensor in ([out] if single else out)]
    return Traced(inputs, outputs, changes, single, asked)


@contextmanager
def held_by_symbols(tensors: list[Tensor], asked: list) -> Iterator[dict[Step, Tensor]]:
    """Let each tensor hold a symbol for a while; yield the tensors by their steps."""
    before = [(tensor.array, tensor._grad) for tensor in tensors]
    holders = {}
    for i, tensor in enumerate(tensors):
        a, name = tensor.array, f"variable {i}"
        step = Step("variable", [], {}, a.shape, a.dtype, a, name)
        tensor.array, holders[step] = Symbol(step, a, asked), tensor
    try:
        yield holders
    finally:
        for tensor, (array, grad) in zip(tensors, before):
            tensor.array, tensor._grad = array, grad


# Files


def to_json(value: Any) -> Any:
    """Return a value that a step knows in the terms of JSON."""
    if isinstance(value, ndarray | np.generic):
        return {"array": [value.tolist(), value.dtype.name]}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, tuple | list):
        return {kind(value): list(map(to_json, value))}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    return {"ellipsis": None} if value is ... else value


MAKERS = {
    "array": lambda parts: np.array(*parts),
    "dtype": np.dtype,
    "tuple": lambda parts: tuple(map(from_json, parts)),
    "list": lambda parts: list(map(from_json, parts)),
    "slice": lambda parts: slice(*parts),
    "ellipsis": lambda _: ...,
}


def from_json(value: Any) -> Any:
    """Return what to_json was given."""
    if not isinstance(value, dict):
        return value
    ((what, parts),) = value.items()
    return MAKERS[what](parts)


def load(path: str | PathLike) -> Program:
    """Return a program from a file that save() wrote; it needs no code of the model.

    Raises ValueError for other files. A step calls one of NumPy's functions of arrays
    and nothing else, so that a file from elsewhere can do no harm.
    """
    steps: list[Step] = []
    try:
        saved = json.loads(Path(path).read_text(encoding="utf-8"))
        for each in saved["steps"]:
            if each["call"] not in {*CALLS, *GIVEN}:
                raise ValueError(f"it calls {each['call']!r}, which no step may")
            each["arguments"] = [steps[i] for i in each["arguments"]]
            each["options"] = {k: from_json(v) for k, v in each["options"].items()}
            known = {k: from_json(each[k]) for k in ("shape", "dtype", "value")}
            steps.append(Step(**each | known))
        return Program([steps[i] for i in saved["fetches"]])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is no program that save() wrote: {error}") from error
