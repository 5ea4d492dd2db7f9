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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import versions
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
    """Steps that are ready to run, in order: each is one call of NumPy, no more.

    `inputs` are placeholders, in the order in which a call gives their numbers;
    without it, those that `fetches` need.
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
        """Return a step's place, what it calls, with what, and what is free then."""
        call = CALLS[step.call]
        call = partial(call, **step.options) if step.options else call
        done = [a for a in step.arguments if last[a] is step and a not in self.fetches]
        places = [[self.place[a] for a in some] for some in (step.arguments, done)]
        return self.place[step], call, *places

    def __len__(self) -> int:
        """Return how many calls a run makes."""
        return len(self.plan)

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

    def __call__(self, *arrays: Any) -> Any:
        """Run with an array for each input; return one array, or a list of them.

        Variables have the values that they start with.
        """
        given = matched(self.inputs, arrays)
        results = self.run(given | {step: step.value for step in self.variables})
        return results[0] if len(results) == 1 else results

    def first_nan(self, given: Mapping[Step, ndarray]) -> Step | None:
        """Return the first step that makes a nan of what is given, if any does."""
        floats = [x for x in self.steps if x.dtype is not None and x.dtype.kind == "f"]
        for step, result in zip(floats, Program(floats).run(given)):
            if np.isnan(result).any():
                return step
        return None

    def folded(self) -> "Program":
        """Return a program that has computed all that depends on constants alone."""
        return self.rebuilt({})

    def frozen(self, values: Mapping[Step, ndarray] | None = None) -> "Program":
        """Return a folded program whose variables are constants, with these values."""
        new = {}
        for step in self.variables:
            value = (values or {}).get(step, step.value).copy()
            new[step] = replace(step, call="constant", value=value)
        return self.rebuilt(new)

    def rebuilt(self, new: dict[Step, Step]) -> "Program":
        """Return a folded program in which `new` steps take the place of old ones."""
        for step in self.steps:
            if step not in new:
                new[step] = fold(step, [new[argument] for argument in step.arguments])
        fetches = [new[step] for step in self.fetches]
        return Program(fetches, [new[step] for step in self.inputs])

    def save(self, path: str | PathLike) -> None:
        """Write a JSON file, a step a line, with the values that variables start with.

        Its arguments are the numbers of other lines, counted from 0.
        """
        lines = ",\n".join(json.dumps(to_line(x, self.place)) for x in self.steps)
        fetches = [self.place[step] for step in self.fetches]
        text = f'{{"steps": [\n{lines}\n],\n"fetches": {fetches}}}\n'
        Path(path).write_text(text, encoding="utf-8")


def fold(step: Step, arguments: list[Step]) -> Step:
    """Return a step with other arguments: if these are constants, what it makes."""
    if step.call in GIVEN:
        return step
    if any(argument.call != "constant" for argument in arguments):
        return replace(step, arguments=arguments)
    values = [argument.value for argument in arguments]
    value = CALLS[step.call](*values, **step.options)
    return replace(step, call="constant", arguments=[], options={}, value=value)


def matched(inputs: list[Step], arrays: Sequence) -> dict[Step, ndarray]:
    """Return arrays by the inputs that they are for; raise unless they fit."""
    if len(arrays) != len(inputs):
        raise TypeError(f"there are {len(inputs)} inputs; got {len(arrays)}")
    return checked(inputs, dict(zip(inputs, arrays)))


def checked(inputs: list[Step], feed: Mapping[Step, Any]) -> dict[Step, ndarray]:
    """Return what is fed as arrays; raise ValueError unless it fits the inputs."""
    for step in feed:
        if step.call != "placeholder":
            raise ValueError(f"only placeholders can be fed, and {step} is none")
    given = {}
    for step in inputs:
        if step not in feed:
            raise ValueError(f"{step} needs a value: feed_dict={{{step.name}: ...}}")
        array = np.asarray(getattr(feed[step], "array", feed[step]))
        if array.shape != step.shape or not np.can_cast(array, step.dtype, "same_kind"):
            raise ValueError(
                f"{step.name} is a placeholder for {step.dtype} of shape {step.shape}; "
                f"got {array.dtype} of shape {array.shape}"
            )
        given[step] = array.astype(step.dtype, copy=False)
    return given


class Session:
    """Runs graphs, and keeps the values of variables from one run to the next."""

    def __init__(self):
        self.values: dict[Step, ndarray] = {}
        self.programs: dict[tuple[Step, ...], Program] = {}

    def run(self, fetches: Any, feed_dict: Mapping[Tensor, Any] | None = None) -> Any:
        """Return the value of a tensor, or a list for several, as arrays.

        Only what they need is computed. Variables that are assigned change in the end.
        """
        several = isinstance(fetches, list | tuple)
        steps = tuple(map(as_step, fetches if several else [fetches]))
        if steps not in self.programs:
            self.programs[steps] = Program(steps).folded()
        program = self.programs[steps]
        results = program.run(self.given(program, feed_dict))
        for step, result in zip(steps, results):
            if step.call == "assign":
                self.values[step.arguments[1]] = result.copy()
        return results if several else results[0]

    def given(self, program: Program, feed_dict: Mapping | None) -> dict[Step, ndarray]:
        """Return the numbers that a program starts from: what is fed, and variables."""
        feed = {as_step(tensor): value for tensor, value in (feed_dict or {}).items()}
        given = checked(program.inputs, feed)
        for step in program.variables:
            given[step] = self.values.setdefault(step, step.value)
        return given

    def first_nan(
        self, fetch: Tensor, feed_dict: Mapping[Tensor, Any] | None = None
    ) -> Step | None:
        """Return the first step on the way to `fetch` that makes a nan, if any does."""
        program = Program([as_step(fetch)])
        return program.first_nan(self.given(program, feed_dict))

    def frozen(self, fetches: Sequence[Tensor], inputs: Sequence[Tensor]) -> Program:
        """Return a program of its own, in which variables stay as they are now."""
        program = Program(list(map(as_step, fetches)), list(map(as_step, inputs)))
        return program.frozen(self.values)


