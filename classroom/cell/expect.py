"""The parts of check cells: `check` around them, `expect` and others in them."""

import builtins
import dis
import inspect
import linecache
import re
import sys
import time
import traceback
from abc import ABCMeta
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from types import CodeType
from typing import Any

import numpy as np
from IPython.display import display

from classroom.cell import namespaces, pages, parts, runs
from classroom.cell.asked import BLANK, STILL_BLANK, Asked, hint_about
from classroom.cell.came import unusable
from classroom.cell.cures import cure
from classroom.cell.equality import ARRAYS, agree, apart, array_of, same, show
from classroom.cell.mistake_pictures import picture_of
from classroom.cell.python_slips import POWER, given_and_changed, slips_of
from minigrad.drawing.draw import variables_of
from minigrad.graph.tensor import Tensor

NONE = "\nThe check got None. Is a `return` missing, or is a part of your result None?"
NO_GRADIENT = "\nThe check got None, because no gradient arrived there."
LAZY = {
    "generator": "a `yield` makes your function a generator; use `return` instead",
    "coroutine": "`async def` makes your function a coroutine; write `def`",
    "map": "a map gives its values one by one; put `list(...)` around it",
    "filter": "a filter gives its values one by one; put `list(...)` around it",
    "zip": "a zip gives its values one by one; put `list(...)` around it",
}
NOT_USED = "The check could not use your answer:"
NEEDED = (
    "The check needs `{}`. Run the cell that defines it. If you have to define it, "
)
NEEDED += "give it exactly this name."
FILL_IN = "It is not filled in yet."
STOPPED = (
    "Your cell `{}` stopped with an error when it last ran, so the check would judge "
    "an older version.\n    {}\nFix that cell, run it, and then run this one again."
)
TOO_DEEP = (
    "A function calls itself here, perhaps through an operator, until Python stops it. "
    "If that is meant, use a loop, because there may be thousands of nodes in a row."
)
ITSELF = "`{}` calls itself with the same arguments. Can it ever end?"
NOT_LIVE = "before the check. If it stops with an error, fix that first."
NOT_RUN = (
    "No cell that was run since this notebook's kernel was started {}. Run the cell "
    "with your answer, and then this one again. (Is there no such cell any more? "
    "`python3 course.py reset {}` puts it back.)"
)
GONE = "Your answer lacks {}, which the blank has. Use exactly the names of the blank."
ELSEWHERE = (
    "Your answer stands in the cell of {}, where it does not count. Put it into the "
    "cell below the text of {}."
)
NO_PAGE = "Your cell lacks its first line, `{}`. Write the line, and run the cell."
NOWHERE = (
    "No cell that was run defines `{}`. Is it spelled right? A cell that defines it "
)
NOWHERE += "has to be above the check, and has to run before it."
# Of errors in a line of the answer: what is said, and what helps
IN_PLACE = "Something in this line is {}, where a number is needed. {}"
LIST = r"can't multiply sequence by non-int|unsupported operand.*'(list|tuple)'"
FUNCTION = r"unsupported operand.*'(builtin_)?(function|function_or_method|method)'"
IN_LINES = {
    LIST: IN_PLACE.format("a list", "Take the items of the list one by one."),
    FUNCTION: IN_PLACE.format("a function", "Call it, with (...) after its name."),
    r"pop from (an )?empty": "More is taken out here than was put in. Which line puts "
    "the item in, and does it run before?",
    r"unsupported operand type\(s\) for \^": POWER,
    "cannot access local variable": "No line of the function that gives this variable "
    "a value has run before. Give it a first value in the function, or write "
    "`nonlocal` if it belongs to the function around.",
}
INSIDE = " (What belongs to a class is indented below its first line.)"
GLUED = "\nPython needs a sign between factors: `2 * h`, and not `2h`."
# What finds slopes for you
MACHINES = {"Value", "tensor", "Tensor", "backward", "gradcheck", "array_gradients"}
MACHINES |= {"central_difference", "forward_difference", "numerical_gradient"}
WORK_OUT = "Work it out with plain numbers, without Value, tensor or nudging."
WRITE_IT = "Write this yourself, without a tool that does it for you."


