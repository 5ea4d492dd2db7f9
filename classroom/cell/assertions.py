"""What check cells are made of: `check` around them, `expect` in them, `how_many`."""

import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from classroom.cell import namespaces, pages
from classroom.cell.cures import cure
from minigrad.graph.tensor import Tensor

BLANK = "fill this in"
NONE = "\nNone came where the check needs more: is a `return` missing, or a part None?"
LAZY = {
    "generator": "a `yield` in your function makes a generator of it: `return` instead",
    "coroutine": "`async def` makes a coroutine of your function: write `def`",
    "map": "a map gives its values one by one: put `list(...)` around it",
    "filter": "a filter gives its values one by one: put `list(...)` around it",
    "zip": "a zip gives its values one by one: put `list(...)` around it",
}
NEEDED = (
    "The check needs `{}`. Run the cell that defines it; if it is yours to define, "
)
NEEDED += "give it this very name."
NOWHERE = (
    "No cell that was run defines `{}`. Is it spelled right? A cell that defines it "
)
NOWHERE += "has to stand above the check, and to be run before it."
ARRAYS = (Tensor, np.ndarray, np.generic)
# What finds slopes for you
MACHINES = {"Value", "tensor", "Tensor", "backward", "gradcheck", "array_gradients"}
MACHINES |= {"central_difference", "forward_difference", "numerical_gradient"}


class WrongAnswer(AssertionError):
    """The answer is wrong; the text says in what. Notebooks show the text alone."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class NotFilledIn(WrongAnswer):
    """The answer is still the blank."""


@contextmanager
def check(exercise: str, *pieces: Callable) -> Iterator[None]:
    """Judge the answer to an exercise by what is expected inside the `with` block.

    `pieces` are the functions and methods of the package that the answer has to
    replace. If the answer is wrong, the package's own are put back and WrongAnswer
    is raised; if it is right, the answer stays in the package.
    """
    try:
        _require_live(pieces)
        yield
    except WrongAnswer as wrong:
        raise _refuse(exercise, str(wrong), type(wrong)) from None
    except NotImplementedError as error:
        if str(error) != BLANK:
            raise _refuse(exercise, _what_was_raised(error, pieces)) from None
        raise _refuse(exercise, "It is not filled in yet.", NotFilledIn) from None
    except Exception as error:
        raise _refuse(exercise, _what_was_raised(error, pieces)) from None
    except BaseException:  # interrupted: do not leave a half-judged answer behind
        pages.restore()
        raise
    pages.keep()
    print(f"{exercise} passed")


def expect(
    what: str, got: Any, expected: Any, *, numeric: Any = None, why: str = ""
) -> None:
    """Raise WrongAnswer unless `got` is `expected`, numbers to 1 part in a million.

    `what` says what was computed ("mul(2, 3), slope of b"); `numeric` is what finite
    differences give for it; `why` is a sentence that helps when it is wrong. Of arrays
    and Tensors the shapes are compared, and the first element that is wrong is named,
    and whether all numbers are there in another order, or times one factor.
    """
    if _same(got, expected):
        return
    pattern = ""
    if isinstance(expected, (Tensor, np.ndarray)):
        pattern = _pattern(got, _array(expected))
        what, got, expected, numeric = _where(what, got, expected, numeric)
    lines = [
        what,
        f"    your answer: {_show(got)}",
        f"    expected:    {_show(expected)}",
    ]
    if numeric is not None:
        lines.append(f"    finite differences give {_show(numeric)}")
    if lazy := LAZY.get(type(got).__name__):
        why = f"That is not run yet: {lazy}."
    raise WrongAnswer("\n".join([*lines, *filter(None, [pattern, why])]))


def worked_out(answer: Callable) -> None:
    """Raise WrongAnswer if an answer lets the package work out what it is to say."""
    to_read, read = [_bare(answer)], set()
    while to_read:
        function = to_read.pop()
        if not hasattr(function, "__code__") or function in read:
            continue
        read.add(function)
        names = _names(function.__code__)
        if used := sorted(names & MACHINES):
            raise WrongAnswer(
                "Work it out, with plain numbers: no Value, no tensor, no nudging. "
                f"Yours uses {', '.join(used)}."
            )
        known = [_bare(function.__globals__.get(name)) for name in names]
        spaces = function.__globals__, namespaces.course
        to_read += [f for f in known if _any_is(getattr(f, "__globals__", 0), spaces)]


def _any_is(one: Any, several: Iterable) -> bool:
    return any(one is each for each in several)


def _bare(function: Any) -> Any:
    """Return the function within a decorated or a partial one."""
    return inspect.unwrap(getattr(function, "func", function))


def _names(code: CodeType) -> set[str]:
    """Return the names that some code uses, that of functions within it included."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def how_many(found: Any, numbers: bool = False) -> int:
    """Return how many results an answer has given: 1, if they are no tuple or list.

    An array is one result, unless the results are `numbers`.
    """
    several = (numbers and isinstance(found, np.ndarray) and found.ndim) or isinstance(
        found, tuple | list
    )
    return len(found) if several else 1


