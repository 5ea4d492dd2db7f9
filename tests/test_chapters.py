"""The sources of the chapters: front matter, glossary, PyTorch snippets, answers."""

import doctest
import re
from operator import attrgetter

import pytest

from classroom import ROOT
from classroom.author.blanks import STUB
from classroom.author.chapters import chapters
from classroom.notebook.files import read_notebook
from classroom.notebook.waiting import reference

CHAPTERS = chapters()
EXERCISES = [(chapter, ex) for chapter in CHAPTERS for ex in chapter.exercises.values()]


by_slug = attrgetter("slug")


def prose(chapter):
    """Return what a learner reads in the lesson and the exercises, without code."""
    cells = [*chapter.lesson, *chapter.exercise_cells]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = "\n".join([*map(str, chapter.front["objectives"]), text])
    return re.sub(r"~~~.*?~~~|`[^`]*`|\$[^$]*\$", " ", text, flags=re.DOTALL)


def glossary():
    """Return the rows of glossary.md: (term, chapter, sentence, Korean)."""
    rows = []
    for line in (ROOT / "glossary.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and cells[1].isdigit():
            rows.append((cells[0], int(cells[1]), cells[2], cells[3]))
    return rows


def test_the_numbers_of_the_chapters_run_without_a_gap():
    assert [chapter.number for chapter in CHAPTERS] == list(range(len(CHAPTERS)))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=by_slug)
def test_a_chapter_needs_only_earlier_ones(chapter):
    assert all(isinstance(goal, str) for goal in chapter.front["objectives"])
    assert set(chapter.front["needs"]) <= set(range(chapter.number))
    assert chapter.front["track"] in ("core", "optional")
    assert 1 <= chapter.front["difficulty"] <= 5
    # lesson and exercises; of chapters 9 and 12 that is more than one sitting
    assert 15 <= chapter.front["minutes"] <= 190


@pytest.mark.parametrize("chapter", CHAPTERS, ids=by_slug)
def test_a_chapter_opens_with_three_questions_and_ends_in_pytorch(chapter):
    text = chapter.text("lesson.md")
    opening = text.split("```python", 1)[0]
    assert opening.count("<details>") == 3
    if chapter.front["track"] == "core":
        assert ">>> " in text.split("\n## ")[-2] + text.split("\n## ")[-1]


def test_every_term_of_a_chapter_is_in_the_glossary_and_back():
    terms = [(term, c.number) for c in CHAPTERS for term in c.front["terms"]]
    assert set(terms) == {(term, number) for term, number, _, _ in glossary()}


def test_no_term_is_used_before_its_chapter():
    early = []
    for term, number, _, _ in glossary():
        word = re.compile(rf"\b{re.escape(term)}s?\b", re.IGNORECASE)
        for chapter in CHAPTERS:
            if chapter.number < number and word.search(prose(chapter)):
                early.append(f"{term!r} (chapter {number}) is used in {chapter.slug}")
    assert not early


def test_a_glossary_entry_is_one_sentence_and_one_korean_term():
    rows = glossary()
    assert len({korean for *_, korean in rows}) == len(rows)
    for term, _, sentence, korean in rows:
        assert sentence.endswith(".") and ". " not in sentence, term
        assert re.fullmatch(r"[가-힣 ]+", korean), term


@pytest.mark.parametrize("chapter", CHAPTERS, ids=by_slug)
def test_the_pytorch_snippets_print_what_the_lesson_says(chapter):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    blocks = re.findall(r"~~~python\n(.*?)~~~", chapter.text("lesson.md"), re.DOTALL)
    text = "\n".join(block for block in blocks if block.startswith(">>>"))
    example = doctest.DocTestParser().get_doctest(text, {}, chapter.slug, None, 0)
    report, loosely = [], doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=loosely).run(example, out=report.append)
    assert not report, "".join(report)
    assert example.examples or chapter.front["track"] == "optional"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=by_slug)
def test_a_chapter_has_its_exercises(chapter):
    exercises = chapter.exercises.values()
    assert 1 <= len(exercises) <= 6, f"{chapter.slug} should have 1 to 6 exercises"
    names = [f"{chapter.number}.{k + 1}" for k in range(len(exercises))]
    assert list(chapter.exercises) == names
    if chapter.front["track"] == "core":
        assignments = sum(ex.kind == "assignment" for ex in exercises)
        assert 1 <= assignments <= 2, f"{chapter.slug} should have 1 or 2 with points"
    hints = chapter.text("exercises.md").count("<details><summary>Hint ")
    assert hints == 3 * len(exercises), f"{chapter.slug}: each wants three hints"


@pytest.mark.parametrize(
    ("chapter", "exercise"), EXERCISES, ids=[ex.name for _, ex in EXERCISES]
)
def test_an_exercise_has_a_blank_and_answers_that_test_it(chapter, exercise):
    assert STUB in exercise.blank
    assert "### " not in exercise.blank and "### " not in exercise.solved
    assert len(exercise.wrong) >= 3, "answers.md should have three wrong answers"
    assert len(exercise.right) >= 1, "answers.md should have a right one"
    assert exercise.hidden


def test_chapter_23_leaves_out_no_rule_but_the_two_that_it_names():
    path = ROOT / "notebooks" / "23_rest_of_the_table.ipynb"
    cells = read_notebook(path)["cells"]
    (last,) = [cell for cell in cells if cell["source"] == "print(*left())"]
    told = "".join(reference(last)[0]["text"])
    assert told == "ToCopy\n", "let it examine the others, too"
