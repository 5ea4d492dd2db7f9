"""Laws that a right answer obeys for whatever is drawn: do they refuse wrong ones?

    .venv/bin/python tests/properties.py 5 9      two chapters
    .venv/bin/python tests/properties.py          all; takes a minute

A law compares an answer with what NumPy, a slope without an engine, or a rule of
algebra says. A table tells for each exercise how many wrong answers of answers.md its
law refuses. Below it stands each that it lets pass, unless unseen_by_laws.txt has it:
wrong by its words, its cost or by how it is written, not by a value.
"""

import ast
import copy
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

sys.path[:0] = [str(Path(__file__).parents[1])]
import minigrad  # noqa: E402
from classroom.author.chapters import chapters  # noqa: E402
from classroom.cell import namespaces  # noqa: E402
from tests.mutants import Judge, bound_memory, stop  # noqa: E402

SECONDS = 5  # of the processor, for all that is drawn for one answer
UNSEEN = Path(__file__).with_name("unseen_by_laws.txt")
ONCE = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # who is wrong need not be shown smallest
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)
LAWS: dict[str, Callable] = {}

# --- what is drawn ------------------------------------------------------------------

NUMBERS = st.integers(-12, 12).map(lambda n: n / 4)  # 0, negative, often equal
SIGNED = NUMBERS.filter(bool)
POSITIVE = st.integers(1, 12).map(lambda n: n / 4)
FULL = st.sampled_from(
    [(3,), (2, 3), (3, 2), (1, 4), (3, 3), (2, 3, 4), (3, 1, 2), (2, 2, 2), (1, 1)]
)
SHAPES = FULL | st.sampled_from([(), (0,), (2, 0), (0, 3), (3, 0, 2)])
LAYOUTS = st.sampled_from(
    [
        np.array,
        np.asfortranarray,
        lambda a: a[..., ::-1] if a.ndim else a,
        lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
    ]
)
SEEDS = st.integers(0, 2**16)
DICE = SEEDS.map(random.Random)


def arrays(shape: Any = SHAPES, elements: Any = NUMBERS) -> st.SearchStrategy:
    """Draw arrays of float64, some of them with numbers that do not lie in a row."""
    drawn = hnp.arrays(np.float64, shape, elements=elements)
    return st.builds(lambda layout, a: layout(a), LAYOUTS, drawn)


def like(seed: int, *shapes: tuple) -> list[np.ndarray]:
    """Return arrays of these shapes with quarters from -2 to 2, zeros among them."""
    draw = np.random.default_rng(seed).integers
    return [np.asarray(draw(-8, 9, shape) / 4) for shape in shapes]


# Steps of a program: an operation, and how far back that is what it works on
STEPS = st.tuples(st.sampled_from("+-*~"), st.integers(0, 1), st.integers(0, 5))
PROGRAMS = st.lists(STEPS, min_size=2, max_size=7)


def run(program: list, leaves: Any, tanh: Callable = np.tanh) -> list:
    """Return all that a program makes, its leaves first: of any kind of number."""
    known = list(leaves)
    for sign, i, j in program:
        x, y = known[-1 - i % len(known)], known[-1 - j % len(known)]
        known.append(
            {"+": lambda x, y: x + y, "-": lambda x, y: 2 - x * y, "*": lambda x, y: x * y}
            .get(sign, lambda x, y: tanh(x))(x, y)
        )
    return known


# --- what an answer is compared with --------------------------------------------------


def near(found: Any, expected: Any, within: float = 1e-7) -> None:
    """Fail unless numbers, arrays, or nests of them agree, in shape, too."""
    expected = getattr(expected, "array", expected)
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), (found, expected)
        for pair in zip(found, expected):
            near(*pair, within)
        return
    if not isinstance(expected, np.ndarray | float | int) or isinstance(expected, bool):
        assert found == expected, (found, expected)
        return
    found, expected = (np.asarray(getattr(x, "array", x)) for x in (found, expected))
    assert found.shape == expected.shape, (found, expected)
    np.testing.assert_allclose(found, expected, within, within)


def refuses(error: type[Exception], function: Callable, *args: Any) -> str:
    """Return what a call's error of this kind says; fail if none comes."""
    try:
        found = function(*args)
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {error.__name__}, but {found}")


def asked(function: Callable, *args: Any) -> Any:
    """Return function(*args); fail if it has written into one of them."""
    before = copy.deepcopy(args)
    found = function(*args)
    near([getattr(x, "array", x) for x in args if not callable(x)],
         [getattr(x, "array", x) for x in before if not callable(x)])
    return found


def slopes(f: Callable, xs: list, g: Any = 1.0) -> list[np.ndarray]:
    """Return the gradients of sum(g * f(*xs)) by steps along the imaginary axis.

    Nothing is subtracted, so they are as exact as f itself. Source: J. Martins and
    others, "The complex-step derivative approximation", 2003.
    """
    xs = [np.asarray(x, complex) for x in xs]
    found = [np.zeros(x.shape) for x in xs]
    for x, slope in zip(xs, found):
        for place in np.ndindex(x.shape):
            x[place] += 1e-30j
            slope[place] = np.sum(np.imag(f(*xs)) * g) / 1e-30
            x[place] -= 1e-30j
    return found


def nudged(f: Callable, xs: list, h: float = 1e-5) -> list[np.ndarray]:
    """Return the gradients of sum(f(*xs)) by central differences: for max and abs."""
    xs = [np.array(x, float) for x in xs]
    found = [np.zeros(x.shape) for x in xs]
    for x, slope in zip(xs, found):
        for place in np.ndindex(x.shape):
            at, ends = x[place], []
            for x[place] in (at + h, at - h):
                ends.append(np.sum(f(*xs)))
            slope[place], x[place] = (ends[0] - ends[1]) / (2 * h), at
    return found


