"""Drawn inputs: the code that decides, with a check, whether an answer is right.

The code is in the exercise's file in chapters/. It draws inputs from `rng`, and prints
what an answer computes for them, a line `<input> -> <result>` for each. The lines of
our own solution are known. `course.py check` runs the code with a seed that everybody
may know, and `compare` finds the first line that differs. `grade` runs the same code
with another seed, and compares outside of the answer's kernel.
"""

import builtins
import random
import re
import sys
import traceback
from collections.abc import Mapping
from typing import Any

PUBLIC = "public"  # the seed of `course.py check`
ARROW = " -> "
PLACE = "<drawn inputs>"  # the name of their code in a traceback
REFUSED = "It passes the check in the notebook, but it is wrong for random inputs:"
NOTHING = "nothing"  # in the place of a line
LONGEST = 200  # characters of a line that are shown
NUMBER = re.compile(r"-?\d+\.\d+")


def compare(
    exercise: str, source: str, expected: str, names: Mapping[str, Any]
) -> None:
    """Run the drawn inputs of an exercise on an answer, given by its names.

    Raises WrongAnswer at the first line that differs from `expected`, the lines of our
    solution, or at a missing line. An error that the answer raises gets a note.
    """
    from classroom.cell.expect import WrongAnswer  # here: not all need IPython

    lines, printed, code = expected.splitlines(), [], source.splitlines()

    def next_line() -> str:
        return lines[len(printed)] if len(printed) < len(lines) else NOTHING

    def print_line(*words: Any, sep: str = " ") -> None:
        for line in sep.join(map(str, words)).splitlines() or [""]:
            should = next_line()
            printed.append(line)
            if not same_numbers(should, line):
                number = sys._getframe(1).f_lineno
                raise WrongAnswer(told(should, line, code[number - 1]))

    rng = random.Random(f"{PUBLIC} {exercise}")
    own = {"__name__": "__main__", "rng": rng, "print": print_line}
    try:
        exec(compile(source, PLACE, "exec"), {**names, **vars(builtins), **own})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        numbers = [frame.lineno for frame in frames if frame.filename == PLACE]
        error.add_note(told(next_line(), None, code[numbers[0] - 1] if numbers else ""))
        raise
    if len(printed) < len(lines):
        raise WrongAnswer(told(next_line(), NOTHING))


def told(expected: str, got: str | None, code: str = "") -> str:
    """Return the message for a line that differs from the expected one.

    `got` is None if an error came instead. If the line does not name its input, the
    message shows the code that printed it.
    """
    given, arrow, right = expected.partition(ARROW)
    yours = got and got.removeprefix(given + arrow)
    if not arrow or (got and yours == got != NOTHING):
        given, right, yours = code.strip(), expected, got
    lines = [REFUSED, f"    {short(given)}"]
    lines += [f"    your answer: {short(yours)}"] if yours else []
    return "\n".join([*lines, f"    expected:    {short(right)}"])


def short(text: str) -> str:
    return text if len(text) < LONGEST else f"{text[:LONGEST]} ..."


def same_numbers(expected: str, got: str) -> bool:
    """Return whether two texts differ only by one in the last digits of numbers.

    Sums in another order may round to another last digit.
    """
    if NUMBER.split(expected) != NUMBER.split(got):
        return False
    return all(map(_next_to, NUMBER.findall(expected), NUMBER.findall(got)))


def _next_to(a: str, b: str) -> bool:
    decimals = len(a.partition(".")[2])
    near = abs(float(a) - float(b)) < 1.5 * 10**-decimals
    return near and len(b.partition(".")[2]) == decimals
