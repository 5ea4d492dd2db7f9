"""Check cells say what is wrong, and how."""

import functools
import io
import linecache
import math
from contextlib import redirect_stdout
from pathlib import Path
from random import Random

import numpy as np
import pytest

from classroom.author.chapters import chapters, first_fence, sections
from classroom.cell import namespaces, pages, parts
from classroom.cell.drawn import REFUSED, compare
from classroom.cell.expect import (
    NotFilledIn,
    WrongAnswer,
    check,
    expect,
    how_many,
    unchanged,
    worked_out,
)
from classroom.cell.odd_characters import advice, put_right
from classroom.cell.python_slips import given_and_changed, slips_of
from classroom.run.verdict import result
from minigrad import tensor
from minigrad.rules.matrix_products import mm
from minigrad.scalar.finite_differences import central_difference
from minigrad.scalar.value import Value
from tests.course.tables import table
from tests.course.test_pages import run_page


def refused(body, *pieces):
    with pytest.raises(WrongAnswer) as caught, check("1.1", *pieces):
        body()
    return str(caught.value)


def test_a_right_answer_passes(capsys):
    with check("1.1"):
        expect("one third", 0.3333333333, 1 / 3)
        expect("a pair", (1, [2.0, None]), (1.0, [2, None]))
    assert capsys.readouterr().out == "1.1 passed\n"


UNEQUAL = [(1.00001, 1.0), (math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf)]
UNEQUAL += [(None, 0.0), (0.0, None), (True, 1), (1, True), ("1", 1), ("error", None)]
UNEQUAL += [([1, 2], [1, 2, 3]), ([1, 2], [2, 1]), ({"a": 1}, {"b": 1}), (5, [5])]
UNEQUAL += [(np.array([1.0, 2.0]), [1, 3]), (np.ones(2), [1]), (np.ones(()), [1])]


@pytest.mark.parametrize(("got", "expected"), UNEQUAL)
def test_what_differs_is_refused(got, expected):
    with pytest.raises(WrongAnswer):
        expect("it", got, expected)


def test_the_message_says_what_came_and_what_was_expected():
    assert "\nThe check got None, because no gradient" in refused(
        lambda: expect("x.grad", None, 4.0)
    )
    assert "None\n    expected:    4\nThe check got None. Is" in refused(
        lambda: expect("f(2)", None, 4.0)
    )
    for got, expected in ((None, 4.0), ("NoneType", "Value")):
        text = refused(lambda: expect("it", got, expected, why="Look up."))  # noqa: B023
        assert "\nLook up.\nThe check got None. Is a `return` missing" in text
    text = refused(lambda: expect("f(2)", 3.0, 4.0, numeric=4.0001, why="Look up."))
    lines = ["your answer: 3", "expected:    4", "finite differences give 4.0001"]
    assert text == "\n    ".join(["1.1: f(2)", *lines]) + "\nLook up."


def test_the_blank_is_told_from_a_wrong_answer():
    def blank():
        raise NotImplementedError("fill this in")

    class Money:
        def __add__(self, other):
            raise NotImplementedError("fill this in")

    half = "1.1: `blank` is not filled in yet.\nWhat was right before it: the first."
    with pytest.raises(NotFilledIn) as caught, check("1.1"):
        expect("the first", 1, 1)
        blank()
    assert str(caught.value) == half
    with pytest.raises(NotFilledIn, match=r"1.1: `Money.__add__` is not"), check("1.1"):
        Money() + Money()


def test_what_was_found_out_is_not_called_an_answer():
    text = refused(lambda: expect("is it a leaf", True, False))
    assert "found:       True\n    expected:    False" in text and "answer" not in text
    text = refused(lambda: expect("edges out of order", ["b"], [], told="found"))
    assert "found:       ['b']\n    expected:    []" in text
    text = refused(lambda: unchanged("x afterwards", [2], [1]))
    assert "x afterwards\n    found:       [2]" in text and "Do not modify" in text


def test_an_exception_of_the_answer_is_named():
    assert "Your code raised ZeroDivisionError" in refused(lambda: 1 / 0)
    assert "graph.tensor import Tensor`" in refused(lambda: eval("Tensor", {}))
    assert "import Array" not in refused(lambda: eval("Array", {}))


def ran(*cells):
    """Run cells as a kernel does, the last one, a check, among names of its own."""
    space = {"check": check}
    for n, source in enumerate(cells):
        names = dict(space) if n == len(cells) - 1 else space
        exec(compile(source, f"/tmp/ipykernel_1/{n}.py", "exec"), names)


