"""What came from an answer, and what was expected, where a check cannot use it.

Then Python's error tells of the check's own lines, which help nobody. So the check runs
again, and what the answer's functions return is compared with what ours return.
"""

import reprlib
import sys
from contextlib import suppress
from inspect import CO_GENERATOR, getargvalues
from types import CodeType, FrameType
from typing import Any, NamedTuple

from classroom.cell import namespaces, pages
from classroom.cell.equality import ARRAYS, array_of, show
from classroom.cell.parts import (
    body_of,
    frames_of,
    name_of,
    ours_for_theirs,
    run,
    swapped,
)

LONGEST = 80  # characters of a call that is shown with its arguments


class Call(NamedTuple):
    """A call of the answer by the check: its text, and its value."""

    text: str
    value: Any


def unusable(exercise: str, error: Exception, cell: str, ours: str) -> list[str]:
    """Return what the check in `cell` called, what came, and what was expected.

    `error` is what the check met, and `ours` our solution, or "". Then the package's
    own functions take its place, if the answer is an excerpt of them. If nothing is
    found to be of another kind than ours, return no lines.
    """
    with pages.again(exercise), suppress(Exception):
        learners = namespaces.learners()
        body, names = body_of(cell), frames_of(error, "<module>")[0].f_globals
        yours, again = calls(body, names, learners)
        if repr(again) != repr(error) or not yours:
            return []
        found, right = yours[-1], None
        with swapped(ours_for_theirs(ours) if ours else pages.own_codes()):
            others, wrong = calls(body, names, learners)
        if ours or not wrong:
            both = [*zip(yours, others)]
            both = [two for two in both if kind(two[0].value) != kind(two[1].value)]
            if not both:
                return []
            found, right = both[-1]
        lines = [found.text, f"    your answer: {came(found.value)}"]
        return [*lines, f"    expected:    {kind(right.value)}"] if right else lines
    return []


def calls(
    body: CodeType, names: dict, learners: dict
) -> tuple[list[Call], Exception | None]:
    """Run a check; return its calls of functions of the learner, and its error."""
    found, within = [], []

    def note(frame: FrameType, event: str, value: Any) -> None:
        if event not in ("call", "return") or frame.f_globals is not learners:
            return
        if event == "call":
            within.append("" if within else text_of(frame))
        elif within:
            text = within.pop()
            if not within and not frame.f_code.co_flags & CO_GENERATOR:
                found.append(Call(text, value))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        error = run(body, names)
    finally:
        sys.setprofile(before)
    return found, error


def text_of(frame: FrameType) -> str:
    """Return a call with its arguments, or without if these are long or unclear."""
    name = name_of(frame.f_code)
    text = ""
    with suppress(Exception):
        arguments, several, _, values = getargvalues(frame)
        given = [values[each] for each in arguments]
        given += values[several] if several else ()
        text = f"{name}({', '.join(map(reprlib.repr, given))})"
    clear = 0 < len(text) < LONGEST and "<" not in text
    return text if clear else f"what {name} returns"


def came(value: Any) -> str:
    """Return a value as text, with its kind if that is not to be seen."""
    text = show(value)
    return text if len(text) < LONGEST and "<" not in text else kind(value)


def kind(value: Any) -> str:
    """Return what a value is, and how many items it has: `a list of 2 numbers`."""
    if isinstance(value, ARRAYS):
        shape = array_of(value).shape
        return f"{_one(type(value).__name__)} of shape {shape}" if shape else "a number"
    if isinstance(value, list | tuple):
        kinds = {kind(each) for each in value}
        word = kinds.pop().split(" ")[-1] if len(kinds) == 1 else ""
        word = word if word in ("number", "string") else "item"
        count = f"{len(value)} {word}{'s' * (len(value) != 1)}"
        return f"{_one(type(value).__name__)} of {count}"
    words = {"NoneType": "None", "bool": "True or False", "str": "a string"}
    words |= {"int": "a number", "float": "a number", "dict": "a dictionary"}
    name = type(value).__name__
    return words.get(name) or _one(name)


def _one(name: str) -> str:
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"
