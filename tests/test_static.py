"""Static graphs: built without numbers, run, traced from eager code, saved."""

import json
import subprocess
import sys

import numpy as np
import pytest

import minigrad
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.autograd.gradients import grad
from minigrad.optim import SGD, Adam
from minigrad.static.execution import Program
from minigrad.static.session import Session, as_step, assign, placeholder, variable
from minigrad.static.steps import Step
from minigrad.static.symbolic_arrays import Symbol
from minigrad.static.tracing import trace


def tensor(values, dtype=minigrad.float64):
    return minigrad.tensor(np.array(values), dtype=dtype)


def program_of(*tensors):
    return Program([as_step(tensor) for tensor in tensors])


def same(a, b):
    return np.array_equal(np.asarray(getattr(a, "array", a)), getattr(b, "array", b))


# Building


def test_what_is_built_has_shapes_but_no_numbers():
    x, w = placeholder((4, 3)), variable(np.ones((3, 2), np.float32))
    y = (x @ w).tanh().sum(1)
    assert (y.shape, y.dtype, y.requires_grad) == ((4,), minigrad.float32, True)
    assert not x.requires_grad and w.is_leaf
    for ask in (y.tolist, lambda: bool(y.sum() > 0), lambda: float(y.sum())):
        with pytest.raises(TypeError, match="not known before the graph runs"):
            ask()
    with pytest.raises(TypeError, match="as an array is not noted"):
        np.asarray(y.array)


def test_shapes_and_dtypes_are_wrong_where_they_are_built():
    x = placeholder((4, 3))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        x @ placeholder((4, 3))
    with pytest.raises((RuntimeError, ValueError), match=r"\(4, ?3\).*\(4, ?2\)"):
        x + placeholder((4, 2))
    with pytest.raises(RuntimeError, match="result type"):
        variable(np.arange(3)).add_(placeholder((3,)))


def test_gradients_are_part_of_the_graph():
    x, w = placeholder((5,), minigrad.float64), variable(np.array(0.5))
    (slope,) = grad(((w * x).sin() ** 2).sum(), [w])
    numbers = np.linspace(-1, 1, 5)
    leaf = minigrad.tensor(np.array(0.5), requires_grad=True)
    ((leaf * tensor(numbers)).sin() ** 2).sum().backward()
    assert np.isclose(Session().run(slope, {x: numbers}), leaf.grad.item())
    ((w * x).sin() ** 2).sum().backward()
    assert np.isclose(Session().run(w.grad, {x: numbers}), leaf.grad.item())
    (slope,) = grad(w.tanh(), [w], create_graph=True)
    (curvature,) = grad(slope, [w])
    y = np.tanh(0.5)
    assert np.isclose(Session().run(curvature), -2 * y * (1 - y * y))


def test_a_step_says_what_it_is_and_where_it_comes_from():
    x = placeholder((2,), name="points")
    line = sys._getframe().f_lineno + 1
    y = x.exp()
    assert repr(as_step(x)).startswith("<points (2,) from test_static.py, line ")
    assert repr(as_step(y)) == f"<exp (2,) from test_static.py, line {line}>"
    assert repr(Step("constant", value=2)) == "<constant>"
    assert repr(y.array) == f"Symbol({as_step(y)})"


def test_writes_are_noted():
    x = placeholder((3,), minigrad.float64)
    y = x * 1
    y += x
    y[0] = 5.0
    y.mul_(2)
    assert Session().run(y, {x: [1.0, 2.0, 3.0]}).tolist() == [10.0, 8.0, 12.0]
    row = (x * 1).reshape(1, 3)
    row[0, 1] = 0.0
    assert Session().run(row, {x: [1.0, 2.0, 3.0]}).tolist() == [[1.0, 0.0, 3.0]]


def test_a_write_that_cannot_be_noted_is_refused():
    x = placeholder((3,), minigrad.float64)
    whole = x * 1
    with pytest.raises(RuntimeError, match="view"):
        whole.reshape(1, 3).array[...] += 1
    for write in (lambda a: a.add_(x), lambda a: a.array.__iadd__(x.array)):
        with pytest.raises(TypeError, match="not known yet|as an array is not noted"):
            write(tensor([1.0, 2.0, 3.0]))


