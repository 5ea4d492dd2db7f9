"""The rows of the first exam: single numbers, in the order of a learner's work."""

import gc
import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np

from classroom.cell.exam.rows import (
    Engine,
    Row,
    Wrong,
    expect_same,
    expect_slopes,
    is_blank,
    nudged,
    same,
    shown,
    slopes,
)
from classroom.cell.exam.training import trains_on

REFUSALS = (RuntimeError, ValueError)


def by_object(title: str) -> Callable:
    """Make a row from a test for engines with objects, which keep gradients.

    An engine that is a function has no state. Its second call must return the same.
    """

    def row(ask: Callable[[Engine], None]) -> Row:
        return Row(title, lambda engine: (again if engine.is_function else ask)(engine))

    return row


def again(engine: Engine) -> None:
    for call in ("first", "second"):
        expect_slopes(engine, diamond, (3.0,), f"of the {call} call, at 3")


def or_refused(given: str, ask: Callable, expected: Any) -> None:
    """Raise Wrong unless `ask` returns the expected value, or refuses to."""
    try:
        came = ask()
    except REFUSALS as error:
        if not is_refusal(error):
            raise
        return
    if not same(came, expected):
        raise Wrong(given, came, f"{shown(expected)}, or an error that says why not")


def is_refusal(error: Exception) -> bool:
    """Return whether an error may be a refusal, and not another RuntimeError."""
    return not isinstance(error, RecursionError) and not is_blank(error)


def diamond(x: Any) -> Any:
    b = x * x
    return b + 2.0 * b


def from_the_other_side(x: Any) -> Any:
    b = x * x
    return 2.0 * b + b


def long_and_short_way(x: Any, y: Any) -> Any:
    a = x * x
    return a + a * x * y * a + x


def exact_slopes(e: Engine) -> None:
    """Raise Wrong unless the slopes are right to the digits that nudging loses."""
    numbers, exact = (2.0, -1.0), [-75.0, 32.0]  # 2 x + 5 x**4 y + 1, and x**5
    expect_slopes(e, long_and_short_way, numbers)
    came = e.slopes(long_and_short_way, numbers)
    if not same(came, exact, 1e-12):
        near = [f"{float(each):.10g}" for each in came]
        by = ", exactly, by a walk back and not by nudging"
        raise Wrong(f"the slopes at {shown(numbers)}", near, exact, by)


def runs_once(square: Callable, *numbers: Any) -> Callable[[Engine], None]:
    """Return the test that all slopes of a program come from one or two runs of it.

    Engines that are functions could run it once for each leaf, as nudging does.
    """

    def one_run(e: Engine) -> None:
        runs = []

        def program(*leaves: Any) -> Any:
            runs.append(leaves)
            return reduce(add, map(square, leaves))

        e.slopes(program, numbers)
        if len(runs) > 2:
            count = sum(map(np.size, numbers))
            raise Wrong(f"runs of the program for {count} slopes", len(runs), 1)

    return one_run


ONE_WALK = [
    slopes("a sum: x + y", lambda x, y: x + y, 2.0, 3.0),
    slopes("a product: x * y", lambda x, y: x * y, 2.0, 3.0),
    slopes("a chain: (x + y) * z", lambda x, y, z: (x + y) * z, 3.0, 3.0, 4.0),
    slopes("used twice: x + x", lambda x: x + x, 3.0),
    slopes("used twice: x * x", lambda x: x * x, 3.0),
    slopes("a constant on the right: x * 5 + 7", lambda x: x * 5 + 7, 2.0),
    slopes("a constant on the left: 7 + 5 * x", lambda x: 7.0 + 5.0 * x, 2.0),
    slopes("a diamond: b = x * x, b + 2 * b", diamond, 3.0),
    slopes("from the other side: 2 * b + b", from_the_other_side, 3.0),
    Row("a long way and a short one: a = x * x, a + a * x * y * a + x", exact_slopes),
    slopes("a leaf that is not used", lambda x, y: x * 2.0, 3.0, 4.0),
    Row("six leaves, in one run", runs_once(lambda x: x * x, *map(float, range(6)))),
]


# --- what stays from walk to walk --------------------------------------------------


