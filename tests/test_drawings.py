"""What drawings say, session by session, as drawings.md has it."""

import doctest
from pathlib import Path
from xml.etree import ElementTree

import numpy as np  # noqa: F401
import pytest

import minigrad
from classroom.author.chapters import sections
from minigrad import nn, static  # noqa: F401
from minigrad.autograd import Function  # noqa: F401
from minigrad.drawing import rendering
from minigrad.drawing.layout import SCISSORS  # noqa: F401
from minigrad.drawing.pictures import draw, draw_backward, draw_nodes  # noqa: F401
from minigrad.scalar.value import Value

PATH = Path(__file__).with_name("drawings.md")
SESSIONS = dict(sections(PATH.read_text("utf-8"), "## "))
SVG = "{http://www.w3.org/2000/svg}"


def leaf(numbers, lib=minigrad):
    return lib.tensor(numbers, dtype=lib.float32, requires_grad=True)


def lines(drawing):
    return repr(drawing).splitlines()


def picture(drawing):
    return rendering.to_svg(drawing.source)


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


def run(title, **names):
    """Run a session; return the last drawing that it calls `shown`."""
    parser, said = doctest.DocTestParser(), []
    session = parser.get_doctest(
        SESSIONS[title], globals() | names, title, str(PATH), 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session, out=said.append, clear_globs=False)
    assert session.examples and not said, "".join(said)
    return session.globs.get("shown")


@pytest.mark.parametrize("title", SESSIONS)
def test_a_drawing_says(title):
    who, names = title.split(": ")[0], {}
    if who in ("PyTorch", "Both"):
        names["torch"] = pytest.importorskip("torch")
        import minigrad.drawing.pytorch  # noqa: F401
    if who == "Both":
        ours, theirs = (run(title, lib=lib) for lib in (minigrad, names["torch"]))
        assert repr(ours) == repr(theirs) and ours.source == theirs.source
    else:
        run(title, **names)
