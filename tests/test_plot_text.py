"""A plot says what it shows; other numbers, other words."""

import json
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.author.compose import lesson_notebook
from classroom.author.execute import execute
from classroom.notebook.waiting import reference
from minigrad.drawing.plot_text import MEASURED

WALKED = [1, 3, 6, 12]  # lessons of few seconds and many plots, 6 with a slider


pytestmark = pytest.mark.usefixtures("no_window")


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
    assert len(numbers) >= 24
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
