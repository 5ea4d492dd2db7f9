"""Define, then run: a graph that is built once, without numbers, and then run often.

As TensorFlow 1 had it:

    x = placeholder((32, 2))
    w = variable(np.zeros((2, 1), "float32"))
    loss = ((x @ w) ** 2).mean()
    (g,) = minigrad.autograd.grad(loss, [w])
    train = assign(w, w - 0.1 * g)
    Session().run([loss, train], {x: batch})

trace() notes what a function does with examples instead, and runs that again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import versions
from minigrad.dtypes import as_array, as_dtype, float32
from minigrad.program import Program, checked, matched
from minigrad.symbols import Step, Symbol, line_outside, step_of
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
