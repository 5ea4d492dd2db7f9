"""Which parts of an answer are right, where another part is still a blank.

In the place of each blank our solution runs, and so the check comes to what is left.
"""

import ast
import gc
import re
import sys
import threading
import traceback
from _thread import interrupt_main
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from inspect import CO_OPTIMIZED
from time import process_time
from types import CodeType, FrameType, FunctionType

from IPython.utils.capture import capture_output

from classroom.cell import namespaces, pages
from classroom.cell.asked import BLANK, parsed
from classroom.cell.python_slips import functions_in

DEPTH = 1000  # Python's own limit of calls within calls
SECONDS = 3  # that a check may take that runs once more


def others(
    exercise: str, error: Exception, cell: str, stub: str, ours: str
) -> tuple | None:
    """Judge the parts of an answer that are filled in, although another one is not.

    Return the blanks, the others, and the error that the check then finds, or None.
    `error` is the blank that the check in `cell` has met; `stub` has all blanks, and
    `ours` the solution. If that does not tell, return None.
    """
    with pages.again(exercise), suppress(LookupError, ValueError):
        body, names = body_of(cell), frames_of(error, "<module>")[0].f_globals
        every, filled = ours_for_theirs(ours), {}
        while is_blank(error):
            referrers = gc.get_referrers(frames_of(error)[-1].f_code)
            [function] = [f for f in referrers if isinstance(f, FunctionType)]
            if function in filled:
                return None
            filled[function] = every[function]
            with swapped(filled):
                error = run(body, names)
        blanks = list(dict.fromkeys(name_of(f.__code__) for f in filled))
        if error:
            with swapped(every):
                if run(body, names):  # all is ours: the learner's is not at fault
                    return None
        left = [name for name in parts_of(stub) if name not in blanks]
        return (blanks, left, error) if left else None
    return None


def right_alone(
    exercise: str, error: Exception, cell: str, stub: str, ours: str
) -> list[str]:
    """Return which parts of a wrong answer are right, with our solution for the rest.

    `error` is what the check in `cell` has met; the rest is as in `others`.
    """
    names, right = parts_of(stub), []
    with pages.again(exercise), suppress(LookupError, ValueError):
        body, space = body_of(cell), frames_of(error, "<module>")[0].f_globals
        every = ours_for_theirs(ours)
        for name in names if len(names) > 1 else ():
            with swapped({f: c for f, c in every.items() if name_of(c) != name}):
                right += [name] * (run(body, space) is None)
    return right if len(right) < len(names) else []


def ours_for_theirs(ours: str) -> dict[FunctionType, CodeType]:
    """Return the learner's functions, with the code that each has in our solution."""
    every = [*codes(compile(ours, "<ours>", "exec"))]
    times = Counter(map(key, every))  # which of several lambdas is whose, nobody knows
    known = {key(c): c for c in every if c.co_name != "<lambda>" or times[key(c)] == 1}
    there = [x for x in gc.get_objects() if isinstance(x, FunctionType)]
    own = [f for f in there if f.__globals__ is namespaces.learners()]
    return {f: known[key(f.__code__)] for f in own if key(f.__code__) in known}


@contextmanager
def swapped(codes: dict[FunctionType, CodeType]) -> Iterator[None]:
    """Let functions run other code, for as long as this lasts."""
    before = {function: function.__code__ for function in codes}
    try:
        for function, code in codes.items():
            function.__code__ = code
        yield
    finally:
        for function, code in before.items():
            function.__code__ = code


def is_blank(error: Exception | None) -> bool:
    """Tell whether an error is that of a blank."""
    return isinstance(error, NotImplementedError) and str(error) == BLANK


def run(body: CodeType, names: dict) -> Exception | None:
    """Run what stands in a check, of which nothing is shown; return its error."""
    try:
        with bounded(SECONDS), capture_output():
            exec(body, names)
    except Exception as error:
        return error
    return None


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TimeoutError, or RecursionError, if the `with` block does not end.

    A second thread interrupts the block, as Jupyter's stop button does. It counts the
    processor's time, because others may keep the machine busy. A browser's tab has no
    second thread.
    """
    depth, over, late = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def watch(begin: float) -> None:
        while not over.wait(0.1):
            if process_time() - begin > seconds:
                late.set()
                interrupt_main()
                return

    thread = threading.Thread(target=watch, args=[process_time()], daemon=True)
    sys.setrecursionlimit(DEPTH)
    try:
        try:
            if sys.platform != "emscripten":
                thread.start()
            yield
        finally:
            over.set()
            if thread.is_alive():
                thread.join()  # the interrupt may be on its way
    except KeyboardInterrupt as error:
        if not late.is_set():
            raise
        told = TimeoutError(f"no end within {seconds:.2g} seconds")
        raise told.with_traceback(error.__traceback__) from None
    finally:
        sys.setrecursionlimit(depth)


def body_of(cell: str) -> CodeType:
    """Return what stands inside of `with check(...):` in a cell."""
    [check] = [s for s in ast.parse(cell).body if isinstance(s, ast.With)]
    return compile(ast.Module(check.body, []), "<check>", "exec")


def parts_of(stub: str) -> list[str]:
    """Return the functions that are blanks."""
    found = codes(compile(stub, "<stub>", "exec"))
    return list(dict.fromkeys(name_of(c) for c in found if BLANK in c.co_consts))


def blank_in(error: Exception) -> str:
    """Return the function whose blank has raised an error, or "" outside of any."""
    frame = frames_of(error)[-1]
    name = name_of(frame.f_code)
    return name if frame.f_code.co_flags & CO_OPTIMIZED and "<" not in name else ""


def is_begun(name: str, answer: str, stub: str) -> bool:
    """Tell whether a function of an answer has more in it than that of the blank."""
    with suppress(KeyError):
        both = [dict(functions_in(parsed(x)))[name] for x in (answer, stub)]
        lines = [sum(isinstance(n, ast.stmt) for n in ast.walk(f)) for f in both]
        return lines[0] > lines[1]
    return False


def heading(stub: str, name: str) -> str:
    """Return the line of a blank that begins a function, or ""."""
    found = re.search(rf"^ *(def {re.escape(name)}\(.*)$", stub, re.MULTILINE)
    return found[1] if found else ""


def frames_of(error: Exception, name: str = "") -> list[FrameType]:
    """Return the frames that an error came through, or those of a name alone."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [frame for frame in frames if not name or frame.f_code.co_name == name]


def calls_itself(error: Exception) -> str:
    """Return the function that called itself too often as it was called, or "".

    If it can change an argument, or has none, it may well end.
    """
    frames = frames_of(error)
    code = Counter(frame.f_code for frame in frames).most_common(1)[0][0]
    calls = [frame.f_locals for frame in frames if frame.f_code is code]
    names = code.co_varnames[: code.co_argcount]
    both = [tuple(call.get(name) for call in calls[-2:]) for name in names]
    changes = any(isinstance(each[0], list | dict | set) for each in both)
    same = both and all(len(each) == 2 and each[0] is each[1] for each in both)
    return name_of(code) if same and not changes else ""


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in some code."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from codes(inner)


def key(code: CodeType) -> tuple[str, int]:
    """Return what tells functions of a cell apart: a property has one for each use."""
    return code.co_qualname, code.co_argcount


def name_of(code: CodeType) -> str:
    """Return what a function is called in its cell."""
    return code.co_qualname.rpartition("<locals>.")[2]
