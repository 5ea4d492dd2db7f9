"""The sources of the chapters: front matter, glossary, PyTorch snippets, answers."""

import doctest
import re

import pytest

from classroom import ROOT
from classroom.author.blanks import STUB
from classroom.author.chapters import chapters, split_file
from classroom.cell.pages import lend, page_of
from classroom.notebook.files import read_notebook, reference
from tests.course.tables import table

FENCE = re.compile(r"^```python.*?\n(.*?)^```", re.DOTALL | re.MULTILINE)
FACTS = re.compile(r"## .+\n\n\*\d+ minutes · (easy|medium|hard) · .+\*\n")
SESSION = re.compile(r"^~~~python\n(.*?)^~~~", re.DOTALL | re.MULTILINE)


def prose(chapter):
    """Return what a learner reads in the lesson and the exercises, without code."""
    cells = [*chapter.lesson, *chapter.exercise_cells]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = "\n".join([*map(str, chapter.front["objectives"]), text])
    return re.sub(r"~~~.*?~~~|`[^`]*`|\$[^$]*\$", " ", text, flags=re.DOTALL)


def words_of(chapter):
    """Return the prose of the lesson alone, in small letters, each blank a space."""
    cells = [cell.source for cell in chapter.lesson if cell.cell_type == "markdown"]
    return " ".join("\n".join(cells).lower().split())


def glossary():
    """Return the rows of glossary.md: (term, chapter, also, sentence, Korean)."""
    rows = []
    for line in (ROOT / "glossary.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and cells[1].isdigit():
            rows.append((cells[0], int(cells[1]), *cells[2:]))
    return rows


def test_the_numbers_of_the_chapters_run_without_a_gap():
    assert [each.number for each in chapters()] == [*range(len(chapters()))]


def test_a_chapter_needs_only_earlier_ones(chapter):
    assert all(isinstance(goal, str) for goal in chapter.front["objectives"])
    assert set(chapter.front["needs"]) <= set(range(chapter.number))
    assert chapter.front["track"] in ("core", "optional")
    assert 1 <= chapter.front["difficulty"] <= 5
    # lesson and exercises; of chapters 17 and 20 that is more than one sitting
    assert 15 <= chapter.front["minutes"] <= 185


def test_a_chapter_opens_with_three_questions_and_ends_in_pytorch(chapter):
    text = chapter.text("lesson.md")
    opening = text.split("```python", 1)[0]
    assert opening.count("<details>") == 3
    if chapter.front["track"] == "core":
        assert ">>> " in text.split("\n## ")[-2] + text.split("\n## ")[-1]


def test_every_term_of_a_chapter_is_in_the_glossary_and_back():
    terms = [(term, c.number) for c in chapters() for term in c.front["terms"]]
    assert set(terms) == {(term, number) for term, number, *_ in glossary()}


def test_no_term_is_used_before_its_chapter():
    early = []
    for term, number, *_ in glossary():
        word = re.compile(rf"\b{re.escape(term)}s?\b", re.IGNORECASE)
        for chapter in chapters():
            if chapter.number < number and word.search(prose(chapter)):
                early.append(f"{term!r} (chapter {number}) is used in {chapter.slug}")
    assert not early


def test_a_glossary_entry_is_one_sentence_and_one_korean_term():
    rows = glossary()
    assert len({korean for *_, korean in rows}) == len(rows)
    for term, _, _, sentence, korean in rows:
        assert sentence.endswith(".") and ". " not in sentence, term
        assert re.fullmatch(r"[가-힣 ]+", korean), term


def test_a_term_of_the_glossary_is_in_the_lesson_of_its_chapter():
    lessons = {chapter.number: words_of(chapter) for chapter in chapters()}
    absent = [row[:2] for row in glossary() if row[0].lower() not in lessons[row[1]]]
    assert not absent


def test_the_words_under_which_one_looks_things_up_are_in_a_lesson():
    lessons = " ".join(words_of(chapter) for chapter in chapters())
    assert not [word for word in table("words_of_books") if word not in lessons]


def test_the_pytorch_snippets_print_what_they_say(chapter):
    """In the lesson, together; and below each solution, by itself."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    blocks = re.findall(r"~~~python\n(.*?)~~~", chapter.text("lesson.md"), re.DOTALL)
    lesson = "\n".join(block for block in blocks if block.startswith(">>>"))
    assert ">>>" in lesson or chapter.front["track"] == "optional"
    report, loosely = [], doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for text in [lesson, *(each.pytorch for each in chapter.exercises.values())]:
        session = doctest.DocTestParser().get_doctest(text, {}, chapter.slug, None, 0)
        doctest.DocTestRunner(optionflags=loosely).run(session, out=report.append)
        assert session.examples or not text.strip()
    assert not report, "".join(report)


def test_the_session_in_a_statement_prints_what_it_says(chapter):
    """Below what is given, and with all solutions so far, as a learner types it in."""
    report, names = [], {"__name__": "__main__"}
    for file, exercise in zip(chapter.files, chapter.exercises.values(), strict=True):
        seen = split_file(file)[""].partition("```python answer")[0]
        for code in FENCE.findall(chapter.text("given.md") + seen):
            exec(code, names)
        if page_of(exercise.solved):
            lend(exercise.solved, names)
        else:
            exec(exercise.solved, names)
        for text in SESSION.findall(seen):
            name = exercise.name
            session = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
            doctest.DocTestRunner().run(session, out=report.append, clear_globs=False)
    assert not report, "".join(report)


def test_a_chapter_has_its_exercises(chapter):
    exercises = chapter.exercises.values()
    assert 1 <= len(exercises) <= 6, f"{chapter.slug} should have 1 to 6 exercises"
    names = [f"{chapter.number}.{k + 1}" for k in range(len(exercises))]
    files = [f"{chapter.number}.{file.name[0]}" for file in chapter.files]
    assert list(chapter.exercises) == files == names
    titles = {exercise.title for exercise in exercises}  # by which answers find them
    assert len(titles) == len(exercises), "two exercises have one title"
    if chapter.front["track"] == "core":
        assignments = sum(ex.kind == "assignment" for ex in exercises)
        assert 1 <= assignments <= 3, f"{chapter.slug} should have 1 to 3 with points"
    texts = {file.name: file.read_text("utf-8") for file in chapter.files}
    hints = {name: text.count("<summary>Hint ") for name, text in texts.items()}
    assert set(hints.values()) == {3}, f"each wants three hints: {hints}"
    bare = [name for name, text in texts.items() if not FACTS.match(text)]
    assert not bare, f"no line like *20 minutes · medium · worth it* in {bare}"

    for name, exercise in chapter.exercises.items():
        assert STUB in exercise.blank, name
        assert "### " not in exercise.blank + exercise.solved, name
        assert len(exercise.wrong) >= 3, f"{name} should have three wrong answers"
        assert exercise.right and exercise.drawn, name


def test_chapter_23_leaves_out_no_rule_but_the_two_that_it_names():
    path = ROOT / "notebooks" / "26_rest_of_the_table.ipynb"
    cells = read_notebook(path)["cells"]
    (last,) = [cell for cell in cells if cell["source"] == "print(*left())"]
    told = "".join(reference(last)[0]["text"])
    assert told == "ToCopy\n", "let it examine the others, too"
