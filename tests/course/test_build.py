"""Building: the same bytes every time, ids that stay, nothing of a learner's lost."""

import base64
import io
import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode
from PIL import Image
from rich.console import Console

from classroom.author import build, execute
from classroom.author.blanks import STUB, ChapterError
from classroom.author.chapters import Chapter
from classroom.author.concerns import Noted
from classroom.notebook.files import Unreadable, reference
from tests.course.tables import table

SAMPLE = Path(__file__).with_name("90_sample")
LESSON = (SAMPLE / "lesson.md").read_text("utf-8")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return a built course of one chapter: its root and the chapter."""
    root = tmp_path_factory.mktemp("course")
    folder = shutil.copytree(SAMPLE, root / "chapters" / "90_sample")
    for name in ("notebooks", "solutions", "exercises"):
        (root / name).mkdir()
    chapter = Chapter(folder)
    noted = Noted(root)
    build.build_chapter(chapter, root, noted)
    noted.keep()
    return root, chapter


def read(root, folder):
    return nbformat.read(root / folder / "90_sample.ipynb", as_version=4)


def changed(chapter, tmp_path, file, text):
    """Return a copy of the chapter in which one file has another text."""
    folder = shutil.copytree(chapter.folder, tmp_path / "91_changed")
    (folder / file).write_text(text)
    return Chapter(folder)


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def test_the_lesson_is_executed_with_its_outputs(sample):
    lesson = read(sample[0], "notebooks")
    assert lesson.cells[0].source.startswith("# 90 · Sample\n\n*Does it build?*")
    assert lesson.cells[3].outputs[0].text == "hello\nagain\n"
    assert lesson.cells[3].execution_count
    assert "execution" not in lesson.cells[3].metadata  # no timings


def test_the_blank_is_blank_and_the_solution_solved(sample):
    for folder in ("exercises", build.PRISTINE):
        blank = read(sample[0], folder)
        answer = cell(blank, "answer-90-1")
        assert answer.source == f"def double(x):\n    {STUB}"
        assert answer.outputs == [] and answer.execution_count is None
        check = cell(blank, "check-90-1")
        assert check.outputs == [] and reference(check)[0].text == "90.1 passed\n"
        assert check.metadata.jupyter.source_hidden
        assert check.metadata.nbgrader.points == 2
        assert "return 2 * x" not in nbformat.writes(blank)
    solution = cell(read(sample[0], "solutions"), "answer-90-1")
    assert solution.source == "def double(x):\n    return 2 * x"


@pytest.mark.parametrize("text, stays", [("≈ 3e-14", True), ("once", False)])
def test_where_nothing_is_noted_what_nbval_calls_the_same_stays(
    sample, tmp_path, text, stays
):
    root, chapter = shutil.copytree(sample[0], tmp_path / "copy"), sample[1]
    folder = shutil.copytree(chapter.folder, tmp_path / chapter.slug)
    source = (folder / "lesson.md").read_text().replace("hello", "≈ 2e-14")
    (folder / "lesson.md").write_text(source)
    build.build_chapter(Chapter(folder), root)
    lesson = root / "notebooks" / "90_sample.ipynb"
    stored = read(root, "notebooks")
    stored.cells[3].outputs[0].text = f"{text}\nagain\n"
    lesson.write_text(nbformat.writes(stored) + "\n")
    build.build_chapter(Chapter(folder), root)
    assert read(root, "notebooks").cells[3].outputs[0].text.startswith(text) == stays


def test_prose_is_built_without_a_run_and_code_with_one(sample, tmp_path):
    root, chapter = shutil.copytree(sample[0], tmp_path / "copy"), sample[1]
    folder = shutil.copytree(chapter.folder, tmp_path / chapter.slug)
    for old, new, run in ("A lesson", "Another", False), ("hello", "hallo", True):
        text = (folder / "lesson.md").read_text().replace(old, new)
        (folder / "lesson.md").write_text(text)
        told = build.build_chapter(Chapter(folder), root, Noted(root))
        ran = ["notebooks/90_sample.ipynb was run: its code changed"] * run
        assert told == [*ran, "built notebooks/90_sample.ipynb"]
        assert build.problems([Chapter(folder)], root) == []
    assert read(root, "notebooks").cells[3].outputs[0].text == "hallo\nagain\n"


def test_a_build_from_nothing_gives_the_same_bytes(sample, tmp_path):
    root, chapter = sample
    for name in ("notebooks", "solutions"):
        (tmp_path / name).mkdir()
    build.build_chapter(chapter, tmp_path)
    for folder in ("notebooks", "solutions", "exercises", build.PRISTINE):
        path = f"{folder}/90_sample.ipynb"
        assert (tmp_path / path).read_bytes() == (root / path).read_bytes()
        text = (root / path).read_text()
        assert "BEGIN SOLUTION" not in text and str(root) not in text


def test_ids_stay_when_a_cell_is_added(sample, tmp_path):
    new = "Something new.\n\n\n## A lesson\n\nAnd more.\n"
    text = LESSON.replace("## A lesson", new)
    copy = changed(sample[1], tmp_path, "lesson.md", text)
    old = {c.id for c in read(sample[0], "notebooks").cells if c.cell_type == "code"}
    new = build.lesson_notebook(copy)
    assert old <= {c.id for c in new.cells}


def test_a_changed_or_missing_notebook_is_noticed(sample, tmp_path):
    root, chapter = shutil.copytree(sample[0], tmp_path / "copy"), sample[1]
    path = root / "notebooks" / "90_sample.ipynb"
    assert build.problems([chapter], root) == []
    path.write_text(path.read_text().replace("hello", "hallo"))
    assert "has other cells" in build.problems([chapter], root)[0]
    for folder in ("notebooks", "solutions"):
        path = root / folder / "90_sample.ipynb"
        text = (sample[0] / folder / path.name).read_text()
        path.write_text(
            re.sub(r'"execution_count": \d+', '"execution_count": null', text)
        )
        told = f"{folder}/{path.name} has cells that were never run"
        assert told in build.problems([chapter], root)
    assert build.build_chapter(chapter, root)
    assert build.problems([chapter], root) == []
    path = root / "notebooks" / "90_sample.ipynb"
    path.unlink()
    assert build.problems([chapter], root) == ["notebooks/90_sample.ipynb is missing"]


def test_answers_in_exercises_are_never_overwritten(sample, tmp_path):
    root = shutil.copytree(sample[0], tmp_path / "copy")
    path = root / "exercises" / "90_sample.ipynb"
    before = path.read_text()
    mine = before.replace(STUB.replace('"', '\\"'), "return x + x")
    path.write_text(mine)
    newer = read(root, build.PRISTINE)
    newer.cells[0].source += " A newer text."
    messages = build._write_blank(newer, path.name, root)
    assert path.read_text() == mine != before
    assert "left as it is" in messages[-1]


@pytest.mark.parametrize(("file", "old", "new", "message"), table("bad_sources"))
def test_a_bad_source_is_refused_with_its_place(
    sample, tmp_path, file, old, new, message
):
    text = (SAMPLE / file).read_text("utf-8").replace(old, new) if old else new
    chapter = changed(sample[1], tmp_path, file, text)
    with pytest.raises(ChapterError, match=message):
        chapter.front  # noqa: B018
        chapter.exercises  # noqa: B018
        chapter.lesson  # noqa: B018


@pytest.mark.parametrize(
    ("cell", "told"),
    [("1 / 0", "ZeroDivisionError"), ("import time; time.sleep(9)", "timed out")],
)
def test_one_chapter_that_fails_stops_no_other(
    cell, told, sample, tmp_path, monkeypatch, capsys
):
    root, chapter = sample
    text = f"{LESSON}\n```python\n{cell}\n```"
    broken = changed(chapter, tmp_path, "lesson.md", text)
    monkeypatch.setattr("classroom.author.execute.CELL_TIMEOUT", 6)
    monkeypatch.setattr(build, "made_pages", lambda root: {})
    for folder in ("notebooks", "exercises", "solutions"):
        (tmp_path / folder).mkdir()
    assert build._build([broken, chapter], tmp_path, False, Console(width=500)) == 1
    said = capsys.readouterr().out
    assert "91_changed: a cell failed" in said and told in said
    assert "\x1b" not in said and "built notebooks/90_sample.ipynb" in said


def test_an_unknown_chapter_is_refused():
    with pytest.raises(Unreadable, match="Chapters 4-99: there is no chapter "):
        build.build_command(["4-99"], check=False)


def test_a_lesson_has_slides():
    chapter = build.chapters()[4]
    from nbconvert import SlidesExporter  # slow: not while tests are collected

    html, _ = SlidesExporter().from_notebook_node(build.lesson_notebook(chapter))
    texts = [cell for cell in chapter.lesson if cell.cell_type == "markdown"]
    slides = re.findall(r"<section", html)
    assert len(slides) > len(texts) > 10
    assert "This Python does not know the course" not in html


def shrunk(pixels):
    image, file = Image.fromarray(pixels), io.BytesIO()
    image.save(file, "PNG")
    png = base64.b64encode(file.getvalue()).decode()
    output = NotebookNode(data={"image/png": png})
    execute._shrink_png(output)
    return Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))


def test_a_plot_gets_a_palette_and_a_photograph_keeps_its_colors():
    plot = np.zeros((200, 200, 3), np.uint8)
    plot[:, 50:60] = 200, 10, 10
    assert shrunk(plot).mode == "P"
    assert (np.asarray(shrunk(plot).convert("RGB")) == plot).all()
    photograph = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)
    photograph = photograph.repeat(2, 0).repeat(2, 1)  # it is drawn at twice the size
    small = np.asarray(shrunk(photograph).convert("RGB"))
    assert (small == photograph[::2, ::2]).all()