@by_object("three roots, x * x, 5 * x and x itself: each walk adds its own")
def three_roots(e: Engine) -> None:
    x = e.leaf(2.0)
    for root in (x * x, 5.0 * x, x):
        e.backward(root)
    expect_same("the gradient of x = 2 after all three", e.gradient(x), 10.0)


def walks(x0: Any, program: Callable, slope: Any) -> list[Row]:
    """Return the rows of walks that add up, and of clearing gradients."""
    gradient = f"the gradient of x = {shown(x0)}"

    @by_object("two walks without clearing add up")
    def two_walks(e: Engine) -> None:
        x = e.leaf(x0)
        for calls, walks in enumerate(("one walk", "two walks"), 1):
            e.backward(program(x))
            expect_same(f"{gradient} after {walks}", e.gradient(x), slope * calls)

    @by_object("cleared, it starts again")
    def cleared(e: Engine) -> None:
        x, y = e.leaf(x0), e.leaf(x0)
        for leaf in (x, y):
            e.backward(program(leaf))
        first = deepcopy(e.gradient(x))
        e.backward(program(x))
        e.clear(x)
        expect_same(f"{gradient} after clearing", e.slope(x), 0.0 * slope)
        given = "the gradient of another leaf, which was not cleared"
        expect_same(given, e.gradient(y), first)
        e.backward(program(x))
        expect_same(f"{gradient} after one more walk", e.gradient(x), first)

    return [two_walks, cleared]


@by_object("back twice from one root: both count, or an error")
def twice_from_one_root(e: Engine) -> None:
    x = e.leaf(3.0)
    root = x * x * 5.0
    e.backward(root)

    def second() -> float:
        e.backward(root)
        return e.gradient(x)

    or_refused("the gradient of x = 3 in x * x * 5 after two walks", second, 60.0)


def reused_at(x0: Any, root_of: Callable = lambda b: b) -> Row:
    """Return the row of a result, b = x * x, that is used again after a walk."""

    @by_object("a result reused after backward: right, or an error")
    def reused(e: Engine) -> None:
        x = e.leaf(x0)
        b = x * x
        e.backward(root_of(b))

        def second() -> Any:
            e.backward(root_of(b * 5.0))
            return e.gradient(x)

        given = f"the gradient of x = {shown(x0)} after two walks, from b = x * x"
        or_refused(f"{given} and then from b * 5", second, 12 * x0)

    return reused


EITHER_SIDE = ("x * w", lambda x, w: x * w), ("w * x", lambda x, w: w * x)


@by_object("a value changed after its use: the old one counts, or an error")
def changed(e: Engine) -> None:
    for order, program in EITHER_SIDE:
        given = f"the gradient of x in {order}, made with w = 3"
        old_or_refused(e, program, (2.0, 3.0), 100.0, given, 3.0)


def old_or_refused(
    e: Engine, program: Callable, numbers: tuple, new: Any, given: str, old: Any
) -> None:
    """Raise Wrong unless a changed leaf counts with its old number, or raises an error.

    Without the change, the walk must succeed. If it fails even then, the error is not a
    refusal.
    """

    def back(changes: bool) -> Any:
        root, leaves = e.forward(program, numbers)
        if changes:
            e.change(leaves[-1], new)
            expect_same("what `read` returns after `change`", e.read(leaves[-1]), new)
            now = e.read(program(*leaves))
            expected = program(*numbers[:-1], new)
            expect_same("a result made after `change`", now, expected)
        e.backward(root)
        return e.gradient(leaves[0])

    expect_same(f"{given} and not changed", back(False), old)
    or_refused(f"{given}, changed to {shown(new)}", lambda: back(True), old)
    root, leaves = e.forward(program, numbers)
    e.backward(root)
    before = deepcopy(e.gradient(leaves[-1]))

    def gradient_after() -> Any:
        e.change(leaves[-1], new)
        return e.gradient(leaves[-1])

    or_refused("a leaf's gradient after `change`", gradient_after, before)


WHAT_STAYS = [three_roots, *walks(3.0, diamond, 18.0), twice_from_one_root]
WHAT_STAYS += [reused_at(3.0), changed]


# --- what is long, or many ---------------------------------------------------------


def chain(x: Any, length: int) -> Any:
    for _ in range(length):
        x = x + 1.0
    return x


def power(x: Any, exponent: int) -> Any:
    y = x
    for _ in range(exponent - 1):
        y = y * x
    return y