@pytest.mark.parametrize(("cell", "told"), table("names_that_nothing_defines"))
def test_a_name_that_nothing_defines_is_told_where_to_get(cell, told):
    with pytest.raises(WrongAnswer) as caught:
        ran(cell, "with check('1.1'):\n    f()")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("piece", "name"), [(Value.__add__, "Value.__add__"), (mm, "mm")]
)
def test_what_is_still_the_packages_own_is_no_answer(piece, name):
    text = refused(lambda: None, piece)
    assert f"{name} is still the package's own" in text


PAGE = """\
# minigrad/scalar/value.py
class Value:
    def __neg__(self):
        return Value(-self.data, "Neg", self, SLOPE)
"""


def test_a_check_says_the_same_twice_and_only_a_right_page_stays():
    own, said, live = Value.__neg__, [], []
    for slope in "1.0", "-1.0", "1.0":
        run_page(PAGE.replace("SLOPE", slope))
        for _ in range(2):
            try:
                with check("1.1", Value.__neg__):
                    expect("the slope", (-Value(2.0)).left_slope, -1.0)
                said.append("passed")
            except WrongAnswer as wrong:
                said.append(wrong.text.splitlines()[0])
        live.append(Value.__neg__)
    run_page(PAGE)
    with pytest.raises(KeyboardInterrupt), check("1.1"):
        raise KeyboardInterrupt
    live.append(Value.__neg__)
    Value.__neg__ = own
    wrong = "1.1: the slope"
    assert said == [wrong, wrong, "passed", "passed", wrong, wrong]
    assert live[0] is own is not live[1] is live[2] is live[3]


def test_results_are_counted_and_an_array_is_one():
    found = [(), [1, 2], (1, 2, 3), np.ones(4), None, np.ones(())]
    assert list(map(how_many, found)) == [0, 2, 3, 1, 0, 1]
    assert [how_many(each, numbers=True) for each in found] == [0, 2, 3, 4, 0, 1]


def test_arrays_and_tensors_are_compared_number_by_number():
    expect("an array", tensor([1.0, math.nan]), np.array([1.0, math.nan]))
    expect("float32", tensor([1 / 3]), np.array([1 / 3]))
    expect("a number", tensor(3.0), 3.0)
    expect("an array for a list", np.array([1.0, 2.0]), [1, 2.0])
    expect("an array for pairs", np.array([[1, 2], [3, 4]]), [(1, 2), (3, 4)])
    expect("a scalar", 3.0, np.float64(3))


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (np.zeros((2, 3)), "the shape\n    your answer: (2, 3)\n    expected:    (2,)"),
        (None, "your answer: None\n    expected:    array [1, 2]"),
        (2.0, "your answer: 2\n    expected:    array [1, 2]"),
        (tensor([1.0, 3.0]), "it, element [1]\n    your answer: 3\n    expected:    2"),
        (np.array([1.0, math.nan]), "element [1]\n    your answer: nan"),
    ],
)
def test_a_wrong_array_is_told_where(got, says):
    assert says in refused(lambda: expect("it", got, np.array([1.0, 2.0])))


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ([[1.0, 3.0], [2.0, 0.0]], "right, but not all are in the right positions"),
        ([[-1.0, -2.0], [-3.0, 0.0]], "All of yours are -1 times what is expected"),
        ([[1 / 3, 2 / 3], [1.0, 0.0]], "are 0.3333 times what is expected"),
    ],
)
@pytest.mark.parametrize("kind", [np.array, tensor])
def test_what_is_wrong_with_all_numbers_alike_is_told(got, says, kind):
    expected = np.array([[1.0, 2.0], [3.0, 0.0]])
    told = refused(lambda: expect("it", kind(got), expected, why="Look again."))
    assert says in told and "Look again." in told


ALMOST_TWICE = [[2.0, 4.0], [6.0, 1.0]]
OTHERS = [[1.0, 2.0], [math.nan, 0.0]], [[1.0, 2.0, 3.0]], [[True, False]] * 2


@pytest.mark.parametrize("got", [ALMOST_TWICE, [[0.0, 0.0]] * 2, *OTHERS])
def test_no_pattern_is_told_where_there_is_none(got):
    expected = np.array([[1.0, 2.0], [3.0, 0.0]])
    told = refused(lambda: expect("it", np.array(got), expected))
    assert "yours are" not in told and "in their places" not in told