def test_what_would_make_a_shape_depend_on_numbers_is_refused():
    x = placeholder((3,))
    with pytest.raises(TypeError, match="use where"):
        x[x > 0]
    with pytest.raises(TypeError, match="cannot note a call of"):
        np.unique(x.array)
    with pytest.raises(TypeError, match="cannot note a call of"):
        np.sum(np.ones(3), where=x.array > 0)


def test_an_if_needs_where():
    x = placeholder((), minigrad.float64)
    y = minigrad.where(x > 0, 2 * x, x * x)
    assert [Session().run(y, {x: n}).item() for n in (3.0, -3.0)] == [6.0, 9.0]
    with pytest.raises(TypeError, match="where()"):
        2 * x if x > 0 else x * x


# Running


def test_a_session_keeps_variables_and_their_start_is_kept_too():
    start = np.zeros(2)
    w, x = variable(start), placeholder((2,), minigrad.float64)
    more = assign(w, w + x)
    start += 7
    first, second = Session(), Session()
    assert first.run(more, {x: [1, 2]}).tolist() == [1, 2]
    assert first.run(more, {x: [1, 2]}).tolist() == [2, 4]
    assert first.run(w).tolist() == [2, 4]
    assert second.run(w).tolist() == [0, 0]


def test_what_is_read_in_a_run_is_what_was_there_before():
    a, b = variable(np.array(1.0)), variable(np.array(2.0))
    session = Session()
    swap = [assign(a, b), assign(b, a)]
    assert [x.item() for x in session.run([*swap, a])] == [2.0, 1.0, 1.0]
    assert [x.item() for x in session.run([a, b])] == [2.0, 1.0]


def test_results_are_the_callers_own():
    w = variable(np.zeros(2))
    session = Session()
    session.run(w)[0] = 9
    more = assign(w, w + 1)
    session.run(more)[0] = 9
    assert session.run(w).tolist() == [1, 1]
    assert Program([as_step(w)])() is not Program([as_step(w)]).steps[0].value


def test_a_placeholder_can_be_fed_tensors_lists_and_narrower_numbers():
    x, session = placeholder((2,)), Session()
    y = x * 2
    for fed in ([1, 2], np.array([1.0, 2.0]), tensor([1.0, 2.0])):
        result = session.run(y, {x: fed})
        assert result.dtype == np.float32 and result.tolist() == [2.0, 4.0]


def test_what_does_not_fit_is_refused():
    x, i = placeholder((2,), name="x"), placeholder((2,), minigrad.int64, name="i")
    w, session = variable(np.zeros(2)), Session()
    with pytest.raises(KeyError, match="<x "):
        session.run(x * 2)
    with pytest.raises(ValueError, match=r"float32 of shape \(2,\); got .*\(3,\)"):
        session.run(x * 2, {x: [1, 2, 3]})
    with pytest.raises(ValueError, match="for int64 .*got float64"):
        session.run(i * 2, {i: [0.5, 1.5]})
    with pytest.raises(ValueError, match="only placeholders can be fed"):
        session.run(w, {w: [1, 2]})
    with pytest.raises(TypeError, match="expected a tensor of a static graph"):
        session.run(tensor([1.0]))
    with pytest.raises(TypeError, match="expected a tensor of a static graph"):
        session.run([x * 2, 3.0])


def test_assign_takes_variables_of_the_same_shape_and_dtype():
    x, w = placeholder((2,)), variable(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="cannot assign .* to <x"):
        assign(x, x)
    with pytest.raises(TypeError, match=r"cannot assign float32 of shape \(2,\)"):
        assign(w, x)
    with pytest.raises(TypeError, match="cannot assign float64"):
        assign(w, w.double())


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


# What is known before a run


def test_what_no_fetch_needs_is_not_run():
    x, y = placeholder((2,)), placeholder((2,))
    unused = (x * y).exp().sum()
    z = x.tanh() * 2
    calls = [step.call for step in program_of(z).steps]
    assert calls == ["placeholder", "tanh", "constant", "multiply"]
    assert Session().run(z, {x: [0, 0]}).tolist() == [0, 0]
    assert len(program_of(z)) == 2 and len(program_of(z, unused)) == 5