def leaves(xs: list) -> list:
    return [minigrad.tensor(np.array(x), requires_grad=True) for x in xs]


def differentiates(
    operation: Callable, f: Callable, xs: list, gradients: Callable = slopes, twice=True
) -> None:
    """Fail unless an operation on Tensors does what f does, slopes and theirs, too.

    The slopes of the slopes are looked at in one direction, in which all move at once.
    """
    tensors = leaves(xs)
    y = operation(*tensors)
    near(y, np.asarray(f(*xs)))
    (g,) = like(3, y.shape)
    first = gradients(lambda *xs: f(*xs) * g, xs)
    upstream = minigrad.tensor(g.copy(), requires_grad=twice)
    kept = [t.array.copy() for t in (*tensors, y, upstream)]
    walk = partial(minigrad.autograd.grad, allow_unused=True)
    found = walk(y, tensors, upstream, create_graph=twice)
    found = [0 * x if s is None else s for s, x in zip(found, xs)]
    near(found, first, 1e-5)
    near([t.array for t in (*tensors, y, upstream)], kept)
    if not twice:
        return
    weights, (*aside, up) = like(4, *map(np.shape, xs)), like(5, *map(np.shape, [*xs, g]))
    total = sum(((s * w).sum() for s, w in zip(found, weights)), 0 * upstream.sum())
    again = walk(total, [*tensors, upstream])
    again = [np.zeros(1) if s is None else s.array for s in again]

    def of_slopes(t):
        moved = [x + t * a for x, a in zip(xs, aside)]
        found = gradients(lambda *xs: f(*xs) * (g + t * up), moved)
        return sum(np.sum(s * w) for s, w in zip(found, weights))

    along = sum(np.sum(s * a) for s, a in zip(again, [*aside, up]))
    near(float(along), float((of_slopes(1e-5) - of_slopes(-1e-5)) / 2e-5), 1e-4)


# --- laws, and who obeys --------------------------------------------------------------


def law(exercise: str, **strategies: st.SearchStrategy) -> Callable:
    """Let a function be the law of an exercise: it gets the answer's names, and these."""

    def note(function: Callable) -> Callable:
        LAWS[exercise] = partial(_obey, function, strategies)
        return function

    return note


def _obey(function: Callable, strategies: dict, its: SimpleNamespace) -> None:
    if not strategies:
        return function(its)

    @ONCE
    @given(**strategies)
    def drawn(**values):
        function(its, **values)

    drawn()
    return None


class Verdict(NamedTuple):
    """One answer: of which exercise, which kind and title, and why it was refused."""

    exercise: str
    kind: str
    title: str
    why: str


def broken(obeys: Callable) -> str:
    """Return why the answer that has run does not obey a law, or ""."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        obeys(SimpleNamespace(**namespaces.course))
    except Exception as error:
        return f"{type(error).__name__}: {error}" 
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def judge_chapter(number: int) -> list[Verdict]:
    """Hold all answers of a chapter against the laws of its exercises."""
    bound_memory()
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, stop)
    chapter, found = chapters()[number], []
    judge = Judge(chapter)
    from classroom.cell import state  # which asks for the shell

    for name, exercise in chapter.exercises.items():
        answers = [("right", "the solution", exercise.solved)]
        for kind in ("right", "wrong"):
            answers += [(kind, *item) for item in getattr(exercise, kind).items()]
        for kind, title, source in answers if name in LAWS else ():
            why = "" if judge.run(source)[0] else "the cell raises an error"
            namespaces.follow()
            with redirect_stdout(judge.said):  # the stream that the course puts back
                state.put_back()
                why = why or broken(LAWS[name])
                state.put_back()
            judge.forget()
            found.append(Verdict(name, kind, title, why))
        judge.run(exercise.solved)
        judge.forget()
    return found


def judged(numbers: Iterable[int]) -> Iterator[list[Verdict]]:
    """Judge some chapters, each in a process of its own."""
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        yield from pool.imap(judge_chapter, numbers)


def told(numbers: Iterable[int]) -> list[Verdict]:
    """Judge some chapters in a Python that has not yet run anything else."""
    words = [sys.executable, __file__, "--told", *map(str, numbers)]
    env = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert not run.returncode, run.stderr[-2000:]
    return [Verdict(*each) for each in ast.literal_eval(run.stdout.splitlines()[-1])]


def unseen() -> set[str]:
    return set(UNSEEN.read_text("utf-8").splitlines())


def table(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield a line for each exercise: its wrong answers, and those refused."""
    for name in dict.fromkeys(v.exercise for v in verdicts):
        wrong = [v.why for v in verdicts if (v.exercise, v.kind) == (name, "wrong")]
        yield f"{name:8}  {len(wrong):13}  {sum(map(bool, wrong)):18}"


def main(words: list[str]) -> None:
    if words[:1] == ["--told"]:
        found = judged([int(word) for word in words[1:]])
        print([tuple(v) for verdicts in found for v in verdicts])
        return
    known = unseen()
    print("exercise  wrong answers  refused by its law")
    for verdicts in judged([int(word) for word in words] or range(1, 22)):
        print(*table(verdicts), sep="\n", flush=True)
        for v in verdicts:
            if v.kind == "right" and v.why:
                print(f"    right, and refused: {v.exercise} {v.title}: {v.why[:300]}")
            if v.kind == "wrong" and not v.why and f"{v.exercise} {v.title}" not in known:
                print(f"    passes: {v.exercise} {v.title}")


if __name__ == "__main__":
    from tests import properties, properties_of_arrays, properties_of_layers  # noqa: F401
    from tests import properties_of_numbers  # noqa: F401

    properties.main(sys.argv[1:])