# Tracing


class Traced:
    """What a function did with its examples, to be done again with other numbers.

    `asked` lists where Python has looked at numbers, such as those of an `if`: what it
    decided then is decided for good. So are random numbers, other tensors than the
    variables, and what an optimizer keeps. `program` is what runs.
    """

    def __init__(self, inputs, outputs, variables, new, asked):
        self.variables, self.asked = variables, asked
        self.single = not isinstance(outputs, tuple | list)
        outputs = list(map(step_of_output, [outputs] if self.single else outputs))
        self.count = len(outputs)
        self.changed = [step for step in variables if new[step] is not step]
        fetches = [*outputs, *map(new.get, self.changed)]
        self.program = Program(fetches, inputs).folded()

    def __call__(self, *tensors: Tensor) -> Any:
        """Return what the same steps make of other tensors, without a history."""
        given = self.given(tensors)
        results = self.program.run(given)
        outputs = [Tensor(result) for result in results[: self.count]]
        for step, array in zip(self.changed, results[self.count :]):
            versions.wrote(given[step])
            given[step][...] = array
        return outputs[0] if self.single else tuple(outputs)

    def given(self, tensors: Sequence[Tensor]) -> dict[Step, ndarray]:
        """Return the numbers that a run starts from."""
        now = {step: tensor.array for step, tensor in self.variables.items()}
        return matched(self.program.inputs, tensors) | now

    def first_nan(self, *tensors: Tensor) -> Step | None:
        """Return the first step that makes a nan of these tensors, if any does."""
        return self.program.first_nan(self.given(tensors))

    def frozen(self) -> Program:
        """Return the program, with the variables' numbers of now as constants."""
        return self.program.frozen({k: x.array for k, x in self.variables.items()})


def trace(function: Callable, *examples: Tensor, variables: Iterable = ()) -> Traced:
    """Call function(*examples), note what it computes, and return what runs it again.

    `variables` are tensors, such as model.parameters(), whose numbers are looked up at
    each run, and which `function` may change in place. All else stays as it is now.
    """
    inputs = [
        Step("placeholder", [], {}, x.shape, x.dtype, None, f"input {i}")
        for i, x in enumerate(examples)
    ]
    asked: list[str] = []
    symbols = [Symbol(step, x.array, asked) for step, x in zip(inputs, examples)]
    with held_by_symbols(variables, asked) as holders:
        outputs = function(*map(Tensor, symbols))
        new = {step: tensor.array.step for step, tensor in holders.items()}
    return Traced(inputs, outputs, holders, new, asked)


@contextmanager
def held_by_symbols(
    tensors: Iterable[Tensor], asked: list[str]
) -> Iterator[dict[Step, Tensor]]:
    """Let each tensor hold a symbol for a while; yield the tensors by their steps."""
    before = {tensor: (tensor.array, tensor._grad) for tensor in tensors}
    holders = {}
    for i, (tensor, (a, _)) in enumerate(before.items()):
        step = Step("variable", [], {}, a.shape, a.dtype, a, f"variable {i}")
        tensor.array, holders[step] = Symbol(step, a, asked), tensor
    try:
        yield holders
    finally:
        for tensor, (array, grad) in before.items():
            tensor.array, tensor._grad = array, grad


def step_of_output(output: Any) -> Step:
    """Return the step of what a traced function returns; raise TypeError if none."""
    if not isinstance(output, Tensor):
        raise TypeError(
            f"a traced function returns tensors, not a {kind(output)}, which would be "
            "the same at each run"
        )
    return step_of(output.array)


# Files


KEPT = "shape", "dtype", "value", "name", "line"


def to_line(step: Step, place: Mapping[Step, int]) -> dict[str, Any]:
    """Return what a file says of a step, in the terms of JSON."""
    said: dict[str, Any] = {"call": step.call}
    said["arguments"] = [place[argument] for argument in step.arguments]
    said["options"] = {k: to_json(v) for k, v in step.options.items()}
    said |= {k: to_json(getattr(step, k)) for k in KEPT}
    return {k: v for k, v in said.items() if v not in (None, "", {})}


def from_line(said: dict[str, Any], steps: list[Step]) -> Step:
    """Return the step of which to_line said this, after `steps`."""
    if said["call"] not in {*CALLS, *GIVEN}:
        raise ValueError(f"it calls {said['call']!r}, which no step may")
    arguments = [steps[i] for i in said["arguments"]]
    options = {k: from_json(v) for k, v in said.get("options", {}).items()}
    kept = {k: from_json(said[k]) for k in KEPT if k in said}
    return Step(said["call"], arguments, options, **kept)


def to_json(value: Any) -> Any:
    """Return a value that a step knows in the terms of JSON."""
    if isinstance(value, ndarray | np.generic):
        return {"array": [value.tolist(), value.dtype.name]}
    if isinstance(value, np.dtype | type):
        return {"dtype": np.dtype(value).name}
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
    and nothing else, whatever the file says.
    """
    steps: list[Step] = []
    try:
        saved = json.loads(Path(path).read_text(encoding="utf-8"))
        for line in saved["steps"]:
            steps.append(from_line(line, steps))
        inputs = [step for step in steps if step.call == "placeholder"]
        return Program([steps[i] for i in saved["fetches"]], inputs)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is no program that save() wrote: {error}") from error