@pytest.mark.parametrize("kind", [float, np.array, lambda x: [0.5, x]])
def test_two_numbers_that_differ_are_not_told_alike(kind):
    got, expected = 0.1234567, 0.1234569
    told = refused(lambda: expect("it", kind(got), kind(expected)))
    assert "0.1234567" in told and "0.1234569" in told
    beside = refused(lambda: expect("it", np.full(2, got), np.array([got, expected])))
    assert beside.count("0.1234567") == 4 and beside.count("0.1234569") == 2


def test_a_mistake_that_is_known_is_told_by_its_name():
    known = [([2, 0], "Doubled."), ([1, 1], "Counted from 1.")]
    for got, says in ([1, 1], "Counted from 1."), ([2, 0], "Doubled."), ([3], "Why?"):
        answer = functools.partial(expect, "it", got, [1, 0])
        told = refused(functools.partial(answer, why="Why?", mistakes=known))
        assert told.splitlines()[-1] == says


def test_finite_differences_are_told_of_the_element_that_is_wrong():
    got, expected = np.ones((1, 2)), np.array([[1.0, 2.0]])
    told = refused(lambda: expect("it", got, expected, numeric=[[7.0, 8.0]]))
    assert "finite differences give 8" in told


def cell(source, name, space):
    path = f"/tmp/ipykernel_1/{name}.py"
    linecache.cache[path] = len(source), None, source.splitlines(True), path
    exec(compile(source, path, "exec"), space)


@pytest.mark.parametrize(("answer", "told"), table("lines_of_answers"))
def test_the_line_that_is_told_is_the_answers_own(answer, told, monkeypatch):
    monkeypatch.setattr(pages, "is_live", lambda piece: True)
    given = "# given\ndef given(x):\n    raise ValueError(f'this needs more than {x}')"
    cell(given, "given", namespaces.course)
    given = namespaces.course.pop("given")
    space = {"check": check, "expect": expect, "given": given}
    cell("\ndef helper(x):\n    raise ValueError('helper refuses')", "earlier", space)
    cell(f"def answer(x):{answer}", "answer", space)
    with pytest.raises(WrongAnswer) as caught:
        judged = "    expect('one', 1, 1)\n    answer(1) + 1"
        cell(f"with check('1.1', answer):\n{judged}", "check", {**space})
    assert told in str(caught.value)


@pytest.mark.parametrize(("answer", "told"), table("slips"))
def test_a_slip_in_python_is_told_unless_our_solution_has_it(answer, told):
    ours = "def f(xs):\n    for x in xs:\n        print(x)\n    return x"
    assert slips_of(answer, ours) == [told] * bool(told)
    assert slips_of(answer, answer) == []


@pytest.mark.parametrize(("method", "told"), table("given_methods"))
def test_a_method_that_was_given_is_told_if_it_is_another_one(method, told):
    stub = """class A:
    def given(self, a):
        '''Say this.'''
        return a

    def blank(self):
        raise NotImplementedError("fill this in")
"""
    answer = f"class A:\n    {method}\n\n    def blank(self):\n        return 1"
    assert ["`A.given` was given" in s for s in given_and_changed(answer, stub)] == told


def test_a_check_that_runs_again_ends_although_a_part_does_not(monkeypatch):
    monkeypatch.setattr(parts, "SECONDS", 0.2)
    endless = compile("while True:\n    pass", "a check", "exec")
    assert isinstance(parts.run(endless, {}), TimeoutError)


def test_a_result_that_is_not_run_yet_is_told():
    async def later(x):
        return x

    waiting = later(1)
    for got, says in [(waiting, "write `def`"), ((x for x in "a"), "`return` instead")]:
        assert says in refused(lambda got=got: expect("it", got, 1))
    waiting.close()


@pytest.mark.parametrize("source, says, right", table("characters_like_pythons"))
def test_a_character_that_looks_like_pythons_is_told_and_put_right(source, says, right):
    assert put_right(source) == put_right(right) == right
    with pytest.raises(SyntaxError) as caught:
        compile(source, "cell", "exec")
    assert says in advice(str(caught.value)) and (says or not advice("never closed"))
    event = {"failed": "raised", "role": "answer", "exercise": "1.1", "traceback": ""}
    event |= {"ename": "SyntaxError", "evalue": str(caught.value)}
    assert says in result("1.1", [event], 20, "").message


def nudged_by_a_helper(a):
    return helper_that_nudges(a)


