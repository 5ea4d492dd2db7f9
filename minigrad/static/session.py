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

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import as_array, as_dtype, float32
from minigrad.graph.tensor import Tensor, kind
from minigrad.static.program import Program, checked
from minigrad.static.symbols import Step, Symbol, line_outside, step_of

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
