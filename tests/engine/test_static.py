"""Static graphs: lines, memory, training, files; static.md has what else they do."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.static.session import Session, as_step, placeholder
from minigrad.static.steps import Step
from minigrad.static.tracing import trace
from tests.engine.test_sessions import program_of, tensor


def test_a_step_says_what_it_is_and_where_it_comes_from():
    x = placeholder((2,), name="points")
    line = sys._getframe().f_lineno + 1
    y = x.exp()
    assert repr(as_step(x)).startswith("<points (2,) from test_static.py, line ")
    assert repr(as_step(y)) == f"<exp (2,) from test_static.py, line {line}>"
    assert repr(Step("constant", value=2)) == "<constant>"
    assert repr(y.array) == f"Symbol({as_step(y)})"


def test_a_run_that_fails_names_the_step_and_its_line():
    scores, labels = placeholder((2, 3)), placeholder((2,), minigrad.int64)
    picked = scores[minigrad.arange(2), labels]
    with pytest.raises(RuntimeError, match=r"from test_static.py, line \d+> failed"):
        Session().run(picked, {scores: np.ones((2, 3)), labels: [0, 7]})


def test_the_first_nan_is_found_in_both_kinds_of_graph():
    def share(x):
        root = (x - 1).sqrt()
        return root / root.sum()

    x = placeholder((2,), minigrad.float64)
    static = program_of(share(x))
    for program in static, trace(share, tensor([2.0, 3.0])).program:
        for numbers, call in ([0.5, 2.0], "sqrt"), ([1.0, 1.0], "divide"):
            step = program.first_nan({program.inputs[0]: np.array(numbers)})
            assert step.call == call and "test_static.py" in step.line
    assert static.first_nan({as_step(x): np.array([2.0, 3.0])}) is None


def test_a_run_lets_go_of_what_nobody_needs_any_more():
    y, numbers = placeholder((100_000,), minigrad.float64), np.zeros(100_000)
    for _ in range(10):
        y = y + 1
    program = program_of(y)
    tracemalloc.start()
    program(numbers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert numbers.nbytes < peak < 3 * numbers.nbytes


# Tracing


def test_what_python_asks_for_is_baked_in_and_listed():
    def branch(x):
        return 2 * x if x.sum() > 0 else -x

    def loop(x):
        while x.item() < 10:
            x = 2 * x
        return x

    line = branch.__code__.co_firstlineno + 1
    replay = trace(branch, tensor([1.0]))
    assert replay(tensor([-3.0])).item() == -6.0
    assert replay.asked == [f"test_static.py, line {line}: greater"]
    rounds = trace(loop, tensor(3.0))
    assert rounds(tensor(1.0)).item() == 4.0
    assert len(rounds.asked) == 3 and "input 0" in rounds.asked[0]


# Files


READER = """
import json, operator, sys
import numpy as np

values, file = [], json.load(open(sys.argv[1]))
for step in file["steps"]:
    if step["call"] == "placeholder":
        values.append(np.ones(step["shape"], step["dtype"]))
    elif step["call"] == "constant":
        value, dtype = step["value"], step["dtype"]
        values.append(np.array(value, dtype) if dtype else value)
    else:
        call = operator.attrgetter(step["call"])(np)
        values.append(call(*[values[i] for i in step["arguments"]], **step["options"]))
print([values[i].tolist() for i in file["fetches"]])
"""


def test_a_saved_program_runs_without_the_models_code(tmp_path):
    minigrad.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    x, path = minigrad.ones(5, 4), tmp_path / "net.json"
    program = trace(lambda x: net(x).sum(1), x, variables=net.parameters()).frozen()
    program.save(path)
    assert len(path.read_text().splitlines()) == len(program.steps) + 3
    command = [sys.executable, "-c", READER, path]
    told = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(told.stdout) == [program(x).tolist()], told.stderr