def _refuse(exercise: str, text: str, kind: type = WrongAnswer) -> WrongAnswer:
    pages.restore()
    return kind(f"{exercise}: {text}")


def _require_live(pieces: tuple[Callable, ...]) -> None:
    for piece in pieces:
        if not pages.is_live(piece):
            raise WrongAnswer(
                f"{pages.name_of(piece)} is still the package's own. Write it into "
                "your cell, keep the first line of the cell, `# minigrad/...`, and run "
                "the cell before the check. If it stops with an error, mend that first."
            )


def _what_was_raised(error: Exception, pieces: tuple[Callable, ...]) -> str:
    """Return what an answer raised, and the line of it, if that stands in a cell."""
    walked = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    frames = traceback.extract_tb(error.__traceback__)
    cells = [
        (place, frame.f_globals)
        for place, frame in zip(frames, walked)
        if re.search(r"ipykernel_\d|^<ipy", place.filename)
    ]
    check, space = cells[0] if cells else (None, None)
    own = space, namespaces.course
    inside = [place for place, names in cells if not _any_is(names, own)]
    text = _told(error, at_check=bool(cells) and not inside, at_answer=bool(inside))
    files = {
        piece.__code__.co_filename for piece in pieces if inspect.isfunction(piece)
    }
    judged = [place for place in inside if place.filename in files] or inside
    if judged or check:
        place = judged[-1] if judged else check
        line = linecache.getline(place.filename, place.lineno).strip()
        where = _cell(place) if judged else "the check"
        text += f"\n    in line {place.lineno} of {where}: {line}"
    return text + cure(str(error), line if judged else "")


def _how_to_get(name: str) -> str:
    """Return what to do about a name that an answer uses and nothing defines."""
    usual = {"np": "import numpy as np", "plt": "from matplotlib import pyplot as plt"}
    if name in sys.stdlib_module_names | {"numpy", "minigrad"}:
        usual[name] = f"import {name}"
    for key in [key for key in sys.modules if key.startswith("minigrad.")]:
        if getattr(getattr(sys.modules[key], name, None), "__module__", None) == key:
            usual[name] = f"from {key} import {name}"
    return f"Write `{usual[name]}` into your cell." if name in usual else NOWHERE


def _told(error: Exception, at_check: bool, at_answer: bool) -> str:
    """Return what an answer raised, in words that help."""
    said, kind = str(error), type(error).__name__
    if kind == "StdinNotImplementedError":
        return "Your code calls input(), and nobody is there to type: leave it out."
    if isinstance(error, KeyError) and re.fullmatch(r"\d{9,}", said):
        said = "an id(...) that is no key of the dictionary"
    what = "The check could not use your answer:" if at_check else "Your code raised"
    text = f"{what} {kind}: {said}"
    lazy = re.search(r"\b(generator|coroutine|map|filter|zip)('| object)", said)
    if lazy and at_check:
        return f"{text}\nWhat you return is not run yet: {LAZY[lazy[1]]}."
    if isinstance(error, TypeError | AttributeError) and "NoneType" in said:
        text += "\nSomething in this line is None." if at_answer else NONE
    if isinstance(error, NameError) and error.name:
        advice = NEEDED if at_check else _how_to_get(error.name)
        text += "\n" + advice.format(error.name)
    return text


