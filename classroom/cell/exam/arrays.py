"""The rows of the second exam: arrays."""

from contextlib import suppress
from typing import Any

import numpy as np

from classroom.cell.exam.numbers import (
    REFUSALS,
    by_object,
    is_refusal,
    long_rows,
    old_or_refused,
    programs,
    reused_at,
    runs_once,
    walks,
)
from classroom.cell.exam.rows import (
    Engine,
    Row,
    Wrong,
    expect_same,
    expect_slopes,
    shown,
    slopes,
)
from classroom.cell.exam.training import trains_on

A = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
B = np.array([[2.0, 1.0, -1.0], [3.0, -0.5, 1.5]])
ROW, COLUMN = np.array([1.0, 2.0, -3.0]), np.array([[2.0], [-1.0]])
STACK = np.linspace(-1, 1, 12).reshape(2, 2, 3)


def product(x: Any, y: Any) -> Any:
    return (x * y).sum()


def vjps(x: Any, weights: Any) -> Any:
    """Give each number of x an upstream gradient of its own."""
    return (x * x * weights).sum()


def matrices(x: Any, y: Any) -> Any:
    z = x @ y
    return (z * z).sum()


MANY_AT_ONCE = [
    slopes("the sum of all numbers", lambda x: x.sum(), A),
    slopes("a product, number by number", product, A, B),
    slopes("used twice: x * x + x", lambda x: (x * x + x).sum(), A),
    slopes(
        "a new axis: (2, 3) + (3,), and the (3,) once more",
        lambda x, y: vjps(x + y, B) + y.sum(),
        A,
        ROW,
    ),
    slopes("a stretched axis: (2, 3) * (2, 1)", product, A, COLUMN),
    slopes("two of them: (2, 3) * (1, 1)", product, A, COLUMN[:1]),
    slopes("as many numbers, another shape: (3,) * (1, 3)", product, ROW, A[:1]),
    slopes("both at once: (2, 1) * (3,)", lambda x, y: vjps(x * y, B), COLUMN, ROW),
    slopes("a leaf with one number, and an array", product, np.array(2.0), A),
    slopes("a number on the left: (2 * x).sum()", lambda x: (2.0 * x).sum(), A),
    slopes(
        "an array that is no leaf, on the left: (k * x).sum()",
        lambda x: (B * x).sum(),
        A,
    ),
    slopes("a sum over the first axis", lambda x: vjps(x.sum(0), ROW), A),
    slopes("a sum over the last axis", lambda x: vjps(x.sum(-1), COLUMN[:, 0]), A),
    slopes("a sum over a middle axis", lambda x: vjps(x.sum(1), B), STACK),
    Row("two leaves, in one run", runs_once(lambda x: (x * x).sum(), A, B)),
]

PRODUCTS = [
    slopes("matmul, its first argument", lambda x: matrices(x, B.T), A),
    slopes("matmul, its second argument", lambda x: matrices(B, x), A.T),
    slopes("matmul, both: x @ y", matrices, A, B.T),
    slopes("a batch of matrices: (1, 2, 3) @ (2, 3, 2)", matrices, STACK[:1], STACK.mT),
    slopes("a batch and one matrix: (2, 2, 3) @ (3, 2)", matrices, STACK, A.T),
    slopes("one matrix and a batch: (2, 3) @ (2, 3, 2)", matrices, A, STACK.mT),
    slopes("tanh", lambda x: (np.tanh(x) * B).sum(), A / 2),
    Row("200 random programs, as nudging finds", programs((2, 3), (3,), (2, 1))),
]


@by_object("two leaves of a sum do not share one gradient")
def no_sharing(e: Engine) -> None:
    x, y, one = e.leaf(A), e.leaf(B), np.ones((2, 3))
    e.backward((x + y).sum())
    e.backward(x.sum())
    came = e.gradient(x), e.gradient(y)
    expect_same("the gradients of x, y after x + y and then x", came, (2 * one, one))
    x, y = e.leaf(A), e.leaf(B)
    e.backward((3.0 * x + (x + y)).sum())
    came = e.gradient(x), e.gradient(y)
    expect_same("the gradients of x, y after 3 * x + (x + y)", came, (4 * one, one))
    x, y = e.leaf(A), e.leaf(B)
    e.backward(x + y, one.copy())  # an engine may keep it
    if np.shares_memory(e.gradient_itself(x), e.gradient_itself(y)):
        raise Wrong("the gradients of x, y after x + y", "one array", "two arrays")
    e.clear(x)
    expect_same("the gradient of y after x + y, and x cleared", e.gradient(y), one)


@by_object("float32 stays float32")
def small_floats(e: Engine) -> None:
    x, w = e.leaf(A.astype(np.float32)), B.T.astype(np.float32)
    root = np.tanh((2.0 * x * x) @ w).sum()
    e.backward(root)
    e.backward(x * x, B)  # v is float64
    came = [str(np.asarray(each).dtype) for each in (e.read(root), e.gradient(x))]
    expect_same("the dtypes of result and gradient", came, ["float32", "float32"])


def beside_integers(e: Engine) -> None:
    counts = np.array([[1, 2, 3], [4, 5, 6]])
    expect_slopes(e, lambda x: (x * counts).sum(), (A,), "beside integers")


