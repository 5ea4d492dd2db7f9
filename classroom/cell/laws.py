"""Laws: what a right answer does for whatever is drawn, beside what its check asks.

They stand in chapters/*/laws.md, which students are not handed: they work out what is
right. `course.py check` and `grade` send their text along where it is there, and run
them after the check in the notebook; the tests hold all answers against them.
"""

import inspect
import io
import linecache
import random
import re
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from functools import cache, wraps
from time import process_time
from types import SimpleNamespace
from typing import Any, NamedTuple

from classroom.cell.equality import show
from classroom.cell.expect import WrongAnswer
from classroom.cell.strategies import Rejected, Strategy

DRAWS = 25  # for a law
SECONDS = 4  # then no more is drawn
LAWS = re.compile(r"^## (\d+\.\d+)\n+```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
REFUSED = "It passes the check in the notebook. For inputs that were drawn it is wrong:"


class Law(NamedTuple):
    """A function that raises an error if an answer is wrong, and what it is given."""

    function: Callable
    strategies: dict[str, Strategy]


@cache
def laws_of(vocabulary: str, text: str) -> dict[str, list[Law]]:
    """Return the laws of a chapter by exercise.

    `law(**strategies)` decorates each function that gets what these draw. The fences
    share their names, and those of the vocabulary.
    """
    found: dict[str, list[Law]] = {}
    names: dict[str, Any] = {"__name__": "laws"}
    for exercise, source in [("", vocabulary), *LAWS.findall(text)]:
        here = found.setdefault(exercise, [])
        names["law"] = lambda here=here, **s: lambda f: here.append(Law(f, s))
        place = f"<laws {exercise}>"
        linecache.cache[place] = len(source), None, source.splitlines(True), place
        exec(compile(source, place, "exec"), names)
    return found


def hold(exercise: str, vocabulary: str, text: str, names: Mapping[str, Any]) -> None:
    """Raise an error if an answer, given by its names, breaks a law of its exercise."""
    with redirect_stdout(io.StringIO()):
        for law in laws_of(vocabulary, text)[exercise]:
            obey(law, names)


def obey(law: Law, names: Mapping[str, Any]) -> None:
    """Raise an error that names the inputs, if an answer breaks a law.

    That is WrongAnswer, but for what the answer raises.
    """
    late = process_time() + SECONDS
    for turn in range(DRAWS):
        try:
            law.function(SimpleNamespace(**names), **drawn(law, turn))
        except Rejected:
            continue
        except Exception as error:
            called = last_call(law, turn, names) if process_time() < late else ""
            inputs = [f"{name} = {short(x)}" for name, x in drawn(law, turn).items()]
            text = f"{REFUSED}\n    {called or ', '.join(inputs)}"
            if isinstance(error, AssertionError):
                raise WrongAnswer(f"{text}\n{str(error) or broken(error)}") from None
            error.add_note(text)
            raise
        if process_time() > late:
            return


def drawn(law: Law, turn: int) -> dict[str, Any]:
    """Return what a law gets at its n-th turn."""
    dice = random.Random(f"{law.function.__name__} {turn}")
    return {name: each.draw(dice) for name, each in law.strategies.items()}


def broken(error: AssertionError) -> str:
    """Return the line of a law that failed."""
    frames = traceback.extract_tb(error.__traceback__)
    line = [f.line for f in frames if f.filename.startswith("<laws")][-1]
    return f"    what should hold: {line.removeprefix('assert ')}"


def last_call(law: Law, turn: int, names: Mapping[str, Any]) -> str:
    """Return the last call of a function of the answer before the law broke, or ""."""
    calls = [""]

    def watched(name: str, function: Callable) -> Callable:
        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            given = [*map(short, args)]
            given += [f"{k}={short(x)}" for k, x in options.items()]
            calls.append(f"{name}({', '.join(given)})")
            return function(*args, **options)

        return call

    its = {n: watched(n, x) if inspect.isfunction(x) else x for n, x in names.items()}
    with suppress(Exception):
        law.function(SimpleNamespace(**its), **drawn(law, turn))
    return calls[-1]


def short(value: Any) -> str:
    text = " ".join(show(value).split())
    text = re.sub(r"<function .*? at 0x\w+>", "a function", text)
    return text if len(text) < 200 else f"{text[:200]} ..."