SOON = 0.5  # seconds that a check may take to run it once more for each part
_right: list[str] = []  # what a check has found right last


class WrongAnswer(AssertionError):
    """The answer is wrong; the text says in what, and there may be a picture.

    Notebooks show only these two. Elsewhere the picture is also text.
    """

    def __init__(self, text: str, picture: Any = None) -> None:
        super().__init__(f"{text}\n{picture!r}" if picture else text)
        self.text, self.picture = text, picture

    def _render_traceback_(self) -> list[str]:
        if self.picture:  # IPython asks twice
            display(self.picture)
            self.picture = None
        return self.text.splitlines()


class NotFilledIn(WrongAnswer):
    """The answer is still the blank."""


@contextmanager
def check(exercise: str, *pieces: Callable) -> Iterator[None]:
    """Judge the answer to an exercise by what is expected inside the `with` block.

    `pieces` are the functions and methods of the package that the answer has to
    replace. If the answer is wrong, the package's own are put back and WrongAnswer is
    raised. If it is right, the answer stays in the package.
    """
    _right.clear()
    pages.retry(exercise)
    start = time.monotonic()
    try:
        _require_run(exercise)
        _require_live(exercise, pieces)
        yield
    except Exception as error:
        pages.restore(exercise)
        soon = time.monotonic() - start < SOON
        refusal = _refusal(exercise, error, pieces, soon)
        if not isinstance(refusal, NotFilledIn):
            runs.note(exercise, passed=False)
        raise refusal from None
    except BaseException:  # interrupted: do not leave a half-judged answer behind
        pages.restore(exercise)
        raise
    pages.keep(exercise)
    print(f"{exercise} passed")
    runs.note(exercise, passed=True)
    runs.show_solution(exercise)


def expect(
    what: str,
    got: Any,
    expected: Any,
    *,
    numeric: Any = None,
    why: str = "",
    mistakes: Iterable[tuple[Any, str]] = (),
    graph: Any = None,
    told: str = "your answer",
) -> None:
    """Raise WrongAnswer unless `got` is `expected`, numbers to 1 part in a million.

    `what` says what was computed ("mul(2, 3), slope of b"). `numeric` is the result of
    finite differences. `why` is a sentence that helps when the answer is wrong.
    `mistakes` are pairs of the result of a known mistake and the sentence for it. For
    arrays and Tensors the shapes are compared. Then the message names the first wrong
    element, and says if all numbers are there in another order, or times one factor.

    A picture marks what is wrong with arrays, and in `graph`, if it is given. `graph`
    is the result whose edges are compared, in order; or [root, node], whose number is
    compared; or [root, node, parent], whose edge is compared.

    `told` says what `got` is. A yes or no is not the answer itself, but found out about
    it.
    """
    if same(got, expected):
        _right[:] = [what]
        return
    none = _none(what).strip() if got is None or same(got, "NoneType") else ""
    known = next((text for value, text in mistakes if same(got, value)), "")
    why = known or "\n".join(filter(None, [why, none]))
    told = "found" if isinstance(expected, bool) else told
    picture = None
    with suppress(Exception):  # an answer may be anything: then words have to do
        names = variables_of(sys._getframe(1))
        picture = picture_of(got, expected, graph, names)
    pattern = ""
    if isinstance(expected, (Tensor, np.ndarray)):
        pattern = _pattern(got, array_of(expected))
        what, got, expected, numeric = _where(what, got, expected, numeric)
    yours, right = apart(got, expected)
    lines = [what, f"    {f'{told}:':<12} {yours}", f"    expected:    {right}"]
    if numeric is not None:
        lines.append(f"    finite differences give {show(numeric)}")
    if lazy := LAZY.get(type(got).__name__):
        why = f"That has not run yet: {lazy}."
    raise WrongAnswer("\n".join([*lines, *filter(None, [pattern, why])]), picture)


