"""The judge of chapters 6, 10 and 15 is judged: by engines whose verdicts are known."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import minigrad
from classroom import ROOT
from classroom.author.chapters import chapters, sections
from classroom.cell.drawn import REFUSED
from classroom.cell.exam import rows
from classroom.cell.exam.examine import GROUPS, examine
from classroom.cell.exam.numbers import random_program
from classroom.cell.exam.own_engine import TOLD
from classroom.cell.exam.rows import DONE, OPEN, SECONDS, WRONG, Engine, Row, judge
from classroom.cell.exam.training import package_losses, race
from classroom.cell.expect import NotFilledIn, WrongAnswer
from classroom.run.judge import run_answers
from classroom.run.kernels import Runner
from classroom.run.verdict import result
from minigrad.value import Value
from tests.course import engines

ROUTES = """\
import minigrad
import torch
from minigrad.value import Value
__import__("mini" + "grad")
import importlib; importlib.import_module("minigrad.scalar.value")
import sys; sys.modules["minigrad.scalar.value"]
import classroom.cell.exam.training
race.__globals__["Value"](2.0)
import gc; [x for x in gc.get_objects() if getattr(x, "__name__", 0) == "Value"][0](1)
import runpy; runpy.run_path("../minigrad/scalar/value.py")
import subprocess; subprocess.run(["true"])
"""  # each reaches for an engine that is not the learner's
NUMBERS = [*GROUPS["one walk"], *GROUPS["what stays"], *GROUPS["long and many"]]
ARRAYS = "many at once", "products", "with care", "long and learning", "twice"
ARRAYS = [row for group in ARRAYS for row in GROUPS[group]]
TEXT = Path(__file__).with_name("engine_mutants.md").read_text("utf-8")
MUTANTS = dict(sections(TEXT, "## "))
EXAMS = 6, 10, 15
ROWS = {6: NUMBERS, 15: ARRAYS}
OF_VALUES = Engine(engines.objects(Value))
OF_TENSORS = Engine(engines.tensors(minigrad))


@pytest.fixture(scope="module", autouse=True)
def data():
    """Import the data sets before a row is timed that asks for digits."""
    import sklearn.datasets  # noqa: F401


def words_of(name):
    """Return the words of the rows that a section of engine_mutants.md names."""
    return re.search(r"^Rows: (.*)$", MUTANTS[name], re.MULTILINE)[1].split(", ")


WORDS = {id(rows): words_of(f"{n}: rows") for n, rows in ROWS.items()}
ONE_WALK = GROUPS["one walk"]
WORDS[id(ONE_WALK)] = WORDS[id(NUMBERS)][: len(ONE_WALK)]


def lost(adapters, rows, seconds=SECONDS):
    """Return {word: status} of the rows that an engine has not done."""
    engine = adapters if isinstance(adapters, Engine) else Engine(adapters)
    found = zip(
        WORDS[id(rows)], (judge(row, engine, seconds) for row in rows), strict=True
    )
    return {word: verdict.status for word, verdict in found if verdict.status != DONE}


def wrong(*words):
    return dict.fromkeys(words, WRONG)


@pytest.mark.parametrize("rows", [NUMBERS, ARRAYS], ids=["numbers", "arrays"])
def test_each_row_has_its_word(rows):
    for word, row in zip(WORDS[id(rows)], rows, strict=True):
        assert word in row.title, row.title


KNOWN = [  # written down before they were run
    (engines.function, NUMBERS, {}),
    (
        engines.micrograd,
        NUMBERS,
        wrong("three roots", "twice from", "reused", "changed", "deep"),
    ),
    (engines.pytorch, NUMBERS, {}),
    (engines.pytorch, ARRAYS, {}),
    (lambda: OF_VALUES, NUMBERS, {}),
    (lambda: OF_TENSORS, ARRAYS, {}),
]


@pytest.mark.parametrize(("make", "rows", "expected"), KNOWN)
def test_known_engines_get_their_verdicts(make, rows, expected):
    assert lost(make(), rows) == expected


@pytest.mark.parametrize("number", EXAMS)
def test_the_minutes_of_an_exam_agree(number):
    chapter = chapters()[number]
    text = "\n".join(file.read_text("utf-8") for file in chapter.files)
    named = re.findall(r"^\*(\d+) minutes(?!.*bonus)", text, re.MULTILINE)
    lesson = chapter.front["minutes"] - sum(map(int, named))
    assert 0 <= lesson <= 20


# --- mutants of the reference solutions --------------------------------------------


def solution(number):
    answers = chapters()[number].exercises.values()
    return "\n".join(answer.solved for answer in answers)


def adapters_of(source):
    space = {"np": np}
    exec(source, space)
    return space


def mutant(number, *changes):
    source = solution(number)
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return adapters_of(source)


@pytest.mark.parametrize("name", [n for n in MUTANTS if not n.endswith(" rows")])
def test_a_mutant_loses_what_it_should(name):
    number = int(name.split(":")[0])
    fences = re.findall(r"```python\n(.*?)\n```", MUTANTS[name], re.DOTALL)
    changes = zip(fences[::2], fences[1::2], strict=True)
    found = lost(mutant(number, *changes), ROWS[number], seconds=3)  # some never end
    assert found == wrong(*words_of(name))


def test_nudging_is_no_engine():
    """Not even where its numbers are exact: it runs f once for each leaf."""
    step = 1e-30j

    def by_complex_steps(f, *numbers):
        places = range(len(numbers))
        runs = [[x + step * (n == k) for n, x in enumerate(numbers)] for k in places]
        return [np.imag(f(*run)) / step.imag for run in runs]

    exact = {**engines.OPERATORS, "tanh": np.tanh, "grad_of": by_complex_steps}
    assert lost(exact, NUMBERS, seconds=30) == wrong("six leaves")


# --- the judge itself --------------------------------------------------------------


def test_what_goes_wrong_in_an_adapter_is_told_with_its_place():
    silent = Engine(engines.objects(Value) | {"gradient": lambda x: None})
    told = judge(GROUPS["one walk"][0], silent).told
    assert told.endswith("`gradient` returned None each time: is a `return` missing?")
    without, by_zero = (lambda x, y: None), (lambda x, y: x / 0)
    for multiply, told in (without, "`multiply` returns"), (by_zero, "y: x / 0)"):
        engine = Engine(engines.objects(Value) | {"multiply": multiply})
        assert told in judge(GROUPS["one walk"][1], engine).told


def test_blank_adapters_leave_rows_open():
    assert lost({}, NUMBERS) == dict.fromkeys(WORDS[id(NUMBERS)], OPEN)
    some = {**engines.function()}
    del some["tanh"]
    assert lost(some, NUMBERS) == dict.fromkeys(["tanh", "random", "moons"], OPEN)
    with pytest.raises(NotFilledIn) as caught:
        examine("one walk", {})
    head, first = str(caught.value).splitlines()[:2]
    assert head.startswith("0 of 12 rows are done. (There is no `make` or `grad_of`")
    assert first == "not yet  a sum: x + y (needs `make`)"


@pytest.mark.parametrize("name", ["read", "gradient", "add"])
def test_a_row_that_is_not_yet_names_the_blank(name):
    def blank(*arguments):
        raise NotImplementedError("fill this in")

    row, whole = GROUPS["one walk"][0], OF_VALUES._adapters
    without = {other: whole[other] for other in whole if other != name}
    for adapters in (whole | {name: blank}, without):
        verdict = judge(row, Engine(adapters))
        assert str(verdict) == f"not yet  a sum: x + y (needs `{name}`)"
    explained = {"failed": "raised", "role": "check", "ename": "NotFilledIn"}
    explained |= {
        "exercise": "6.1",
        "evalue": f"6.1: 2 of 12 rows are done.\n{verdict}",
    }
    told = result("6.1", [explained], 20, "").message
    assert told == f"2 of 12 rows are done.\n{verdict}"


CHANGE_OF = {6: "leaf.data = number", 15: "leaf.data, leaf"}


@pytest.mark.parametrize("number", CHANGE_OF)
@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ('raise NotImplementedError("fill this in")', OPEN, ""),
        ("return", WRONG, "what `read` returns after `change`"),
        ('raise NotImplementedError("leaves do not change")', DONE, ""),
    ],
)
def test_only_a_change_that_happens_can_be_refused(number, change, status, told):
    old = CHANGE_OF[number]
    engine = Engine(mutant(number, (old, f"{change}; {old}")))
    row = next(r for r in ROWS[number] if r.title.startswith("a value changed"))
    verdict = judge(row, engine)
    assert verdict.status == status and told in verdict.told


@pytest.mark.parametrize("raised", [TypeError, ValueError, RuntimeError])
@pytest.mark.parametrize(
    ("make", "rows", "word"),
    [
        (lambda: OF_VALUES, NUMBERS, "changed"),
        (lambda: OF_TENSORS, ARRAYS, "changed"),
        (lambda: OF_TENSORS, ARRAYS, "refused without"),
    ],
)
def test_an_engine_that_always_fails_has_not_refused(make, rows, word, raised):
    def backward(root, v=None):
        raise raised("by accident")

    engine = Engine({**make()._adapters, "backward": backward})
    row = next(row for row in rows if word in row.title)
    verdict = judge(row, engine)
    assert verdict.status == WRONG
    assert f"came      {raised.__name__}: by accident" in verdict.told


def test_a_wrong_row_says_input_and_what_came_and_what_was_expected():
    half = engines.function() | {"grad_of": lambda f, *numbers: [1.0] * len(numbers)}
    with pytest.raises(WrongAnswer) as caught:
        examine("one walk", half)
    lines = str(caught.value).splitlines()
    at = lines.index("wrong    a product: x * y")
    told = [line.strip() for line in lines[at + 1 : at + 4]]
    assert told[:2] == ["the slopes at 2, 3", "came      1, 1"]
    assert told[2] == "expected  3, 2, by finite differences"


def test_a_random_program_that_fails_is_written_out():
    row = next(row for row in NUMBERS if "random" in row.title)
    sign = mutant(6, ("1 - y * y", "y * y - 1"))
    told = [line.strip() for line in judge(row, Engine(sign)).told.splitlines()]
    assert re.match(r"the slopes of random program \d+, at x = [-.\d]+, y = ", told[0])
    space = {"tanh": math.tanh}
    exec(told[0].split("at ")[1].rstrip(":").replace(", ", "\n"), space)
    exec("\n".join(told[1:-2]), space)
    seed = int(re.search(r"program (\d+)", told[0])[1])
    _, program, numbers, _ = random_program(seed, ((), ()))
    last = space[told[-3].split(" = ")[0]]
    assert last == pytest.approx(program(*numbers), rel=1e-4)


@pytest.mark.parametrize(
    ("rows", "single"), [(NUMBERS, 1.0), (NUMBERS, np.array(1.0)), (ARRAYS, None)]
)
def test_a_single_slope_is_no_list_of_slopes(rows, single):
    def one(f, *numbers):
        return np.ones_like(numbers[0]) if single is None else single

    verdict = judge(rows[0], Engine({"grad_of": one}))
    assert verdict.status == WRONG and "what grad_of returns" in verdict.told
    assert "expected  a list of all slopes" in verdict.told


def endless():
    while True:
        pass


def waits_for_itself():
    waits_for_itself()


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (endless, "no end within 0.2 seconds"),
        (waits_for_itself, "RecursionError: maximum recursion depth exceeded"),
        (lambda: {}["x"], "KeyError: 'x'"),
    ],
)
def test_whatever_an_engine_does_it_is_a_verdict(work, told):
    verdict = judge(Row("a row", lambda engine: work()), Engine({}), 0.2)
    assert verdict.status == WRONG and told in verdict.told


def test_the_rows_of_a_table_share_their_time(monkeypatch):
    monkeypatch.setattr(rows, "SECONDS", 0.3)
    monkeypatch.setattr(rows, "ALL_SECONDS", 0.5)
    with pytest.raises(WrongAnswer) as caught:
        examine("one walk", {"grad_of": lambda f, *numbers: endless()})
    told = str(caught.value).splitlines()
    assert told[0] == "0 of 12 rows are done." and told[1].startswith("wrong")
    assert told[-1].strip() == "the rows above used up the time"


def test_an_engine_trains_and_is_drawn_beside_the_package(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    race("two moons", engines.function())
    left, right = pyplot.gcf().axes
    yours, package = (line.get_ydata() for line in left.lines)
    np.testing.assert_allclose(yours, package)
    assert yours[-1] < 0.2 and len(right.patches) == 2
    pyplot.close("all")
    assert package_losses("digits")[-1] < 0.5


def test_the_next_exercise_has_an_engine_that_only_drawn_inputs_refuse():
    exercises = next(c.exercises for c in chapters() if c.number == 15)
    answers = {name: [exercises[name].solved] for name in ("15.1", "15.2")}
    rounds = "np.round(2 * numbers) / 2 if np.shape(numbers) == (3,) else numbers"
    answers["15.1"] += [f"right = make\ndef make(numbers):\n    return right({rounds})"]
    path = ROOT / "classroom" / "pristine" / "15_an_engine_to_rely_on.ipynb"
    found = run_answers(path, answers, 20)
    statuses = [each.status for each in found.values()]
    assert statuses == ["wrong", "passed", "blank"]
    assert found["15.1"].message.startswith(REFUSED)


def test_in_an_exam_no_package_is_an_engine_for_an_answer():
    given = "# given\nfrom classroom.checks import check, examine, race"
    late = "make = lambda number: __import__('minigrad').value.Value(number)"
    judged = "with check('6.1'):\n    examine('one walk', globals())"
    first = "import classroom.live"  # may be run again
    cells = [first, given, *ROUTES.splitlines(), first, late, judged, given]
    made = new_notebook(cells=[new_code_cell(source) for source in cells])
    Runner(made, timeout=60, allow_errors=True).execute(cwd=str(ROOT / "exercises"))
    said = ["".join(o.get("evalue", "") for o in c.outputs) for c in made.cells]
    assert said[:2] == ["", ""] and not said[-1]
    assert said[-4] == ""
    for source, text in zip(cells[2:-4], said[2:-4], strict=True):
        told = "'minigrad.scalar.value'" if "sys.modules" in source else TOLD[3:]
        assert told in text, (source, text)
    assert said[-2].count(TOLD[3:]) == len(GROUPS["one walk"])
