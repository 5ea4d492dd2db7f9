"""A plot says what it shows, and other numbers give other words."""

import json

import pytest
from nbformat.v4 import new_code_cell

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.author.compose import lesson_notebook
from classroom.author.execute import execute
from minigrad.drawing.plot_text import MEASURED

WALKED = [1, 3, 4, 7, 14]  # lessons of few seconds and many plots, 7 with a slider


pytestmark = pytest.mark.usefixtures("no_window")


@pytest.fixture(scope="module")
def walked():
    """What the plots of some lessons say, and which wrong numbers they would hide."""
    found = []
    for chapter in (c for c in chapters() if c.number in WALKED):
        notebook = lesson_notebook(chapter)
        begin = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
        begin += "; from tests.course import falsified"
        notebook.cells.insert(2, new_code_cell(begin))
        notebook.cells.append(new_code_cell("falsified.report()"))
        done = execute(notebook, ROOT / "notebooks")[0].cells[-1].outputs[0].text
        found += map(json.loads, done.splitlines())
    return found


def test_falsified_numbers_change_what_a_plot_says(walked):
    numbers = [each for each in walked if not MEASURED.search(each["text"])]
    hidden = [each for each in numbers if each["missed"]]
    assert len(numbers) >= 24
    assert len(hidden) <= len(numbers) / 20, hidden


def test_the_text_of_a_plot_is_no_novel(walked):
    assert max(len(each["text"]) for each in walked) < 700
