"""An exam judges an engine of any shape, row by row, by its behavior.

A row is a behavior, with the smallest example that shows it. Rows use the engine only
through its adapters, functions of a line each that the learner writes: `make(2.0)` is a
leaf, `backward(root)` goes back. If the engine is a function, the learner writes
`grad_of` instead, and `grad_of(f, *numbers)` gives all slopes of f. A row whose adapter
is still blank is not wrong, but open.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from textwrap import indent, shorten
from traceback import extract_tb, walk_tb
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from classroom.cell import equality
from classroom.cell.asked import BLANK
from classroom.cell.exam import own_engine
from classroom.cell.parts import bounded, is_blank
from minigrad.array.finite_differences import array_gradients

SECONDS = 5  # that one row may take; with a good engine, it takes one at most
ALL_SECONDS = 9  # that the rows of a table may take: a cell may take 20
DONE, WRONG, OPEN = "done", "wrong", "not yet"
ONLY_NONE = f"\n{' ' * 9}`gradient` returned None each time: is a `return` missing?"
NUDGED = ", by finite differences"
ADAPTERS = "make read gradient backward add multiply tanh clear change grad_of "
ADAPTERS += "matmul add_up quietly second step train"
MAY_BE_NONE = "gradient", "backward", "clear", "change", "quietly"


class Wrong(Exception):
    """The result differs from the expected one, or from finite differences."""

    def __init__(self, given: str, came: Any, expected: Any, by: str = ""):
        self.given, self.came, self.expected, self.by = given, came, expected, by

    def __str__(self) -> str:
        lines = [self.given, f"came      {shown(self.came)}"]
        lines.append(f"expected  {shown(self.expected)}{self.by}")
        return indent("\n".join(lines), " " * 9)


class Missing(NotImplementedError):
    """An adapter that a row needs is not defined."""

    def __init__(self, adapter: str):
        super().__init__(BLANK)
        self.adapter = adapter


class Term(NDArrayOperatorsMixin):
    """A leaf or a result of an engine. Its operators call the engine's adapters.

    So a program is written once, with +, *, @, np.tanh and sum(), for engines, and for
    the plain numbers that are nudged.
    """

    def __init__(self, engine: "Engine", its: Any):
        self.engine, self.its = engine, its

    def __array_ufunc__(self, ufunc, method, *operands):
        return Term(self.engine, getattr(self.engine, ufunc.__name__)(*operands))

    def sum(self, *axis: int) -> "Term":
        return Term(self.engine, self.engine.add_up(self, *axis))


def bare(x: Any) -> Any:
    """Return the engine's own object of a term, and anything else as it is."""
    return x.its if isinstance(x, Term) else x


class Engine:
    """The questions for an engine: its adapters, by name, for terms."""

    def __init__(self, adapters: Mapping[str, Any]):
        known = {name: adapters[name] for name in ADAPTERS.split() if name in adapters}
        self._adapters = known
        self.is_function = "grad_of" in known
        self.found: set[bool] = set()  # whether a gradient was None, of all so far
        own_engine.hide()

    def __getattr__(self, name: str) -> Callable:
        if name not in self._adapters:
            raise Missing(name)
        return lambda *given: self._given(name, self._adapters[name](*map(bare, given)))

    def _given(self, name: str, result: Any) -> Any:
        if result is None and name not in MAY_BE_NONE:
            raise Wrong(
                f"what `{name}` returns", None, "a result: is a `return` missing?"
            )
        if name == "gradient":
            self.found.add(result is None)
        if name == "gradient" and isinstance(result, np.ndarray):
            return result.copy()  # what it is now: a later `clear` may write into it
        return result

    def line_of(self, error: Exception) -> str:
        """Return the line of the adapters' cells that an error came from, or ""."""
        codes = [getattr(f, "__code__", None) for f in self._adapters.values()]
        files = {code.co_filename for code in codes if code}
        places = [p for p in extract_tb(error.__traceback__) if p.filename in files]
        return f"in line {places[-1].lineno}: {places[-1].line}" if places else ""

    def blank_in(self, error: Exception) -> str:
        """Return which adapter an error of a blank came from: the innermost."""
        if isinstance(error, Missing):
            return error.adapter
        codes = {getattr(f, "__code__", 0): name for name, f in self._adapters.items()}
        walked = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
        return next((codes[code] for code in reversed(walked) if code in codes), "")

    def of_its_own(self, program: Callable) -> Callable:
        """Return a program as a function of the engine's own objects."""
        return lambda *xs: bare(program(*(Term(self, x) for x in xs)))

    def leaf(self, number: Any) -> Term:
        return Term(self, self.make(number))

    def done_quietly(self, work: Callable[[], Term]) -> Term:
        return Term(self, self.quietly(lambda: bare(work())))

    def forward(self, program: Callable, numbers: tuple) -> tuple[Term, list[Term]]:
        """Return the result of a program, and the leaves that it was given."""
        leaves = [self.leaf(number) for number in deepcopy(numbers)]
        return program(*leaves), leaves

    def slopes(self, program: Callable, numbers: tuple) -> list:
        """Return the slope of a program for each of the numbers it is given."""
        if self.is_function:
            came = self.grad_of(self.of_its_own(program), *deepcopy(numbers))
            pairs = zip(listed(came, numbers), numbers)
            return [np.zeros(np.shape(n)) if x is None else x for x, n in pairs]
        root, leaves = self.forward(program, numbers)
        self.backward(root)
        return [self.slope(leaf) for leaf in leaves]

    def gradient_itself(self, leaf: Term) -> np.ndarray:
        """Return what `gradient` returns, and not a copy of it."""
        return np.asarray(self._adapters["gradient"](leaf.its))

    def slope(self, leaf: Term) -> Any:
        """Return a leaf's gradient, or zeros if it is None because none arrived."""
        found = self.gradient(leaf)
        return np.zeros(np.shape(self.read(leaf))) if found is None else found


