"""Progress says what is known and no more; reset loses nothing."""

import pytest
from sample import (
    RIGHT,
    STUBS,
    cell_of,
    chapter,
    code,
    course,
    exercise,
    fill,
    learner,
    markdown,
    pristine,
    sources,
)

from classroom.check import Memory, Result
from classroom.notebooks import Chapter, Learner, read_notebook, write_notebook
from classroom.progress import progress_command, reset_command


@pytest.fixture
def root(tmp_path):
    other = chapter({"91.1": exercise("91.1", "x = ...")}, slug="91_other")
    return course(tmp_path, chapter(), other)


def remember(root, **statuses):
    """What a check would note down: "passed" of 90.1 is `_1="passed"`."""
    memory, chapter_ = Memory(root), Chapter(pristine(root))
    answers = Learner(read_notebook(learner(root)), chapter_).answers()
    results = {f"90.{name[1:]}": Result(status) for name, status in statuses.items()}
    memory.remember(chapter_, {name: answers[name] for name in results}, results)
    memory.save()


def progress(root, capsys):
    assert progress_command(root) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    return out


def test_an_unbegun_course(root, capsys):
    out = progress(root, capsys)
    assert ". . ." in out and "0 of 4 exercises passed. Next: exercise 90.1." in out


def test_what_was_checked_counts_until_the_answer_changes(root, capsys):
    fill(learner(root), RIGHT)
    remember(root, _1="passed", _2="slow")
    assert "+ x ?" in progress(root, capsys)
    fill(learner(root), {"90.1": "def double(x): return 2 * x"})
    out = progress(root, capsys)
    assert "? x ?" in out and "0 of 3" in out
    fill(learner(root), RIGHT)
    assert "+ x ?" in progress(root, capsys)


def test_a_result_is_forgotten_when_the_exercise_changes(root, capsys):
    fill(learner(root), RIGHT)
    remember(root, _1="passed")
    notebook = read_notebook(pristine(root))
    notebook["cells"][-1]["source"] += "\nassert area(1) == 3"
    notebook["cells"][5]["source"] += "\nassert double(0) == 0"
    write_notebook(pristine(root), notebook)
    assert "? ? ?" in progress(root, capsys)


def test_two_checks_at_once_forget_nothing_of_each_other(root):
    mine = Chapter(pristine(root))
    first, second = Memory(root), Memory(root)
    for memory, cells in (first, ["x = 1"]), (second, ["x = 2"]):
        memory.remember(mine, {"90.1": cells}, {"90.1": Result("wrong")})
        memory.save()
    for cells in ["x = 1"], ["x = 2"]:
        assert Memory(root).status(mine, "90.1", cells) == "wrong"


def test_missing_and_unreadable_notebooks(root, capsys):
    learner(root).write_text("")
    learner(root, "91_other").unlink()
    (root / ".minigrad").mkdir()
    (root / ".minigrad" / "results.json").write_text("not JSON")
    out = progress(root, capsys)
    assert "cannot be read" in out and "0 of 4" in out


def test_reset_of_one_exercise_keeps_the_others_and_all_notes(root, capsys):
    notebook = fill(learner(root), RIGHT)
    notebook["cells"].insert(1, code("own", "import math"))
    notebook["cells"].append(markdown("note", "My note."))
    write_notebook(learner(root), notebook)
    before = learner(root).read_bytes()
    assert reset_command("90.2", root) == 0
    texts = sources(learner(root))
    assert STUBS["90.2"] in texts and RIGHT["90.2"] not in texts
    assert {"import math", "My note.", RIGHT["90.1"], RIGHT["90.3"]} <= set(texts)
    (copy,) = (root / "exercises" / "kept").iterdir()
    assert copy.read_bytes() == before
    assert f"exercises/kept/{copy.name}" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["90", "90_sample", "exercises/90_sample.ipynb"])
@pytest.mark.parametrize("content", [b"", b"{", b"<<<<<<< HEAD\n"])
def test_reset_of_a_chapter_works_on_any_file(root, what, content):
    for _ in range(2):
        learner(root).write_bytes(content)
        assert reset_command(what, root) == 0
        assert learner(root).read_bytes() == pristine(root).read_bytes()
    copies = list((root / "exercises" / "kept").iterdir())
    assert [copy.read_bytes() for copy in copies] == [content, content]


@pytest.mark.parametrize("where", ["notebooks", "backup"])
def test_reset_writes_to_nothing_outside_exercises(root, capsys, where):
    fill(learner(root), RIGHT)
    other = root / where / "90_sample.ipynb"
    other.parent.mkdir(exist_ok=True)
    other.write_text("a lesson")
    before = learner(root).read_bytes()
    for what in (str(other), f"{where}/90_sample.ipynb", "elsewhere/90_sample.ipynb"):
        assert reset_command(what, root) == 2
        assert "is not in exercises/" in capsys.readouterr().out
    assert other.read_text() == "a lesson" and learner(root).read_bytes() == before


def test_reset_of_one_exercise_says_what_else_is_as_it_was(root, capsys):
    notebook = fill(learner(root), RIGHT)
    cell_of(notebook, "setup")["source"] = "PI = 3\nimport math"
    write_notebook(learner(root), notebook)
    assert reset_command("90.2", root) == 0
    assert "that you had changed are as they were: 1." in capsys.readouterr().out


def test_reset_keeps_a_notebook_with_any_name(root):
    named = learner(root).rename(root / "exercises" / "{mine} [1].ipynb")
    fill(named, RIGHT)
    assert reset_command(f"exercises/{named.name}", root) == 0
    assert named.read_bytes() == pristine(root).read_bytes()
    (copy,) = (root / "exercises" / "kept").iterdir()
    assert RIGHT["90.1"] in sources(copy)


def test_reset_brings_a_deleted_notebook_back(root):
    learner(root).unlink()
    assert reset_command("90", root) == 0
    assert learner(root).read_bytes() == pristine(root).read_bytes()
    assert not (root / "exercises" / "kept").exists()


@pytest.mark.parametrize("what, words", [("7", "no chapter 7"), ("90.1", "is empty")])
def test_what_cannot_be_reset(root, capsys, what, words):
    learner(root).write_bytes(b"")
    assert reset_command(what, root) == 2
    assert words in capsys.readouterr().out
    assert learner(root).read_bytes() == b""