def helper_that_nudges(a):
    return [central_difference(lambda t: t * t, a) for _ in range(1)]


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        (lambda a: central_difference(lambda t: t * t, a), "central_difference"),
        (lambda a: Value(a).grad, "Value"),
        (lambda a: [tensor(x) for x in (a, a)], "tensor"),
        (nudged_by_a_helper, "central_difference"),
        (functools.partial(nudged_by_a_helper, 2.0), "central_difference"),
        (functools.cache(nudged_by_a_helper), "central_difference"),
    ],
)
def test_an_answer_has_to_be_worked_out(answer, used):
    with pytest.raises(WrongAnswer, match=f"Yours uses {used}"):
        worked_out(answer)


def test_what_an_answer_may_not_use_is_found_under_another_name_too():
    space = {"renamed": central_difference}
    answer = eval("lambda a: renamed(abs, a)", space)
    with pytest.raises(WrongAnswer, match="Write this yourself.*central_difference"):
        worked_out(answer, {"central_difference"})
    worked_out(answer, {"array_gradients"})


def test_what_is_worked_out_may_use_helpers_and_numpy():
    def factorial(n):
        return n * factorial(n - 1) if n else np.prod([1.0])

    worked_out(factorial)
    worked_out(lambda a: math.sin(a) + refused.__code__.co_argcount)
    worked_out(functools.cache(factorial))
    worked_out(math.sin)
    worked_out(lambda a: math.tanh(a))  # which is not the tanh below


def tanh(a):
    return Value(a).tanh()


def test_who_asks_for_input_is_told_that_nobody_types():
    def body():
        raise type("StdinNotImplementedError", (RuntimeError,), {})

    assert "calls input(), but nobody is there to type" in refused(body)


TEXT = Path(__file__).with_name("not_worked_out.md").read_text("utf-8")
SOURCES = {heading: first_fence(body) for heading, body in sections(TEXT, "## ")}
MACHINES = SOURCES.pop("machines") + "\n"
SHADOWS = SOURCES.pop("5.2, in the hidden check's place")
ANSWERS = [
    (name, source.replace("MACHINE", machine))
    for name, source in SOURCES.items()
    for machine in (("blamed", "recorded", "nudged") if "MACHINE" in source else "-")
]


def printed(name, answer, seed):
    """Return what the hidden check of an exercise prints for an answer."""
    exercise = chapters()[int(name.split(".")[0])].exercises[name]
    names = {"math": math, "rng": Random(seed)}
    exec(exercise.solved, names)
    exec(answer or "", names)
    with redirect_stdout(io.StringIO()) as said:
        exec(exercise.drawn, names)
    return said.getvalue()


@pytest.mark.parametrize(("name", "answer"), ANSWERS)
def test_numbers_tell_whether_an_answer_was_worked_out(name, answer):
    """Also where no name tells: of an object, of a name put together, of no check."""
    for seed in range(3):
        right = printed(name, None, seed)
        assert printed(name, MACHINES + answer, seed) != right
        assert printed(name, None, seed) == right  # the package is right again


def test_an_answer_cannot_say_in_the_hidden_checks_place_that_it_is_right():
    assert printed("5.1", SHADOWS, 1).split() != printed("5.1", None, 1).split()
    assert printed("5.1", None, 1) != printed("5.1", None, 2)


DRAWN = """\
for n in (1, 2):
    a = rng.randint(n, n)
    if double(a) is not None:
        print(f"double({a}) ->", f"{double(a):.3f}")
"""


@pytest.mark.parametrize(
    ("double", "told"),
    [
        (lambda a: 2 * a, ""),
        (lambda a: 2 * a + 0.001, ""),  # another order of a sum
        (
            lambda a: a * a + 1,
            "double(2)\n    your answer: 5.000\n    expected:    4.000",
        ),
        (lambda a: 2 if a == 1 else None, "double(2)\n    your answer: nothing"),
        (
            lambda a: 2 / (2 - a),
            "double(2)\n    expected:    4.000",
        ),
    ],
)
def test_drawn_inputs_tell_the_first_line_that_is_wrong(double, told):
    said = ""
    try:
        compare("4.1", DRAWN, "double(1) -> 2.000\ndouble(2) -> 4.000", locals())
    except WrongAnswer as error:
        said = str(error)
    except ZeroDivisionError as error:
        [said] = error.__notes__
    assert said.startswith(f"{REFUSED}\n    {told}") if told else not said
