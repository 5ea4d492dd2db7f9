"""Placeholders, variables and assignments, and a Session that runs them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy import ndarray

from minigrad.array.dtypes import as_array, as_dtype, float32
from minigrad.errors import kind
from minigrad.graph.tensor import Tensor
from minigrad.static.execution import Program, checked
from minigrad.static.steps import Step
from minigrad.static.symbolic_arrays import Symbol, named_symbol, note, step_of


def placeholder(shape: Sequence[int], dtype=float32, name: str = "x") -> Tensor:
    """Return a tensor without numbers. Each run feeds numbers of this shape to it."""
    return Tensor(named_symbol("placeholder", np.zeros(shape, as_dtype(dtype)), name))


def variable(value, name: str = "w") -> Tensor:
    """Return a leaf whose numbers a Session keeps, and may change, between runs."""
    array = as_array(getattr(value, "array", value), copy=True)
    leaf = Tensor(named_symbol("variable", array, name))
    return leaf.requires_grad_(array.dtype.kind == "f")


def assign(target: Tensor, value: Tensor) -> Tensor:
    """Return a tensor with the numbers of `value`.

    At the end, a run that fetches this tensor stores its numbers in `target`.
    Raises TypeError unless `target` is a variable of the value's shape and dtype.
    """
    step, new = as_step(target), step_of(value.array)
    if (step.call, step.shape, step.dtype) != ("variable", new.shape, new.dtype):
        raise TypeError(f"cannot assign {new.dtype} of shape {new.shape} to {step}")
    return Tensor(note("assign", value.array, target.array))


def as_step(value) -> Step:
    """Return the step of a tensor of a static graph, or raise TypeError."""
    if not isinstance(value, Tensor) or not isinstance(value.array, Symbol):
        raise TypeError(f"expected a tensor of a static graph, not a {kind(value)}")
    return value.array.step


class Session:
    """Runs graphs, and keeps the values of variables from one run to the next."""

    def __init__(self):
        self.values: dict[Step, ndarray] = {}
        self.programs: dict[tuple[Step, ...], Program] = {}

    def run(self, fetches, feed_dict: Mapping | None = None):
        """Return the value of a tensor, or a list for several, as arrays.

        Only steps that the fetches need are run. Assigned variables change at the end.
        """
        several = isinstance(fetches, list | tuple)
        steps = tuple(map(as_step, fetches if several else [fetches]))
        if steps not in self.programs:
            self.programs[steps] = Program(steps).folded()
        program = self.programs[steps]
        feed = {as_step(tensor): value for tensor, value in (feed_dict or {}).items()}
        now = {step: self.values.get(step, step.value) for step in program.variables}
        results = program.run(checked(program.inputs, feed) | now)
        for step, result in zip(steps, results):
            if step.call == "assign":
                self.values[step.arguments[1]] = result.copy()
        return results if several else results[0]