def _none(what: str) -> str:
    """Return what to say of a None in the place of `what`, which may be a gradient."""
    return NO_GRADIENT if re.search(r"\bgrad(ient)?\b", what) else NONE


def unchanged(what: str, found: Any, before: Any) -> None:
    """Raise WrongAnswer if an answer has modified an argument, `what`."""
    expect(what, found, before, why="Do not modify your arguments.", told="found")


def worked_out(answer: Callable, without: Collection[str] = MACHINES) -> None:
    """Raise WrongAnswer if an answer uses the package where one should work by hand.

    `without` are the names of what it may not use.
    """
    to_read, read = [_bare(answer)], set()
    while to_read:
        function = to_read.pop()
        if not hasattr(function, "__code__") or function in read:
            continue
        read.add(function)
        names = _names(function.__code__)
        known = [
            _bare(function.__globals__.get(n)) for n in _globals(function.__code__)
        ]
        names |= {f.__name__ for f in known if inspect.isfunction(f)}  # renamed or not
        if used := sorted(names.intersection(without)):
            by_hand = WORK_OUT if without is MACHINES else WRITE_IT
            raise WrongAnswer(f"{by_hand} Yours uses {', '.join(used)}.")
        spaces = function.__globals__, namespaces.course
        to_read += [f for f in known if _any_is(getattr(f, "__globals__", 0), spaces)]


def _any_is(one: Any, several: Iterable) -> bool:
    return any(one is each for each in several)


def _bare(each: Any) -> Any:
    """Return the function inside a decorated or a partial one, or a property's."""
    return inspect.unwrap(getattr(each, "func", getattr(each, "fget", each)))


def _names(code: CodeType) -> set[str]:
    """Return the names that some code uses, functions inside it included."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _globals(code: CodeType) -> set[str]:
    """Return the names that some code reads as globals, so no attributes."""
    loads = (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(loads).union(*map(_globals, inner))


def how_many(found: Any, numbers: bool = False) -> int:
    """Return how many results an answer has: 0 for None, 1 for anything but a list.

    An array is one result, unless the results are `numbers`.
    """
    several = (numbers and isinstance(found, np.ndarray) and found.ndim) or isinstance(
        found, tuple | list
    )
    return len(found) if several else int(found is not None)


def _refusal(
    exercise: str, error: Exception, pieces: tuple, soon: bool = False
) -> WrongAnswer:
    """Return the message for an error that a check has met.

    If it met the error `soon`, the check runs again for each part of the answer.
    """
    about = runs.what_is_asked(exercise)
    gone = _gone(exercise, about)
    if isinstance(error, NotImplementedError) and str(error) == BLANK and not gone:
        return NotFilledIn(f"{exercise}: {_which_blank(exercise, error, pieces)}")
    if isinstance(error, WrongAnswer):
        kind, told, picture = type(error), error.text, error.picture
    else:
        told = _what_was_raised(exercise, error, pieces)
        kind, picture = WrongAnswer, None
    missing = error.name if isinstance(error, NameError) else ""
    lacks = about and (NOT_LIVE in told or missing in about.names)
    if lacks and not (runs.answered(exercise) or runs.defined(about.names)):
        told = not_run(about, exercise)
    elif gone:
        told, picture = GONE.format(_listed(gone)), None
    ours = runs.our_solution(exercise)
    if about and ours and kind is WrongAnswer and soon:
        cell = runs.now.source
        right = parts.right_alone(exercise, error, cell, about.stub, ours)
        told += "\n" * bool(right) + _right_of(right, parts.parts_of(about.stub))
    for answer in runs.answer_to(exercise, about) if about else ():
        slips = slips_of(answer, ours) if ours else []
        slips += given_and_changed(answer, about.stub)
        told = "\n".join([told, *(slip for slip in slips if slip not in told)])
    if about and runs.seen() and (hint := hint_about(about.helps, told)):
        told += f"\nHelp: Hint {hint}, above your answer, is about this mistake."
    return kind(f"{exercise}: {told}", picture)


def _gone(exercise: str, about: Asked | None) -> list[str]:
    """Return the functions of the blank that the learner's cells no longer have."""
    original = about and runs.now.source == about.check
    judged = original and not runs.failed(exercise)
    return runs.gone(parts.parts_of(about.stub)) if judged else []