@dataclass(frozen=True)
class Row:
    """One behavior: `judge(engine)` raises Wrong unless the engine has it."""

    title: str
    judge: Callable[[Engine], None]


@dataclass(frozen=True)
class Verdict:
    """How a row went: DONE, WRONG or OPEN, what was wrong, the adapter it needs."""

    row: Row
    status: str
    told: str = ""
    needs: str = ""

    def __str__(self) -> str:
        line = f"{self.status:<8} {self.row.title}"
        line += f" (needs `{self.needs}`)" if self.needs else ""
        return f"{line}\n{self.told}" if self.told else line


def listed(came: Any, numbers: tuple) -> list:
    """Return the result of a `grad_of` as a list, or raise Wrong for a single slope."""
    single = isinstance(came, np.ndarray) and came.shape == np.shape(numbers[0])
    if single or not isinstance(came, Iterable):
        raise Wrong("what grad_of returns", came, "a list of all slopes, even of one")
    return list(came)


def nudged(program: Callable, numbers: tuple) -> list:
    """Return the slopes of a program by central differences."""
    found = array_gradients(lambda *xs: np.asarray(program(*xs)), numbers)
    return [each if each.shape else each.item() for each in found]


def slopes(title: str, program: Callable, *numbers: Any) -> Row:
    """Return the row of a program that has the slopes which nudging finds."""

    def judge(engine: Engine) -> None:
        expect_slopes(engine, program, numbers)

    return Row(title, judge)


def expect_slopes(
    engine: Engine,
    program: Callable,
    numbers: tuple,
    given: str = "",
    expected: list | None = None,
) -> None:
    """Raise Wrong unless an engine's slopes of a program agree with nudging."""
    given = given or "at " + ", ".join(map(shown, numbers))
    expected = expected or nudged(program, numbers)
    if not engine.is_function:
        root, _ = engine.forward(program, numbers)
        value = program(*map(np.asarray, numbers))
        expect_same(f"the result {given}", engine.read(root), value)
    came = engine.slopes(program, numbers)
    if not same(came, expected, 1e-4):
        raise Wrong(f"the slopes {given}", came, rounded(expected), NUDGED)


def expect_same(given: str, came: Any, expected: Any) -> None:
    """Raise Wrong unless two numbers, or arrays, are the same."""
    if not same(came, expected):
        raise Wrong(given, came, expected)


def same(came: Any, expected: Any, tolerance: float = 1e-6) -> bool:
    """Return whether numbers or arrays, or lists of them, agree."""
    if isinstance(expected, list | tuple):
        fits = isinstance(came, list | tuple) and len(came) == len(expected)
        return fits and all(same(*pair, tolerance) for pair in zip(came, expected))
    if not isinstance(expected, float | int | np.ndarray | np.generic):
        return equality.same(came, expected)
    try:
        came = np.asarray(came, dtype=float)
    except (TypeError, ValueError):
        return False
    fits = came.shape == np.shape(expected)
    return fits and np.allclose(came, expected, tolerance, tolerance)


def rounded(value: Any) -> Any:
    """Return slopes found by nudging, rounded to the digits that are right."""
    return [np.round(each, 4) + 0.0 for each in value]


def shown(value: Any) -> str:
    """Return a number, an array or a list of them as a row shows it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, np.ndarray) and value.size <= 12:
        return str(np.round(value, 4).tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str) else equality.show(value)


# --- a row, within bounds ---------------------------------------------------------


def judge(row: Row, engine: Engine, seconds: float = SECONDS) -> Verdict:
    """Return how an engine does in one row; any error it raises becomes a verdict."""
    if seconds <= 0:
        return Verdict(row, OPEN, "         the rows above used up the time")
    try:
        with bounded(seconds):
            row.judge(engine)
    except Wrong as wrong:
        return Verdict(row, WRONG, str(wrong) + ONLY_NONE * (engine.found == {True}))
    except Exception as error:
        if is_blank(error):
            return Verdict(row, OPEN, needs=engine.blank_in(error))
        first = shorten(str(error).split("\n")[0], 160, placeholder=" ...")
        told = f"{type(error).__name__}: {first}"
        where = engine.line_of(error)
        told += f"\n{' ' * 19}{where}" if where else ""
        return Verdict(row, WRONG, f"         came      {told}")
    return Verdict(row, DONE)
