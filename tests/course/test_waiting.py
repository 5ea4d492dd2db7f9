"""What a learner has to guess or write is hidden until a cell runs."""

import re
import shutil

import nbformat
import pytest

from classroom import ROOT
from classroom.author.compose import SETUP, blank_notebook, solution_notebook
from classroom.cell.equality import compare
from classroom.notebook.files import put_away, read_notebook, reference, waits
from classroom.run.references import compared
from tests.course.sample import nbval

ASKED = re.compile(r"\*\*(?:[Gg]uess|[Pp]redict)")


def asks(cell):
    return cell.cell_type == "markdown" and ASKED.search(cell.source)


def is_guess(cell):
    return "guess" in cell.metadata


def test_a_lesson_has_one_to_eight_guesses(chapter):
    marked = [cell for cell in chapter.lesson if is_guess(cell)]
    least = 0 if chapter.number == 27 else 1  # which is a page to look things up
    assert least <= len(marked) <= 8
    assert {cell.cell_type for cell in marked} <= {"code"}


def test_where_a_guess_is_asked_for_a_cell_waits_to_be_run(chapter):
    places = [i for i, cell in enumerate(chapter.lesson) if asks(cell)]
    for place, following in zip(places, [*places[1:], len(chapter.lesson)]):
        answers = chapter.lesson[place + 1 : following]
        assert any(map(is_guess, answers)), chapter.lesson[place].source


def test_no_stored_lesson_answers_a_guess(chapter):
    cells = read_notebook(ROOT / "notebooks" / f"{chapter.slug}.ipynb")["cells"]
    marked = [c for c in cells if "guess" in c["metadata"].get("tags", [])]
    sources = [cell.source for cell in chapter.lesson if is_guess(cell)]
    assert [cell["source"] for cell in marked] == sources
    for cell in marked:
        assert cell["outputs"] == [] and cell["execution_count"] is None
        assert reference(cell), f"it shows nothing at all: {cell['source']}"


PLAIN = "Write numbers without commas and quotes."


@pytest.mark.parametrize(
    ("guess", "found", "told"),
    [
        (..., 3, ""),
        (3, 3.0, "You guessed 3, which is right."),
        (" Big", "big", "You guessed 'big', which is right."),
        ([1, 2], [1.0, 3.0], "You guessed [1, 2], and it is [1, 3]."),
        (90, 100.0, "You guessed 90, and it is 100: near."),
        (5, 2000, "You guessed 5, and it is 2000, 400 times larger."),
        (-9, -2.0, "You guessed -9, and it is -2, 4.5 times smaller."),
        (0, 5, "You guessed 0, and it is 5."),
        ("two", 2, "You guessed 'two', and it is 2."),
        ((2, 0), 2000, f"You guessed (2, 0), and it is 2000. {PLAIN}"),
        ("2000", 2000, f"You guessed '2000', and it is 2000. {PLAIN}"),
    ],
)
def test_a_guess_that_was_written_down_is_compared(guess, found, told, capsys):
    compare(guess, found)
    assert capsys.readouterr().out == told + "\n" * bool(told)


def test_no_stored_exercise_shows_what_is_asked_for(chapter):
    path = ROOT / "classroom" / "pristine" / f"{chapter.slug}.ipynb"
    code = [c for c in read_notebook(path)["cells"] if c["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in code)
    checks = [c for c in code if "check" in c["metadata"].get("tags", [])]
    assert len(checks) == len(chapter.exercises)
    for cell in checks:
        assert "passed\n" in reference(cell)[0]["text"], "nothing to compare with"
    path = ROOT / "solutions" / f"{chapter.slug}.ipynb"
    solved = {cell["id"]: cell for cell in read_notebook(path)["cells"]}
    for cell in code:  # test_answers.py runs the solutions, and compares what they show
        if "answer" not in cell["metadata"].get("tags", []):
            assert compared(reference(cell)) == compared(solved[cell["id"]]["outputs"])


def test_what_is_folded_begins_with_a_line_that_gives_nothing_away(chapter):
    blank = blank_notebook(chapter, solution_notebook(chapter))
    folded = [
        c for c in blank.cells if c.metadata.get("jupyter", {}).get("source_hidden")
    ]
    firsts = [cell.source.splitlines()[0] for cell in folded]
    checks = [f"# Check of {name}: run this cell" for name in chapter.exercises]
    assert firsts == [SETUP.splitlines()[0], *checks]


@pytest.fixture
def course(tmp_path):
    """A folder with the course's settings of pytest, and a notebook in it."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    cells = [nbformat.v4.new_code_cell(f"print({n})") for n in (1, 2)]
    for n, cell in enumerate(cells, 1):
        cell.outputs = [nbformat.v4.new_output("stream", text=f"{n}\n")]
        cell.execution_count = n
    put_away(cells[1])
    assert [waits(cell) for cell in cells] == [False, True] and not cells[1].outputs
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lesson.ipynb")
    return tmp_path


def test_strict_nbval_compares_what_waits(course):
    path = course / "lesson.ipynb"
    path.write_text(path.read_text("utf-8").replace("2\\n", "3\\n"), "utf-8")
    assert "1 failed, 1 passed" in nbval(path, "--nbval --nbval-current-env")
