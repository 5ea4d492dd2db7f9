"""A check runs among the course's names, on the learner's, and leaves no trace."""

from nbformat.v4 import new_code_cell, new_notebook

from classroom import ROOT
from classroom.author.compose import SETUP
from classroom.run.kernels import Runner

NAMES = ["error", "products", "result", "slopes", "blame", "walked", "width"]
NAMES += ["attention", "loss", "x"]
GIVEN = """\
# given
import math
import random

import numpy as np

import minigrad
from classroom.checks import check, expect


def halved(x):
    return math.fsum(np.asarray(x) / 2)
"""
HELPERS = "\n".join(f"def {name}(n):\n    return n + 1" for name in NAMES)
USES = f"def answer(n):\n    return {' + '.join(f'{name}(n)' for name in NAMES)}"
CHECK = f"""\
with check("1.1"):
    {" = ".join(NAMES)} = list(range(3))
    expect("answer", answer(2), {3 * len(NAMES)})
    expect("halved", halved([len({NAMES!r}), 4]), {len(NAMES) / 2 + 2})
    total = sum([max(1, 2), min(3, 4)])
    expect("Python's own", [total, list(map(int, "12"))], [5, [1, 2]])
"""
SHADOWS = (
    "sum = 3\nmax = min = list = map = int = print = len = 'mine'",
    "np = None\nmath = minigrad = random = 0",
    "def check(*words):\n    return 1 / 0\nexpect = halved = check",
    "def halved(x):\n    return None",
)


def outputs_of(*sources):
    """Run cells in a kernel; return what each has printed or raised."""
    cells = [new_code_cell(source) for source in (SETUP, GIVEN, *sources)]
    notebook = new_notebook(cells=cells)
    Runner(notebook, timeout=20, allow_errors=True).execute(cwd=str(ROOT / "exercises"))
    each = [[o.get("text", o.get("evalue")) for o in c.outputs] for c in notebook.cells]
    return ["".join(map(str, texts)) for texts in each[2:]]


def test_what_a_check_names_does_not_reach_a_learners_helpers():
    said = outputs_of(HELPERS, USES, CHECK, USES, CHECK, "print(width(1), loss(2))")
    assert said == ["", "", "1.1 passed\n", "", "1.1 passed\n", "2 3\n"]


def test_what_a_learner_has_named_is_not_in_the_way_of_a_check():
    cells = [HELPERS, USES]
    cells += [cell for shadow in SHADOWS for cell in (shadow, CHECK)]
    said = outputs_of(*cells, "__builtins__.print(sum)")
    assert said == ["", "", *["", "1.1 passed\n"] * len(SHADOWS), "3\n"]


def test_names_of_a_wrong_check_and_of_an_interrupted_cell_do_not_stay():
    wrong = CHECK.replace("answer(2)", "answer(1)")
    stopped = 'with check("1.1"):\n    width = 0\n    raise KeyboardInterrupt'
    said = outputs_of(HELPERS, USES, wrong, stopped, CHECK, "print(width(1))")
    assert said[2].startswith("1.1: answer\n    your answer: 20\n    expected:    30")
    assert said[4:] == ["1.1 passed\n", "2\n"]


def test_a_given_cell_names_for_the_learner_and_sees_the_learners_names():
    later = "# given\nscale = 10\n\n\ndef scaled(n):\n    return scale * mine(n)"
    mine = "def mine(n):\n    return n - 1\n\n\nscale = 'mine'"
    uses = "print(scale, scaled(3))"
    check = 'with check("1.1"):\n    expect("scaled", scaled(-3), 30)'
    said = outputs_of(mine, later, uses, f"{mine}\nmine = abs", uses, check)
    assert said == ["", "", "10 20\n", "", "mine 30\n", "1.1 passed\n"]


SPOILS = {
    "recording": "minigrad.set_grad_enabled(False)",
    "NumPy's errors": "np.seterr(all='raise')",
    "random numbers": "random.seed(5); np.random.seed(5); minigrad.manual_seed(5)",
    "recursion": "import sys; sys.setrecursionlimit(200)",
    "print options": "np.set_printoptions(precision=1, suppress=True)",
    "stdout": "import io, sys; sys.stdout = io.StringIO()",
    "environment": "import os; os.environ.update(HOME='/nowhere', NEW='1')",
    "folder": "import os, tempfile; os.chdir(tempfile.mkdtemp())",
    "a method": "minigrad.Tensor.__mul__ = minigrad.Tensor.backward = None",
    "a function": "minigrad.graph.walk.walk = minigrad.nn.Linear.forward = None",
    "NumPy": "np.add = np.ndarray = math.fsum = None",
    "Python": "import builtins; builtins.sum = builtins.abs = None",
}
STATE = """\
with check("2.1"):
    import os
    import sys
    drawn = random.random(), np.random.rand(), minigrad.rand(1).item()
    numbers = [minigrad.is_grad_enabled(), np.geterr(), sys.getrecursionlimit()]
    numbers += [os.environ['HOME'], os.environ.get('NEW'), os.getcwd(), drawn]
    numbers += [str(np.array(1 / 3)), sum([math.fsum([1.0]), abs(-1)])]
    x = minigrad.tensor([2.0, -1.0], requires_grad=True)
    numbers += [(x * x).sum().backward(), x.grad.tolist(), np.add(1, 1)]
    numbers += [minigrad.nn.Linear(2, 1)(x).shape]
print(numbers)
"""
SPOILT = 'with check("2.0"):\n    answer()'


def test_what_one_answer_leaves_changed_is_put_back_for_the_next():
    honest = "def answer():\n    pass"
    cells = [honest, STATE]
    for spoil in SPOILS.values():
        cells += [f"{honest}\n{spoil}", STATE, f"def answer():\n    {spoil}", SPOILT]
        cells += [honest, STATE]
    said = outputs_of(*cells)[1::2]
    first, others = said[0], [each for k, each in enumerate(said[1:]) if k % 3 != 1]
    assert first.startswith("2.1 passed\n[True, ") and len(others) == 2 * len(SPOILS)
    for said, spoil in zip(others, [name for name in SPOILS for _ in "12"]):
        assert said == first, spoil