@by_object("a root of many numbers is refused without a v of its shape")
def many_roots(e: Engine) -> None:
    expect_slopes(e, lambda x: (x * (ROW + 1)).sum(), (ROW,), "of one number")
    without_fit = (ROW, None), (ROW, COLUMN), (ROW, np.array(2.0)), (A, ROW), (A, A.T)
    for numbers, v in without_fit:
        x, given = e.leaf(numbers), "without v"
        given = given if v is None else f"with a v of shape {v.shape}"
        try:
            e.backward(x * x, *([] if v is None else [v]))
        except (*REFUSALS, AssertionError, TypeError) as error:
            if not is_refusal(error):
                raise
        else:
            given = f"backward of a root of shape {numbers.shape}, {given}"
            raise Wrong(given, e.gradient(x), "an error that asks for v")


@by_object("with v, its numbers are weighted by v")
def weighed_roots(e: Engine) -> None:
    x, v = e.leaf(ROW), np.array([1.0, 0.0, -2.0])
    e.backward(x * x, v)
    given = "the gradient of x in x * x, v = (1, 0, -2)"
    expect_same(given, e.gradient(x), 2 * ROW * v)
    e.backward(x, v)
    expect_same(f"{given}, and then of x itself", e.gradient(x), 2 * ROW * v + v)
    expect_same("v after that", v, np.array([1.0, 0.0, -2.0]))


def nothing_recorded(e: Engine) -> None:
    def program(x: Any) -> Any:
        return product(e.done_quietly(lambda: x * x), x)

    def nested(x: Any) -> Any:
        def within() -> Any:
            e.done_quietly(lambda: x)  # a quiet part in a quiet part
            return x * x

        return product(e.done_quietly(within), x)

    given = "the slope of q * x, q = x * x made quietly"
    expect_same(given, e.slopes(program, (ROW,))[0], ROW**2)
    given += ", after a nested quiet part"
    expect_same(given, e.slopes(nested, (ROW,))[0], ROW**2)


@by_object("after the quiet part, even one that fails, it records again")
def records_again(e: Engine) -> None:
    for key, after in ((1, "that goes well"), (0, "that fails")):
        x = e.leaf(ROW)
        with suppress(KeyError):
            e.done_quietly(lambda x=x, key=key: {1: x * x}[key])
        e.backward(product(x, x))
        given = f"the gradient of x * x after a quiet part {after}"
        expect_same(given, e.gradient(x), 2 * ROW)


@by_object("a value changed after its use: the old one counts, or an error")
def stale(e: Engine) -> None:
    for order, program in [("x * w", product), ("w * x", lambda x, w: product(w, x))]:
        given = f"the gradient of x in {order}, made with w = {shown(ROW + 1)}"
        old_or_refused(e, program, (ROW, ROW + 1), np.full(3, 100.0), given, ROW + 1)


@by_object("the same for matmul and tanh")
def stale_too(e: Engine) -> None:
    sums = np.broadcast_to(B.sum(0), (2, 3))
    given = f"the gradient of x in x @ y, made with y = {shown(B.T)}"
    old_or_refused(
        e, lambda x, y: (x @ y).sum(), (A, B.T), np.full((3, 2), 100.0), given, sums
    )
    slope = 1 - np.tanh(ROW) ** 2
    given = f"the gradient of x in tanh(x), made with x = {shown(ROW)}"
    old_or_refused(e, lambda x: np.tanh(x).sum(), (ROW,), np.full(3, 2.0), given, slope)


WITH_CARE = [
    *walks(A, lambda x: vjps(x, B), 2 * A * B),
    reused_at(ROW, lambda b: b.sum()),
    no_sharing,
    small_floats,
    Row("integers next to floats", beside_integers),
    many_roots,
    weighed_roots,
    Row(
        "what is made quietly is a constant, even after a nested quiet part",
        nothing_recorded,
    ),
    records_again,
    stale,
    stale_too,
]
LONG_AND_LEARNING = [
    *long_rows(np.array(1.0)),
    Row("it trains on digits as the package does", trains_on("digits")),
]


def second_derivatives(e: Engine) -> None:
    runs, y = [], np.tanh(ROW)

    def cube(x: Any) -> Any:
        runs.append(x)
        return x * x * x

    expect_same("of x * x * x", e.second(e.of_its_own(cube), ROW), 6 * ROW)
    if len(runs) > 2:
        raise Wrong("runs of x * x * x for its second derivatives", len(runs), 1)
    expected = -2 * y * (1 - y * y)
    expect_same("of tanh(x)", e.second(e.of_its_own(np.tanh), ROW), expected)


def second_of_matrices(e: Engine) -> None:
    square = e.of_its_own(lambda x: (x @ np.ones((3, 3))) * x)
    given = "of (x @ w) * x, x of shape (2, 3), w all ones"
    expect_same(given, e.second(square, A), np.full((2, 3), 6.0))
    stretched = e.of_its_own(lambda x: x * x * COLUMN * x)
    given = "of x * x * k * x, x of shape (3,), k of shape (2, 1)"
    expect_same(given, e.second(stretched, ROW), 6 * COLUMN.sum() * ROW)


TWICE = [
    Row("a second derivative, of x * x * x and of tanh", second_derivatives),
    Row("the same for a matrix product, and for a stretched axis", second_of_matrices),
]