def grown(x: Any, count: int) -> Any:
    for _ in range(count):
        x = x + 2.0 * x
    return x


def long_rows(one: Any) -> list[Row]:
    """Return the rows of long programs; each leaf is `one`, a number or an array."""

    def ten_thousand_deep(e: Engine) -> None:
        came = e.slopes(lambda x: chain(x, 10_000), (one,))[0]
        expect_same("the slope of x + 1 + 1 + ...", came, 1.0)

    def thirty_times(e: Engine) -> None:
        came = e.slopes(lambda x: grown(x, 30), (one,))[0]
        expect_same("the slope of y = y + 2 * y, thirty times", came, 3.0**30)

    def forget_after_walks(e: Engine) -> None:
        if e.is_function:
            return memory_kept(lambda: e.slopes(lambda x: power(x, 200), (one,)))
        leaf = e.leaf(one)  # lives on, as a network's weights do
        memory_kept(lambda: e.backward(power(leaf, 200)))

    @by_object("a result that is dropped unused keeps no memory")
    def forget_unused(e: Engine) -> None:
        leaf = e.leaf(one)
        memory_kept(lambda: [leaf + number for number in range(200)])

    return [
        Row("10,000 deep", ten_thousand_deep),
        Row("thirty times y = y + 2 * y, along each edge once", thirty_times),
        Row("after backward, a dropped result keeps no memory", forget_after_walks),
        forget_unused,
    ]


def memory_kept(walk: Callable[[], None]) -> None:
    """Raise Wrong if three walks leave as much memory as one walk holds meanwhile."""
    walk()
    gc.freeze()  # so that collecting looks only at what is new
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            walk()
        gc.collect()
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    if 2 * (after - before) > most - before and after - before > 20_000:
        told = f"{after - before >> 10} kB of {most - before >> 10} kB are still held"
        raise Wrong("three walks, with every result dropped", told, "none of it")


def programs(*shapes: tuple) -> Callable[[Engine], None]:
    """Return the test of 200 random programs with leaves of these shapes."""

    def random_programs(e: Engine) -> None:
        for seed in range(200):
            text, program, numbers, expected = random_program(seed, shapes)
            at = ", ".join(f"{x} = {shown(n)}" for x, n in zip("xyz", numbers))
            given = f"of random program {seed}, at {at}:\n{text}"
            expect_slopes(e, program, numbers, given, expected)

    return random_programs


@cache
def random_program(seed: int, shapes: tuple) -> tuple[str, Callable, tuple, list]:
    """Return a program of sums, products and tanhs, as text and as a function.

    Also return numbers for its leaves, and its slopes there.
    """
    rng = random.Random(seed)
    names, lines = list("xyz"[: len(shapes)]), []
    for name in "abcdef":
        x, y = rng.choice(names), rng.choice(names)
        step = rng.choice([f"{x} + {y}", f"{x} * {y}", f"tanh({x})"])
        lines.append(f"{name} = {step}")
        names.append(name)
    lines.append("g = (f + e * x).sum()" if shapes[0] else "g = f + e * x")
    text = "\n".join(lines)

    def program(*leaves: Any) -> Any:
        known = {"tanh": np.tanh, **dict(zip("xyz", leaves))}
        exec(text, known)
        return known["g"]

    sizes = [int(np.prod(shape)) for shape in shapes]
    drawn = [[rng.uniform(-1.5, 1.5) for _ in range(size)] for size in sizes]
    arrays = [np.reshape(n, shape) for n, shape in zip(drawn, shapes)]
    numbers = tuple(n if n.shape else n.item() for n in arrays)
    return text, program, numbers, nudged(program, numbers)


def tanh_and_change(e: Engine) -> None:
    expect_slopes(e, lambda x: np.tanh(x * 2.0), (0.4,))
    given, old = (
        "the gradient of x in tanh(x), made with x = 0.5",
        1 - np.tanh(0.5) ** 2,
    )
    if not e.is_function:
        with suppress(NotImplementedError):  # 6.2 asks for `change`
            old_or_refused(e, np.tanh, (0.5,), 3.0, given, old)


LONG_AND_MANY = [
    Row("tanh", tanh_and_change),
    *long_rows(1.0),
    Row("200 random programs, as nudging finds", programs((), ())),
    Row("it trains on two moons as the package does", trains_on("two moons")),
]