def _cell(place: traceback.FrameSummary) -> str:
    """Return what to call the cell of a line: by what it begins with."""
    lines = filter(None, map(str.strip, linecache.getlines(place.filename)))
    return f"the cell `{next(lines, '...')}`"


def _where(what: str, got: Any, expected: Any, numeric: Any) -> tuple:
    """Return what is wrong with an array: its kind, its shape, or one element of it."""
    if not isinstance(got, ARRAYS):
        return what, got, _array(expected), None
    got, expected = _array(got), _array(expected)
    if got.shape != expected.shape:
        return f"{what}: the shape", got.shape, expected.shape, None
    place = tuple(map(int, np.argwhere(~_agree(got, expected))[0]))
    if numeric is not None:
        numeric = np.broadcast_to(_array(numeric), expected.shape)[place].item()
    at = f"{what}, element [{', '.join(map(str, place))}]" if place else what
    return at, got[place].item(), expected[place].item(), numeric


def _pattern(got: Any, expected: np.ndarray) -> str:
    """Return what is wrong with all numbers of an array alike, if one thing is."""
    found = _array(got) if isinstance(got, ARRAYS) else np.empty(0)
    kinds = {found.dtype.kind, expected.dtype.kind}
    if found.shape != expected.shape or not kinds <= {"f", "i"}:
        return ""
    if found.size > 1 and _agree(np.sort(found, None), np.sort(expected, None)).all():
        return "The numbers are right, but not all in their places."
    found, other = found[expected != 0], found[expected == 0]
    if found.size < 2 or other.any() or not np.isfinite(found).all():
        return ""
    factor = found / expected[expected != 0]
    alike = factor[0] and np.allclose(factor, factor[0], rtol=1e-4, atol=0)
    times = f"{factor[0]:.4g}"  # both may have been rounded
    told = alike and times != "1"
    return f"All of yours are {times} times what is expected." if told else ""


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.array if isinstance(value, Tensor) else value)


def _agree(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Tell for each element whether it is right, as far as its dtype can know."""
    coarse = any(x.dtype in (np.float32, np.float16) for x in (got, expected))
    rtol, atol = (1e-4, 1e-6) if coarse else (1e-6, 1e-9)
    return np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)


def _same(got: Any, expected: Any) -> bool:
    if isinstance(expected, np.generic):
        expected = expected.item()
    if isinstance(expected, ARRAYS):
        if not isinstance(got, ARRAYS):
            return False
        got, expected = _array(got), _array(expected)
        return got.shape == expected.shape and bool(_agree(got, expected).all())
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return type(got) is type(expected) and got == expected
    if isinstance(expected, (int, float)):
        if isinstance(got, ARRAYS) and not got.shape:
            got = got.item()
        return _is_number(got) and bool(_agree(np.float64(got), np.float64(expected)))
    if isinstance(expected, list | tuple) and isinstance(got, np.ndarray) and got.ndim:
        got = list(got) if got.ndim > 1 else got.tolist()
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, dict) and isinstance(got, dict):
        same_keys = got.keys() == expected.keys()
        return same_keys and all(_same(got[key], expected[key]) for key in expected)
    return got is expected


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _show(x: Any) -> str:
    if isinstance(x, float):
        return f"{x:.6g}"
    if isinstance(x, ARRAYS):
        kind = "Tensor" if isinstance(x, Tensor) else "array"
        x = _array(x)
        return f"{kind} {_show(x.tolist())}" if x.size <= 12 else f"{kind} {x.shape}"
    if isinstance(x, list):
        return "[" + ", ".join(map(_show, x)) + "]"
    if isinstance(x, tuple):
        return "(" + ", ".join(map(_show, x)) + ("," if len(x) == 1 else "") + ")"
    return repr(x)
