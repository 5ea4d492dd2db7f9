"""A plot says what it shows; other numbers, other words."""

import json
import re
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
from matplotlib import pyplot
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.author.compose import lesson_notebook
from classroom.author.execute import execute
from classroom.notebook.waiting import reference
from minigrad import plot
from minigrad.drawing.plot_text import MEASURED, bundle, describe

WALKED = [1, 3, 12]  # lessons of few seconds and many plots


pytestmark = pytest.mark.usefixtures("no_window")


def test_a_curve_tells_its_ends_and_where_it_is_least():
    ax = plot.plot_loss([3.0, 2.0, 0.5, 1.0], "slow")
    text = 'Plot of loss over step: "slow", line of 4 points from 3 at 0 to 1 at 3'
    assert describe(ax.figure) == f"{text}, least 0.5 at 2."
    plot.plot_loss([0.0], ax=ax)
    assert describe(ax.figure) == f"{text}, least 0.5 at 2; line of 1 point at (0, 0)."


def test_what_is_not_finite_is_said():
    figure = plot.plot_loss([1.0, np.nan, 3.0]).figure
    told = "line of 3 points, 1 of them not finite from 1 at 0 to 3 at 2."
    assert describe(figure) == f"Plot of loss over step: {told}"
    figure = plot.plot_loss([np.nan]).figure
    assert describe(figure).endswith("line of 1 point, 1 of them not finite.")


def test_bars_dots_images_and_words_are_told():
    figure = plot.plot_gradients(["w", "b"], [1.5, -0.5], [1.5, -0.4]).figure
    assert '"backward", bars of 2 points from 1.5 at' in describe(figure)
    figure = plot.heatmap([[2.0, -2.0], [0.0, 1.0]], "J").figure
    told = "image of 2 x 2 from 2 at the top left to 1 at the end, "
    least = "least -2 in row 0, column 1, greatest 2 in row 0, column 0"
    assert describe(figure) == f'Plot of "J": {told}{least}.'
    figure, ax = plot.axes("x", "$y_1$")
    ax.scatter([1, 2], [3, 4])
    ax.text(0, 0, "here")
    told = 'dots of 2 points from 3 at 1 to 4 at 2; words "here".'
    assert describe(figure) == f"Plot of y_1 over x: {told}"


def test_the_text_of_a_training_has_its_beginning_and_the_picture_all_of_it():
    figure = plot.plot_loss([3.0, 2.0, 0.5, 1.0]).figure
    begin = "Plot of loss over step: line of 4 points from 3 at 0"
    assert describe(figure, sure=True) == f"{begin}."
    assert f'alt="{begin} to 1 at 3, least' in bundle(figure)["text/html"]
    figure, ax = plot.axes("x", "loss")
    ax.plot([3.0, 2.0, 0.5, 1.0])
    assert describe(figure, sure=True) == describe(figure)


def test_of_many_plots_the_first_ones_and_the_last_are_told():
    figure, panels = plot.axes(ncols=6)
    for n, ax in enumerate(panels):
        plot.heatmap([[n]], f"no. {n}", ax=ax)
    text = describe(figure)
    assert re.findall(r"no\. \d", text) == ["no. 0", "no. 1", "no. 2", "no. 5"]
    assert "(2 more)" in text and len(text) < 600


def test_what_was_measured_is_told_without_numbers():
    figure, ax = plot.axes("inputs", "seconds a step")
    ax.plot([1, 2], [0.123, 0.456], label="ours: 15.8 ms")
    told = 'Plot of seconds a step over inputs: "ours: some ms", line of 2 points.'
    assert describe(figure) == told
    assert all(map(MEASURED.search, ("megabytes held", "ns for one product", "MB")))
    assert not any(map(MEASURED.search, ("times answered", "y s: how far", "steps")))


def test_nearly_the_same_numbers_are_told_alike():
    numbers = np.array([0.25, 1e-17, 0.125, 2.0])
    texts = set()
    for noise in (0.0, 1e-9, -1e-9):
        ax = plot.plot_loss(numbers + noise)
        texts.add(describe(ax.figure))
    assert len(texts) == 1, texts


def test_a_picture_has_its_text_and_a_strange_one_is_shown_all_the_same():
    figure = plot.plot_loss([1.0, 0.5], "a < b").figure
    shown = bundle(figure)
    assert shown["text/plain"] == describe(figure, sure=True)
    assert shown["text/html"].startswith(
        '<img alt="Plot of loss over step: &quot;a &lt;'
    )
    figure.axes[0].lines[0].get_data = None
    assert bundle(figure)["text/plain"] == "A plot."
    assert bundle(pyplot.figure()) is None


@pytest.fixture(scope="module")
def walked():
    """What the plots of some lessons say, and which wrong numbers they would hide."""
    found = []
    for chapter in (c for c in chapters() if c.number in WALKED):
        notebook = lesson_notebook(chapter)
        begin = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import falsified"
        )
        notebook.cells.insert(2, new_code_cell(begin))
        notebook.cells.append(new_code_cell("falsified.report()"))
        done = execute(notebook, ROOT / "notebooks").cells[-1].outputs[0].text
        found += map(json.loads, done.splitlines())
    return found


def test_falsified_numbers_change_what_a_plot_says(walked):
    numbers = [each for each in walked if not MEASURED.search(each["text"])]
    hidden = [each for each in numbers if each["missed"]]
    assert len(numbers) >= 12
    assert len(hidden) <= len(numbers) / 20, hidden


def test_the_text_of_a_plot_is_no_novel(walked):
    assert max(len(each["text"]) for each in walked) < 700


@pytest.mark.parametrize("slug", ["03_value", "12_vjp"])
def test_a_lesson_as_a_web_page_has_no_picture_without_text(slug):
    notebook = nbformat.read(ROOT / "notebooks" / f"{slug}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = nbformat.from_dict(reference(cell))
    html, _ = HTMLExporter().from_notebook_node(notebook)
    pictures = Pictures()
    pictures.feed(html)
    assert len(pictures.texts) > 4 and min(map(len, pictures.texts)) > 20
    assert any(text.startswith("Plot of ") for text in pictures.texts)


class Pictures(HTMLParser):
    """Collects the alternative texts of a page's pictures: "" where there is none."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def handle_starttag(self, tag, attributes):
        if tag in ("img", "svg"):
            self.texts.append(dict(attributes).get("alt") or "")
