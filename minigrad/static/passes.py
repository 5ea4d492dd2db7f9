"""Passes: Each makes a graph shorter, or cheaper to run, with the same results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy import ndarray

from minigrad.static.execution import fold, in_order
from minigrad.static.steps import CALLS, Step
from minigrad.static.symbolic_arrays import flat

Rule = Callable[[Step], Step]


def ordered(fetches: Sequence[Step]) -> list[Step]:
    """List the steps that the fetches need, in the order of the program."""
    return sorted(in_order(fetches), key=lambda step: step.position)


@np.errstate(all="ignore")
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
    """Return what is the same in arrays that can use the same memory."""
    return array.shape, array.strides, array.dtype


def shares(results: dict, a: Step, b: Step) -> bool:
    """Return whether the results of two steps are arrays in the same memory."""
    both = results[a], results[b]
    return all(isinstance(x, ndarray) for x in both) and np.may_share_memory(*both)


def roots_of(order: Iterable[Step], results: dict) -> dict[Step, Step]:
    """Map each step to the step that made the memory of its result."""
    roots: dict[Step, Step] = {}
    for step in order:
        shown = [x for x in step.arguments if shares(results, step, x)]
        roots[step] = roots[shown[0]] if shown else step
    return roots


def is_elementwise(step: Step) -> bool:
    """Return whether a step computes each element from those at the same position."""
    call = CALLS.get(step.call)
    return isinstance(call, np.ufunc) and call.signature is None and call.nout == 1


def rewritten(fetches: Sequence[Step], rule: Rule) -> list[Step]:
    """Return the fetches of a graph in which rule(step) has replaced each step."""
    new: dict[Step, Step] = {}
    for step in ordered(fetches):
        arguments = [new[argument] for argument in step.arguments]
        same = arguments == step.arguments
        new[step] = rule(step if same else replace(step, arguments=arguments))
    return [new[step] for step in fetches]


def known_before(step: Step) -> Step:
    """Compute what depends only on constants, unless it is drawn or asked."""
    free = step.call.startswith("generator.") or step.call == "asked"
    return step if free else fold(step, step.arguments)


def computed_once() -> Rule:
    """Return a rule that replaces a step by an equal step that came before."""
    known: dict[tuple, Step] = {}

    def rule(step):
        value = repr(step.value)
        if isinstance(step.value, ndarray):
            value = step.name or step.value.tobytes(), layout_of(step.value)
        elif any(isinstance(x, ndarray) for x in flat([step.value])):
            return step
        if not step.arguments and step.call != "constant":  # it is fed, or drawn
            return step
        about = step.call, step.name, step.dtype, repr(step.options), value
        return known.setdefault((*about, *step.arguments), step)

    return rule


def views_once(results: dict[Step, object]) -> Rule:
    """Return a rule that replaces a view by an earlier one of the same elements."""
    known, keys, roots = {}, {}, roots_of(results, results)
    for step, array in results.items():
        if isinstance(array, ndarray) and step.call != "asked":  # a question is no view
            address = array.__array_interface__["data"][0]
            keys[step.position] = roots[step], address, *layout_of(array)

    def rule(step):
        return known.setdefault(keys.get(step.position, step), step)

    return rule


def without_copies(results: dict[Step, object]) -> Rule:
    """Return a rule that drops casts and copies that change nothing.

    A copy in another order in memory stays.
    """
    arrays = [pair for pair in results.items() if hasattr(pair[1], "strides")]
    layouts = {step.position: layout_of(array) for step, array in arrays}

    def rule(step):
        copy = step.call in ("ndarray.astype", "ndarray.copy")
        same = copy and layouts[step.arguments[0].position] == layouts[step.position]
        return step.arguments[0] if same else step

    return rule


def without_idle(step: Step) -> Step:
    """Drop a product with ones, and a write of what is there already (x[i] = x[i])."""
    if step.call == "with_item" and step.arguments[2].call == "getitem":
        there = step.arguments[2].arguments == step.arguments[:2]
        return step.arguments[0] if there else step
    factors = step.arguments if step.call == "multiply" else []
    for one, other in permutations(factors, 2):
        alike = (other.shape, other.dtype) == (step.shape, step.dtype)
        if alike and one.call == "constant" and np.all(one.value == 1):
            return other
    return step


def by_bits(step: Step) -> Step:
    """Choose between floats and 0 by a product of bits, which is much faster."""
    if step.call != "where" or step.dtype.kind != "f":
        return step
    mask, array, other = step.arguments
    alike = array.shape == mask.shape == step.shape and array.dtype == step.dtype
    if not alike or other.call != "constant" or repr(other.value) != "0":
        return step
    kind = np.dtype(f"i{step.dtype.itemsize}")
    values = kind, step.dtype
    there, back = (Step("constant", value=x, position=step.position) for x in values)
    bits = replace(step, call="ndarray.view", arguments=[array, there], dtype=kind)
    chosen = replace(step, call="multiply", arguments=[bits, mask], dtype=kind)
    return replace(step, call="ndarray.view", arguments=[chosen, back])


def direct(step: Step) -> Step:
    """Call reduce() of a ufunc instead of a method that calls it and takes longer."""
    ufunc = {"ndarray.sum": "add", "ndarray.any": "logical_or"}.get(step.call)
    if ufunc is None or len(step.arguments) > 1:
        return step
    options = {"axis": None} | step.options
    return replace(step, call=f"{ufunc}.reduce", options=options)


def shortened(fetches: Sequence[Step], given: dict) -> list[Step]:
    """Return the fetches after all passes. `given` has the numbers of an example."""
    results = results_of(ordered(fetches), given)
    rules = [views_once(results), without_copies(results), direct, known_before]
    for rule in [*rules, computed_once(), without_idle, computed_once(), by_bits]:
        fetches = rewritten(fetches, rule)
    return fetches
