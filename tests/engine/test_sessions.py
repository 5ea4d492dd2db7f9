"""Sessions kept as documents, about pictures, graphs and training."""

import doctest
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import minigrad
import minigrad.nn.functional as F
from minigrad import nn, plot, static
from minigrad.autograd import Function, grad
from minigrad.drawing import graphviz_svg
from minigrad.drawing.draw import draw, draw_backward, draw_nodes
from minigrad.drawing.plot_text import MEASURED, bundle, describe
from minigrad.optim import SGD, Adam
from minigrad.scalar.value import Value
from minigrad.static.execution import Program
from minigrad.static.session import Session, as_step, assign, placeholder, variable
from minigrad.static.symbolic_arrays import Symbol
from minigrad.static.tracing import trace
from minigrad.training.data import DataLoader, TensorDataset
from minigrad.training.fit import History, evaluate, fit
from tests.engine.test_trainer import everything, loss, modes, moons, squares


def sections(document):
    """Return pairs of a heading and the text below it."""
    parts = re.split(r"^## (.+)$", document, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2], strict=True)


HERE = Path(__file__).parent
SESSIONS = {
    (name, title): text
    for name in ("drawings", "plots", "static", "training")
    for title, text in sections((HERE / f"{name}.md").read_text("utf-8"))
}
SCISSORS = "\N{BLACK SCISSORS}"
SVG = "{http://www.w3.org/2000/svg}"


def leaf(numbers, lib=minigrad):
    return lib.tensor(numbers, dtype=lib.float32, requires_grad=True)


def lines(drawing):
    return repr(drawing).splitlines()


def picture(drawing):
    return graphviz_svg.to_svg(drawing.source)


def words(drawing):
    """Return all words in the picture."""
    svg = ElementTree.fromstring(picture(drawing))
    return [text.text for text in svg.iter(f"{SVG}text")]


def orange(drawing):
    """Return how many heads of orange arrows are in the picture."""
    return picture(drawing).count('<polygon fill="#bd570f"')


def gray(drawing):
    """Return how many heads of gray arrows are in the picture."""
    return picture(drawing).count('<polygon fill="#767676"')


def dotted(drawing):
    """Return how many arrows show that no gradient comes along."""
    return picture(drawing).count('stroke-dasharray="1,5"')


def two_products():
    a, b = Value(2), Value(3)
    return a, b, a * b + b * b


def network():
    sizes = nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)
    return nn.Sequential(*sizes), minigrad.zeros(8, 2)


class Residual(nn.Module):
    """A module that computes something besides what its parts compute."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout()
        self.scale = nn.Parameter(minigrad.ones(4))

    def forward(self, x):
        return x + self.drop(self.norm(x)) * self.scale


def tensor(values, dtype=minigrad.float64):
    return minigrad.tensor(np.array(values), dtype=dtype)


def program_of(*tensors):
    return Program([as_step(tensor) for tensor in tensors])


def same(a, b):
    return np.array_equal(np.asarray(getattr(a, "array", a)), getattr(b, "array", b))


def step_of(model, criterion, optimizer):
    """Return what takes a step of a training, and returns its loss."""

    def step(x, y):
        value = criterion(model(x), y)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value

    return step


def run(place, **names):
    """Run a session; return the last drawing that it calls `shown`."""
    from matplotlib import colors, pyplot

    said, parser, (name, title) = [], doctest.DocTestParser(), place
    names = globals() | {"colors": colors, "pyplot": pyplot} | names
    session = parser.get_doctest(SESSIONS[place], names, title, f"{name}.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session, out=said.append, clear_globs=False)
    assert session.examples and not said, "".join(said)
    return session.globs.get("shown")


@pytest.mark.parametrize("place", SESSIONS, ids=": ".join)
def test_a_session_goes_as_it_is_written(place, no_window):
    who, names = place[1].split(": ")[0], {}
    if who in ("PyTorch", "Both"):
        names["torch"] = pytest.importorskip("torch")
        import minigrad.drawing.pytorch  # noqa: F401
    if who == "Both":
        ours, theirs = (run(place, lib=lib) for lib in (minigrad, names["torch"]))
        assert repr(ours) == repr(theirs) and ours.source == theirs.source
    else:
        run(place, **names)