def _which_blank(exercise: str, error: NotImplementedError, pieces: tuple) -> str:
    """Return which functions are blanks, and what is right, or wrong, beside them."""
    name = parts.blank_in(error)
    told = unfilled(name) if name else FILL_IN
    before = [f"What was right before it: {r}." for r in _right]
    about, ours = runs.what_is_asked(exercise), runs.our_solution(exercise)
    answers = runs.answer_to(exercise, about) if about else ()
    still = _still_blank(name, answers, about)
    found = (
        about
        and ours
        and parts.others(exercise, error, runs.now.source, about.stub, ours)
    )
    if not found:
        return "\n".join([told, *(still or before)])
    blanks, left, wrong = found
    if len(blanks) > 1:
        told = f"{_listed(blanks)} are not filled in yet."
    told = "\n".join([told, *still])
    if wrong:
        said = _refusal(exercise, wrong, pieces).text
        return f"{told}\nAnother part is wrong: {said.removeprefix(f'{exercise}: ')}"
    return f"{told}\n{_right_of(left, left + blanks)}"


def _still_blank(name: str, answers: Iterable[str], about: Asked | None) -> list[str]:
    """Return what to say of the blank's line if more than that is in a function."""
    begun = about and any(parts.is_begun(name, a, about.stub) for a in answers)
    return [STILL_BLANK] if begun else []


def _right_of(right: list[str], every: list[str]) -> str:
    """Return which of the parts of an answer are right, or "" if none is."""
    are = "is" if len(right) == 1 else "are"
    told = f"{{}} {are} right: {len(right)} of {len(every)} parts."
    return told.format(_listed(right)) if right else ""


def not_run(about: Asked, exercise: str) -> str:
    """Return the message for an answer that no cell which has run defines."""
    names = parts.parts_of(about.stub) or sorted(about.names)
    defines = f"defines {_listed(names)}" if names else "has your answer"
    return NOT_RUN.format(defines, exercise)


def unfilled(name: str) -> str:
    """Return the message for a function that is still a blank."""
    return f"`{name}` is not filled in yet."


def _listed(names: list[str]) -> str:
    """Return names of functions as words: `a`, `b` and `c`."""
    *several, last = [f"`{name}`" for name in names]
    return " and ".join(filter(None, [", ".join(several), last]))


def _require_run(exercise: str) -> None:
    """Raise WrongAnswer if the check would judge something older than a failed run."""
    run = runs.failed(exercise)
    if run and (first := runs.without_page(exercise)):
        raise WrongAnswer(NO_PAGE.format(first))
    if run and run.error == f"NotImplementedError: {BLANK}":
        if run.source.strip() == runs.what_is_asked(exercise).stub.strip():
            raise NotFilledIn(FILL_IN)
        about, name = runs.what_is_asked(exercise), run.blank
        still = _still_blank(name, [run.source], about)
        raise NotFilledIn("\n".join([unfilled(name), *still]) if name else STILL_BLANK)
    if run:
        lines = [line for line in run.source.splitlines() if line.strip()]
        glued = GLUED * ("invalid decimal literal" in run.error)
        raise WrongAnswer(STOPPED.format(lines[0].strip(), run.error) + glued)
    if other := runs.elsewhere(exercise):
        raise WrongAnswer(ELSEWHERE.format(other, exercise))