def test_arguments_come_before_results_in_long_chains_and_diamonds():
    x = y = placeholder(())
    for _ in range(3000):
        y = y * 1
    diamond = y + y
    steps = program_of(diamond).steps
    place = {step: i for i, step in enumerate(steps)}
    assert len(place) == len(steps)
    assert all(place[a] < place[step] for step in steps for a in step.arguments)
    assert Session().run(diamond, {x: 1.5}) == 3.0


def test_constants_are_folded():
    x, w = placeholder((3,), minigrad.float64), variable(np.array([1.0, 2.0, 3.0]))
    (slope,) = grad(((w * x - 1) ** 2).mean(), [w])
    program = program_of(slope)
    folded = program.folded()
    assert len(folded) == len(program) - 2
    assert folded.inputs == program.inputs and folded.variables == program.variables
    numbers = np.array([1.0, -1.0, 0.5])
    assert same(folded(numbers), program(numbers))
    assert len(program_of(tensor([1.0]) * variable(2.0)).folded()) > 0


def test_a_frozen_program_has_no_variables_and_does_not_change_any_more():
    x, w = placeholder((3,), minigrad.float64), variable(np.array([1.0, 2.0, 3.0]))
    program, numbers = program_of(x * (w.exp() * 2)), np.array([1.0, 1.0, 2.0])
    frozen = program.frozen()
    assert same(frozen(numbers), numbers * (np.exp([1.0, 2.0, 3.0]) * 2))
    assert same(program.frozen({as_step(w): np.zeros(3)})(numbers), numbers * 2)
    assert len(program) == 3 and len(frozen) == 1 and not frozen.variables
    net = nn.Linear(3, 2)
    frozen = trace(net, minigrad.ones(1, 3), variables=net.parameters()).frozen()
    kept = frozen(np.ones((1, 3)))
    with minigrad.no_grad():
        net.weight.mul_(0)
    assert same(frozen(np.ones((1, 3))), kept)


def test_inputs_keep_their_order_even_those_that_are_not_needed():
    x, y, z = (placeholder((), minigrad.float64, name) for name in "xyz")
    program = Program([as_step(z - x)], [as_step(each) for each in (x, y, z)])
    assert [step.name for step in program.inputs] == ["x", "y", "z"]
    for each in (program, program.folded(), program.frozen()):
        assert each(1.0, 2.0, 5.0) == 4.0
    with pytest.raises(ValueError, match="shorter"):
        program(1.0, 2.0)


def test_a_run_lets_go_of_what_nobody_needs_any_more():
    y = placeholder((100,), minigrad.float64)
    for _ in range(10):
        y = y + 1
    program = program_of(y)
    alive = []

    def counted(a, b):
        alive.append(sum(type(v) is np.ndarray and v.shape == (100,) for v in slots))
        return a + b

    slots = []
    program.plan = [(i, counted, *rest) for i, _, *rest in program.plan]
    program.values = Remembered(program.values, slots)
    program(np.zeros(100))
    assert len(alive) == 10 and max(alive) <= 2


class Remembered(list):
    """A list that copies itself into another one, which can be looked at."""

    def __init__(self, values, into):
        super().__init__(values)
        self.into = into

    def copy(self):
        self.into[:] = self
        return self.into


# Tracing


def test_a_trace_computes_what_the_function_computes_on_other_numbers():
    def function(x, y):
        z = (x * y).softmax(0)
        return z.sum(), z[1:] / x[:2], y

    a, b = tensor([1.0, 2.0, 3.0]), tensor([0.5, -1.0, 2.0])
    replay = trace(function, tensor([1.0, 1.0, 1.0]), tensor([9.0, 8.0, 7.0]))
    for mine, theirs in zip(replay(a, b), function(a, b), strict=True):
        assert same(mine, theirs)
    assert replay.asked == []
    with pytest.raises(ValueError, match="shorter"):
        replay(a)
    with pytest.raises(ValueError, match=r"input 1 .*\(3,\); got .*\(2,\)"):
        replay(a, b[:2])


def step_of(model, loss, optimizer):
    def step(x, y):
        value = loss(model(x), y)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value

    return step


