"""trace() notes what a function does with examples, and repeats it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from minigrad.graph import saved_values
from minigrad.graph.tensor import Tensor
from minigrad.static.execution import Program, checked
from minigrad.static.steps import Step
from minigrad.static.symbolic_arrays import named_symbol, step_of


class Traced:
    """What a function did with its examples, ready to run again with other numbers.

    `asked` lists where Python has looked at numbers, as an `if` does. The decision of
    the `if` never changes again. Neither do random numbers, tensors other than the
    variables, and the state of an optimizer. `program` is the program that runs.
    """

    def __init__(self, inputs, outputs, variables, new, asked):
        self.variables, self.asked = variables, [asked_at(each) for each in asked]
        self.single = not isinstance(outputs, tuple | list)
        outputs = [outputs] if self.single else outputs
        self.changed = [step for step in variables if new[step] is not step]
        fetches = [step_of(x.array) for x in outputs] + [new[x] for x in self.changed]
        self.program = Program(fetches, inputs).folded()

    def __call__(self, *tensors: Tensor):
        """Return the result of these steps for other tensors. Nothing is recorded."""
        feed = dict(zip(self.program.inputs, tensors, strict=True))
        now = {step: tensor.array for step, tensor in self.variables.items()}
        results = self.program.run(checked(self.program.inputs, feed) | now)
        for step in reversed(self.changed):
            saved_values.record_write(now[step])
            now[step][...] = results.pop()
        return Tensor(results[0]) if self.single else tuple(map(Tensor, results))

    def frozen(self) -> Program:
        """Return the program, with the present values of the variables as constants."""
        return self.program.frozen({k: x.array for k, x in self.variables.items()})


def trace(function: Callable, *examples: Tensor, variables: Iterable = ()) -> Traced:
    """Call function(*examples), note its steps, and return a Traced that repeats them.

    `variables` are tensors, such as model.parameters(). Their numbers are looked up at
    each run, and `function` may change them in place. Everything else stays as it is.
    """
    asked: list[Step] = []
    symbols = [
        named_symbol("placeholder", x.array, f"input {i}", asked)
        for i, x in enumerate(examples)
    ]
    inputs = [symbol.step for symbol in symbols]
    with held_by_symbols(variables, asked) as holders:
        outputs = function(*map(Tensor, symbols))
        new = {step: tensor.array.step for step, tensor in holders.items()}
    if inputs != [symbol.step for symbol in symbols]:
        raise RuntimeError("the function writes to an input: write to its clone()")
    return Traced(inputs, outputs, holders, new, asked)


def asked_at(question: Step) -> str:
    """Return the line where Python asked for a number, and whose number it was."""
    (step,) = question.arguments
    return f"{question.line}: {step.name or step.call}"


@contextmanager
def held_by_symbols(tensors: Iterable, asked: list) -> Iterator[dict[Step, Tensor]]:
    """Let each tensor hold a symbol for a while. Yield the tensors by their steps."""
    before = {tensor: (tensor.array, tensor._grad) for tensor in tensors}
    holders = {}
    for i, (tensor, (array, _)) in enumerate(before.items()):
        tensor.array = named_symbol("variable", array, f"variable {i}", asked)
        holders[tensor.array.step] = tensor
    try:
        yield holders
    finally:
        for tensor, (array, grad) in before.items():
            tensor.array, tensor._grad = array, grad