def _require_live(exercise: str, pieces: tuple[Callable, ...]) -> None:
    if pieces and (first := runs.without_page(exercise)):
        raise WrongAnswer(NO_PAGE.format(first))
    for piece in pieces:
        if not pages.is_live(piece):
            name = pages.name_of(piece)
            raise WrongAnswer(
                f"{name} is still the package's own. Write it into your cell under "
                "exactly this name, keep the first line of the cell, `# minigrad/...`, "
                "and run the cell before the check. If it stops with an error, fix "
                f"that first.{INSIDE * ('.' in name)}"
            )


def _what_was_raised(exercise: str, error: Exception, pieces: tuple) -> str:
    """Return what an answer raised, and its line, if the line is in its cell.

    A line that the learner wrote goes before one that the blank gave. If the check's
    own lines raised it, return what they got from the answer.
    """
    walked = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    frames = traceback.extract_tb(error.__traceback__)
    cells = [
        (place, frame.f_globals)
        for place, frame in zip(frames, walked)
        if re.search(r"ipykernel_\d|^<ipy", place.filename)
    ]
    own = [names for _, names in cells[:1]] + [namespaces.course]
    inside = [place for place, names in cells if not _any_is(names, own)]
    at_check, right = bool(cells) and not inside, [*_right]
    files = {
        f.__code__.co_filename for f in map(_bare, pieces) if hasattr(f, "__code__")
    }
    about = runs.what_is_asked(exercise)
    own = {s.strip() for s in (runs.answer_to(exercise, about) if about else ())}
    judged = [p for p in inside if p.filename in files or _source(p) in own]
    judged = judged or [p for p in inside if "`# minigrad/" not in _cell(p)]
    stub = about.stub if about else ""  # given lines help less
    judged = [place for place in judged if place.line not in stub] or judged
    line = cells[-1][0].line if cells else ""
    text = _told(error, at_check, bool(judged), line)
    before = unused = ()
    if at_check and not isinstance(error, NameError):
        before, unused = _used(exercise, error)
        if before:
            text = text.replace(NOT_USED, "The check cannot use that:")
    text = "\n".join([*getattr(error, "__notes__", []), *before, text, *unused])
    if judged:
        place = judged[-1]
        text += f"\n    in line {place.lineno} of {_cell(place)}: {place.line}"
    elif cells and right:
        text += f"\n    What was right just before: {right[0]}"
    if isinstance(error, RecursionError):
        endless = parts.calls_itself(error)
        text += f"\n{ITSELF.format(endless) if endless else TOO_DEEP}"
    return text + cure(str(error), judged[-1].line if judged else "")


def _used(exercise: str, error: Exception) -> tuple[list[str], list[str]]:
    """Return what the check got from the answer, and how the blank says it is called.

    It is for an error that the check's own lines have raised.
    """
    cell, about = runs.now.source, runs.what_is_asked(exercise)
    called = re.match(r"(?:\w+\.)*(\w+)\(\) (?:takes|missing|got)", str(error))
    line = parts.heading(about.stub, called[1]) if about and called else ""
    if line:
        return [], [f"The check calls it as the blank does: `{line}`"]
    lacking = runs.lacking(parts.parts_of(about.stub)) if about else ()
    if lacking:
        said = f"The blank has {_listed(lacking)}, and your answer has not."
        return [], [said + INSIDE * any("." in name for name in lacking)]
    return unusable(exercise, error, cell, runs.our_solution(exercise)), []


def _how_to_get(error: NameError) -> str:
    """Return advice for a name that an answer uses and nothing defines."""
    name = error.name
    frame = parts.frames_of(error)[-1]
    if name in dir(frame.f_locals.get("self")):  # which runs no property
        return f"Did you mean `self.{name}`?"
    usual = {"np": "import numpy as np", "plt": "from matplotlib import pyplot as plt"}
    if name in sys.stdlib_module_names | {"numpy", "minigrad"}:
        usual[name] = f"import {name}"
    for key in [key for key in sys.modules if key.startswith("minigrad.")]:
        found = getattr(sys.modules[key], name, None)
        if isinstance(found, ABCMeta):  # such as Array: nobody can call it
            continue
        if getattr(found, "__module__", None) == key:
            usual[name] = f"from {key} import {name}"
    if name in usual:
        return f"Write `{usual[name]}` into your cell."
    others = [*frame.f_globals, *vars(builtins)]
    like = get_close_matches(name, frame.f_locals, 1, cutoff=0.7)
    like = like or get_close_matches(name, others, 1, cutoff=0.8)
    modules = [(n, m) for n, m in frame.f_globals.items() if inspect.ismodule(m)]
    like = like or [f"{n}.{name}" for n, module in modules if name in vars(module)]
    return f"Did you mean `{like[0]}`?" if like else NOWHERE