TRAINED = {
    "dense": (lambda: (nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 4)), (16, 8)),
    "statistics": (lambda: (nn.Linear(3, 2), nn.BatchNorm1d(2)), (8, 3)),
    "images": (
        lambda: (nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        (4, 1, 6, 6),
    ),
    "one layer": (lambda: (nn.Linear(8, 3),), (16, 8)),
}


@pytest.mark.parametrize("name", TRAINED)
def test_a_traced_training_step_is_an_eager_one_bit_by_bit(name):
    parts, shape = TRAINED[name]
    loss = F.cross_entropy if name != "one layer" else lambda a, y: (a**2).mean()
    minigrad.manual_seed(1)
    x, y = minigrad.randn(shape), minigrad.randint(0, 2, shape[:1])
    models = []
    for _ in range(2):
        minigrad.manual_seed(0)
        models.append(nn.Sequential(*parts()))
    steps = [step_of(model, loss, SGD(model.parameters(), lr=0.1)) for model in models]
    tensors, others = (
        [*model.parameters(), *dict(model.named_buffers()).values()] for model in models
    )
    before = [np.array(each.array) for each in tensors]
    replay = trace(steps[0], x, y, variables=tensors)
    assert all(same(each, array) for each, array in zip(tensors, before))
    assert all(each.grad is None for each in tensors)
    for _ in range(3):
        assert same(replay(x, y), steps[1](x, y))
    assert all(map(same, tensors, others))
    assert not all(map(same, tensors, before))


def test_a_replay_sees_new_arrays_of_its_variables_and_counts_its_writes():
    w = minigrad.tensor(np.array([1.0, 2.0]), requires_grad=True)

    def step(x):
        with minigrad.no_grad():
            w.mul_(x)
        return w * 1

    replay = trace(step, tensor(2.0), variables=[w, w])
    assert w.tolist() == [1.0, 2.0]
    w.data = tensor([5.0, 6.0])
    before = w._version
    assert replay(tensor(3.0)).tolist() == [15.0, 18.0] == w.tolist()
    assert w._version > before


def test_what_is_no_variable_stays_as_it_was():
    w = tensor([1.0, 2.0])
    x = tensor([1.0, 1.0])
    replay, fresh = trace(lambda x: w * x, x), trace(lambda x: w * x, x, variables=[w])
    w.mul_(5)
    assert replay(x).tolist() == [1.0, 2.0]
    assert fresh(x).tolist() == [5.0, 10.0]


def test_random_numbers_and_prints_happen_once():
    calls = []
    replay = trace(lambda x: calls.append(1) or x + minigrad.randn(2), minigrad.ones(2))
    assert same(replay(minigrad.ones(2)), replay(minigrad.ones(2)))
    assert calls == [1] and replay.asked == []


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


def test_what_a_trace_cannot_keep_up_is_refused_or_told():
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError, match="as an array is not noted"):
        trace(lambda x: w.data.mul_(x), minigrad.tensor(2.0))
    sgd = SGD([w], lr=0.1, momentum=0.9)
    step = step_of(lambda x: w * x, lambda a, b: (a - b).sum(), sgd)
    with pytest.raises(TypeError, match="as an array is not noted"):
        trace(step, minigrad.tensor(2.0), minigrad.tensor(1.0), variables=[w])
    assert type(w.array) is np.ndarray and w.tolist() == [1.0, 2.0]
    adam = Adam([w], lr=0.1)
    step = step_of(lambda x: w * x, lambda a, b: (a - b).sum(), adam)
    trace(step, minigrad.tensor(2.0), minigrad.tensor(1.0), variables=[w])
    assert isinstance(adam.state[w]["exp_avg"], Symbol)


# Pictures


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


def test_what_a_file_cannot_say_is_refused(tmp_path):
    program = trace(lambda x: x[1:], tensor([1.0, 2.0])).program
    with pytest.raises(TypeError, match="slice"):
        program.save(tmp_path / "part.json")


def test_a_traced_loss_takes_no_classes_that_there_are_not():
    scores = tensor([[1, 2, 3], [3, 1, 7]])
    traced = trace(F.cross_entropy, scores, minigrad.tensor([0, 1]))
    others = minigrad.tensor([2, 0])
    assert same(traced(scores, others), F.cross_entropy(scores, others))
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        traced(scores, minigrad.tensor([3, 1]))
