"""Passes: Each makes a graph shorter, or cheaper to run, with the same results."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy import ndarray

from minigrad.static.execution import fold, in_order
from minigrad.static.steps import CALLS, GIVEN, Step
from minigrad.static.symbolic_arrays import flat

Rule = Callable[[Step], Step]


def ordered(fetches: Sequence[Step]) -> list[Step]:
    """List the steps that the fetches need, in the order of the program."""
    return sorted(in_order(fetches), key=lambda step: step.number)


def results_of(steps: Sequence[Step], given: dict) -> dict[Step, object]:
    """Run all steps, and return the result of each."""
    results = dict(given)
    for step in steps:
        if step.call in ("constant", "asked"):
            results[step] = step.value
        elif step not in results:
            arguments = [results[argument] for argument in step.arguments]
            results[step] = CALLS[step.call](*arguments, **step.options)
    return results


def layout_of(array: ndarray) -> tuple:
    """Return what has to be the same in arrays that can use the same memory."""
    return array.shape, array.strides, array.dtype


def is_elementwise(step: Step) -> bool:
    """Return whether a step computes each element from those at the same position."""
    call = CALLS.get(step.call)
    plain = isinstance(call, np.ufunc) and call.signature is None and call.nout == 1
    return plain or step.call == "masked"


def rewritten(fetches: Sequence[Step], rule: Rule) -> list[Step]:
    """Return the fetches of a graph in which rule(step) has replaced each step."""
    new: dict[Step, Step] = {}
    for step in ordered(fetches):
        arguments = [new[argument] for argument in step.arguments]
        same = arguments == step.arguments
        new[step] = rule(step if same else replace(step, arguments=arguments))
    return [new[step] for step in fetches]


def known_before(step: Step) -> Step:
    """Compute what depends only on constants, unless it is drawn."""
    free = step.call.startswith("generator.") or step.call == "asked"
    return step if free else fold(step, step.arguments)


def computed_once() -> Rule:
    """Return a rule that replaces a step by an equal step that came before."""
    known: dict[tuple, Step] = {}

    def rule(step):
        if not step.arguments and step.call != "constant":  # it is fed, or drawn
            return step
        if step.name == "empty_like":
            value = layout_of(step.value)
        elif isinstance(step.value, ndarray):
            value = layout_of(step.value), step.value.tobytes()
        elif any(isinstance(x, ndarray) for x in flat([step.value])):
            return step
        else:
            value = type(step.value), repr(step.value)
        key = step.call, step.dtype, repr(step.options), value, *step.arguments
        return known.setdefault(key, step)

    return rule


def without_copies(results: dict[int, ndarray]) -> Rule:
    """Return a rule that drops casts and copies that change nothing.

    A copy in another order in memory stays. `results` has the result of each step, by
    the number of the step.
    """

    def rule(step):
        if step.call in ("ndarray.astype", "ndarray.copy"):
            old, new = results[step.arguments[0].number], results[step.number]
            if (old.dtype, old.strides) == (new.dtype, new.strides):
                return step.arguments[0]
        return step

    return rule


def views_once(results: dict[int, object]) -> Rule:
    """Return a rule that replaces a view by an earlier one of the very same numbers."""
    known: dict[tuple, Step] = {}
    root: dict[Step, Step] = {}

    def rule(step):
        array, root[step] = results[step.number], step
        if not isinstance(array, ndarray) or step.call in GIVEN:
            return step
        for each in step.arguments:
            other = results[each.number]
            if isinstance(other, ndarray) and np.may_share_memory(array, other):
                root[step] = root[each]
        address = array.__array_interface__["data"][0]
        return known.setdefault((root[step], address, *layout_of(array)), step)

    return rule


def without_idle_writes(step: Step) -> Step:
    """Drop a write of what is there already, as in x[i] = x[i]."""
    if step.call == "with_item":
        base, index, value = step.arguments
        if value.call == "getitem" and value.arguments == [base, index]:
            return base
    return step


def by_bits(step: Step) -> Step:
    """Let masked() choose between floats and 0, which takes a product of bits."""
    if step.call == "where" and step.dtype.kind == "f":
        mask, array, other = step.arguments
        zero = other.call == "constant" and type(other.value) is int and not other.value
        alike = (array.shape, array.dtype) == (step.shape, step.dtype)
        if zero and alike and mask.shape == step.shape:
            return replace(step, call="masked", arguments=[mask, array])
    return step


def one_for_all(step: Step) -> Step:
    """Replace an array of equal constants by one number, and leave out times 1."""
    full = [x for x in step.arguments if x.shape == step.shape and x.call != "constant"]
    if not full or not is_elementwise(step):
        return step
    arguments = list(map(single, step.arguments))
    ones = [x for x in arguments if x.call == "constant" and np.all(x.value == 1)]
    if step.call == "multiply" and ones and full[0].dtype == step.dtype:
        return full[0]
    return replace(step, arguments=arguments) if arguments != step.arguments else step


def single(step: Step) -> Step:
    """Return a constant without axes in place of an array of equal constants."""
    array = step.value
    if step.call != "constant" or not isinstance(array, ndarray) or array.size < 2:
        return step
    one = array[(0,) * array.ndim]
    if step.name == "empty_like" or array.tobytes() != one.tobytes() * array.size:
        return step
    return Step("constant", [], {}, (), array.dtype, one, number=step.number)


def shortened(fetches: Sequence[Step], given: dict) -> list[Step]:
    """Return the fetches after all passes. `given` has the numbers of an example."""
    results = results_of(ordered(fetches), given)
    results = {step.number: each for step, each in results.items()}
    rules = views_once(results), without_copies(results), known_before, computed_once(), without_idle_writes, by_bits
    for rule in (*rules, one_for_all, computed_once(), without_idle_writes):
        fetches = rewritten(fetches, rule)
    return fetches