def _told(error: Exception, at_check: bool, at_answer: bool, line: str) -> str:
    """Return what an answer raised, in words that help; `line` is the last line."""
    said, kind = str(error), type(error).__name__
    if kind == "StdinNotImplementedError":
        return "Your code calls input(), but nobody is there to type. Leave it out."
    if isinstance(error, KeyError) and re.fullmatch(r"\d{9,}", said):
        said = "an id(...) that is not a key of the dictionary"
    what = NOT_USED if at_check else "Your code raised"
    text = f"{what} {kind}: {said}"
    lazy = re.search(r"\b(generator|coroutine|map|filter|zip)('| object)", said)
    if lazy and at_check:
        return f"{text}\nWhat you return has not run yet: {LAZY[lazy[1]]}."
    if isinstance(error, TypeError | AttributeError) and "NoneType" in said:
        text += "\nSomething in this line is None." if at_answer else _none(line)
    helps = [IN_LINES[words] for words in IN_LINES if re.search(words, said)]
    text = "\n".join([text, *helps] if at_answer else [text])
    if isinstance(error, NameError) and error.name:
        advice = NEEDED if at_check else _how_to_get(error)
        text += "\n" + advice.format(error.name)
    return text


def _source(place: traceback.FrameSummary) -> str:
    """Return the text of the cell of a line."""
    return "".join(linecache.getlines(place.filename)).strip()


def _cell(place: traceback.FrameSummary) -> str:
    """Return what to call the cell of a line: its file or its first line of code."""
    lines = map(str.strip, _source(place).splitlines())
    named = (line for line in lines if line and not re.match("#(?! minigrad/)", line))
    return f"the cell `{next(named, '...')}`"


def _where(what: str, got: Any, expected: Any, numeric: Any) -> tuple:
    """Return what is wrong with an array: its kind, its shape, or one element."""
    if not isinstance(got, ARRAYS):
        return what, got, array_of(expected), None
    got, expected = array_of(got), array_of(expected)
    if got.shape != expected.shape:
        return f"{what}: the shape", got.shape, expected.shape, None
    place = tuple(map(int, np.argwhere(~agree(got, expected))[0]))
    if numeric is not None:
        numeric = np.broadcast_to(array_of(numeric), expected.shape)[place].item()
    at = f"{what}, element [{', '.join(map(str, place))}]" if place else what
    return at, got[place].item(), expected[place].item(), numeric


def _pattern(got: Any, expected: np.ndarray) -> str:
    """Return what is wrong in the same way with all numbers of an array, or ""."""
    found = array_of(got) if isinstance(got, ARRAYS) else np.empty(0)
    kinds = {found.dtype.kind, expected.dtype.kind}
    if found.shape != expected.shape or not kinds <= {"f", "i"}:
        return ""
    if found.size > 1 and agree(np.sort(found, None), np.sort(expected, None)).all():
        return "The numbers are right, but not all are in the right positions."
    found, other = found[expected != 0], found[expected == 0]
    if found.size < 2 or other.any() or not np.isfinite(found).all():
        return ""
    factor = found / expected[expected != 0]
    alike = factor[0] and np.allclose(factor, factor[0], rtol=1e-4, atol=0)
    times = f"{factor[0]:.4g}"  # both may have been rounded
    told = alike and times != "1"
    return f"All of yours are {times} times what is expected." if told else ""
