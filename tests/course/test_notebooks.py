"""Answers are found however a notebook was saved, renamed, cut or repaired."""

import json
import os
from contextlib import nullcontext
from time import process_time

import pytest

from classroom.cell.asked import exercise_at, id_of
from classroom.notebook import files
from classroom.notebook.answers import Learner
from classroom.notebook.files import Unreadable, read_notebook, write_notebook
from classroom.notebook.merge import merge
from classroom.notebook.pristine import Chapter, all_chapters, chapter_of
from classroom.run.roles import notebook_to_run
from tests.course import sample
from tests.course.sample import (
    RIGHT,
    STUBS,
    cell_of,
    chapter,
    code,
    course,
    exercise,
    fill,
    learner,
)

HEADER = "# minigrad/scalar/value.py"
ALL_RIGHT = {name: [text] for name, text in RIGHT.items()}


@pytest.fixture
def root(tmp_path):
    return course(tmp_path)


def answers(root, notebook):
    return Learner(notebook, Chapter(sample.pristine(root))).answers()


def only(*sources, name="90.1"):
    return {name: list(sources)}


@pytest.mark.parametrize("text", ["", "\n\n", "# no idea", STUBS["90.1"] + "\n# why?"])
def test_comments_and_the_stub_are_no_answer(root, text):
    assert answers(root, fill(learner(root), {"90.1": text})) == {}


def other_ids(notebook):
    for n, cell in enumerate(notebook["cells"]):
        cell["id"] = f"other-{n}"
    return notebook


def ids_that_colab_moved(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {"id": cell.pop("id")}
    return notebook


def neither_labels_nor_statements(notebook):
    bare = sample.strip_labels(notebook)
    cells = [c for c in bare["cells"][::-1] if c["source"] in RIGHT.values()]
    return bare | {"cells": cells}


SAVED = [dict, sample.strip_labels, other_ids, ids_that_colab_moved]


@pytest.mark.parametrize("saved", [*SAVED, neither_labels_nor_statements])
def test_answers_are_found(root, saved):
    assert answers(root, saved(fill(learner(root), RIGHT))) == ALL_RIGHT


def test_check_and_statement_deleted_or_edited(root):
    notebook = fill(learner(root), RIGHT)
    cell_of(notebook, "check-90-1")["source"] = "print('90.1 passed')"
    gone = ("check-90-2", "exercise-90-3")
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] not in gone]
    found = answers(root, notebook)
    assert found == ALL_RIGHT
    run = notebook_to_run(Chapter(sample.pristine(root)), found)
    assert "assert double" in cell_of(run, "check-90-1")["source"]
    assert cell_of(run, "check-90-2")


def test_answer_split_over_two_cells_is_joined(root):
    notebook = fill(learner(root), {"90.1": "def double(x):"})
    label = cell_of(notebook, "answer-90-1")["metadata"]
    second = {**code("new", "    return x + x"), "metadata": label}
    insert_after(notebook, "answer-90-1", second)
    assert answers(root, notebook) == only("def double(x):\n    return x + x")


def test_copied_stub_is_dropped_and_a_copy_below_the_check_is_not_used(root):
    notebook = fill(learner(root), {"90.1": RIGHT["90.1"]})
    label = cell_of(notebook, "answer-90-1")["metadata"]
    for after, text in ("answer", STUBS["90.1"]), ("check", "def double(x): return 0"):
        copy = {**code(f"copy-{after}", text), "metadata": label}
        insert_after(notebook, f"{after}-90-1", copy)
    assert answers(root, notebook) == only(RIGHT["90.1"])


def test_an_answer_copied_to_where_another_one_belongs_is_that_one(root):
    notebook = fill(learner(root), {"90.1": RIGHT["90.1"]})
    label = cell_of(notebook, "answer-90-1")["metadata"]
    pasted = {**code("b7c1", RIGHT["90.2"]), "metadata": label}
    insert_after(notebook, "answer-90-2", pasted)
    found = answers(root, notebook)
    assert found == only(RIGHT["90.1"]) | only(RIGHT["90.2"], name="90.2")


def test_own_cells_between_statement_and_check_come_along(root):
    notebook = fill(learner(root), {"90.1": RIGHT["90.1"]})
    insert_after(notebook, "hints-90-1", code("a", "import math"))
    insert_after(notebook, "answer-90-1", code("b", "double(3)"))
    assert answers(root, notebook) == only("import math", RIGHT["90.1"], "double(3)")
    run = notebook_to_run(Chapter(sample.pristine(root)), answers(root, notebook))
    roles = [cell["metadata"]["minigrad"]["role"] for cell in run["cells"]]
    assert roles == ["", "extra", "answer", "extra", "check"]


def test_definitions_from_above_come_along_and_experiments_do_not(root):
    notebook = fill(learner(root), {"90.2": RIGHT["90.2"]})
    insert_after(notebook, "setup", code("a", "import math"))
    insert_after(notebook, "check-90-1", code("b", "while True: pass"))
    insert_after(notebook, "check-90-2", code("c", "import late"))
    assert answers(root, notebook) == only("import math", RIGHT["90.2"], name="90.2")


def test_answer_in_a_new_cell_below_the_stub(root):
    notebook = read_notebook(learner(root))
    insert_after(notebook, "answer-90-1", code("a", RIGHT["90.1"]))
    assert answers(root, notebook) == only(RIGHT["90.1"])


@pytest.mark.parametrize(
    "odd",
    [
        sample.markdown("odd", "#" * 300_000),
        code("odd", "def" + "\n" * 300_000 + "("),
        code("odd", "check(" + " " * 300_000),
        code("odd", "double = 1\n" + "(" * 300_000),
    ],
    ids=range(4),
)
def test_a_cell_takes_time_that_grows_with_its_length_and_no_faster(root, odd):
    made = fill(learner(root), RIGHT)
    made["cells"].insert(4, odd)
    write_notebook(learner(root), made)
    begin = process_time()
    held = Learner(read_notebook(learner(root)), Chapter(sample.pristine(root)))
    assert set(held.answers()) == set(RIGHT)
    assert process_time() - begin < 2


def test_the_header_is_put_back(tmp_path):
    stub = f"{HEADER}\nclass Value:\n    def __mul__(self, other):\n        ..."
    root = course(tmp_path, chapter({"90.1": exercise("90.1", stub)}))
    text = "class Value:\n    def __mul__(self, other):\n        return 1"
    notebook = fill(learner(root), {"90.1": text})
    insert_after(notebook, "hints-90-1", code("a", "import math"))
    assert answers(root, notebook) == only("import math", f"{HEADER}\n{text}")
    for header in HEADER, "# minigrad/older.py":
        notebook = fill(learner(root), {"90.1": f"{header}\n{text}"})
        assert answers(root, notebook) == only(f"{HEADER}\n{text}")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
def test_encodings_of_unicode_and_line_ends_of_windows_are_read(root, encoding):
    answer = f"# 두 배\n{RIGHT['90.1']}".replace("\n", "\r\n")
    notebook = fill(learner(root), {**RIGHT, "90.1": answer})
    text = json.dumps(notebook, ensure_ascii=False, indent=1).replace("\n", "\r\n")
    learner(root).write_bytes(text.encode(encoding))
    found = answers(root, read_notebook(learner(root)))
    assert found["90.1"] == [f"# 두 배\n{RIGHT['90.1']}"]


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n", "is empty"),
        (b'{"cells": [', "is not a notebook, because its JSON"),
        (b'{"a": 1}', "is JSON, but not a notebook"),
        (b"[1, 2]", "is JSON, but not a notebook"),
        (b'{"cells": [3]}', "is JSON, but not a notebook"),
        (b'{"cells": [{"source": []}]}', "is JSON, but not a notebook"),
        (
            b'{\n<<<<<<< HEAD\n "a": 1\n=======\n>>>>>>> x\n}',
            "conflict markers of a git merge",
        ),
        ('{"é": 1}'.encode("latin-1"), "is not a notebook, because its JSON.*reset 4`"),
        ('{"두": 1}'.encode("cp949"), "is not a notebook, because its JSON.*reset 4`"),
        (None, "No such file"),
    ],
)
def test_unreadable_files_say_why(tmp_path, content, words):
    path = tmp_path / "04_blame.ipynb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Unreadable, match=words):
        read_notebook(path)


def test_written_as_jupyter_writes_it(root):
    nbformat = pytest.importorskip("nbformat")
    path = learner(root)
    text = path.read_text("utf-8")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) + "\n" == text


def test_a_chapter_is_known_by_metadata_or_else_by_its_cells(tmp_path):
    other = chapter({"91.1": exercise("91.1", "x = ...")}, slug="91_other")
    root = course(tmp_path, chapter(), other)
    notebook = read_notebook(learner(root, "91_other"))
    for bare in notebook | {"metadata": {}}, sample.strip_labels(notebook):
        assert chapter_of(bare, all_chapters(root)).slug == "91_other"
    setup_only = {"cells": notebook["cells"][:2], "metadata": {}}
    assert chapter_of(setup_only, all_chapters(root)) is None


def test_ids_stay_when_a_chapter_gets_another_number():
    names = [name for chapter in all_chapters() for name in chapter.exercises]
    ids = [id_of("answer", name) for name in names]
    assert len(set(ids)) == len(ids) == 86
    assert [exercise_at(each) for each in ids] == [("answer", name) for name in names]
    first = {"answer-7-1": "8.1", "check-24-2": "6.2", "answer-25-1": "10.1"}
    assert {each: exercise_at(each)[1] for each in first} == first
    for each in all_chapters():
        assert all(int(n.split(".")[0]) == each.number for n in each.exercises)


def test_merge_keeps_every_cell_of_the_learner(root):
    notebook = fill(learner(root), {"90.1": "import a\n", "90.3": RIGHT["90.3"]})
    insert_after(notebook, "answer-90-1", code("extra", "extra = 1"))
    label = cell_of(notebook, "answer-90-1")["metadata"]
    second = {**code("second", RIGHT["90.1"]), "metadata": label}
    insert_after(notebook, "extra", second)
    insert_after(notebook, "exercise-90-2", sample.markdown("note", "My note."))
    insert_after(notebook, "setup", code("mine", "mine = 1"))
    new = chapter({"90.1": exercise("90.1"), "90.2": exercise("90.2")})
    new["cells"].remove(cell_of(new, "setup"))
    write_notebook(sample.pristine(root), new)
    old = Chapter(learner(course(root / "old")))
    merged = merge(Learner(notebook, old), Chapter(sample.pristine(root)))
    texts = [cell["source"] for cell in merged.notebook["cells"]]
    order = ["mine = 1", "import a\n", "extra = 1", RIGHT["90.1"], "My note."]
    assert [text for text in texts if text in order] == order and STUBS["90.2"] in texts
    assert [cell["source"] for cell in merged.homeless] == [RIGHT["90.3"]]
    ids = [cell["id"] for cell in merged.notebook["cells"]]
    assert len(ids) == len(set(ids))


def test_an_answer_follows_its_title_into_another_number(root):
    new = {"90.1": exercise("90.1", STUBS["90.2"]), "90.2": exercise("90.2")}
    fill(learner(root), RIGHT)
    old = Chapter(sample.pristine(course(root / "old")))
    made = chapter(new)
    about = made["metadata"]["minigrad"]["exercises"]
    about["90.1"]["title"], about["90.2"]["title"] = "Three times", "Twice"
    write_notebook(sample.pristine(root), made)
    now = Chapter(sample.pristine(root))
    merged = merge(Learner(read_notebook(learner(root)), old), now)
    found = Learner(merged.notebook, now).answers()
    assert found == {"90.1": [RIGHT["90.2"]], "90.2": [RIGHT["90.1"]]}
    assert [cell["source"] for cell in merged.homeless] == [RIGHT["90.3"]]


def test_an_older_notebook_by_itself_is_read_by_the_titles_of_its_exercises(root):
    notebook = fill(learner(root), {name: RIGHT[name] for name in STUBS})
    titles = {"90.1": "Three times", "90.2": "Gone", "90.3": "Twice"}
    about = {name: {"title": title} for name, title in titles.items()}
    notebook["metadata"]["minigrad"] = {"exercises": about}
    found = Learner(notebook, Chapter(sample.pristine(root))).answers()
    assert found["90.1"][-1] == RIGHT["90.3"] and found["90.2"] == [RIGHT["90.1"]]
    assert "90.3" not in found


@pytest.mark.parametrize(("refusals", "text"), [(2, "new"), (9, "old")])
def test_a_file_that_another_program_holds_is_waited_for(
    tmp_path, monkeypatch, refusals, text
):
    path, left, replace = tmp_path / "a.ipynb", [None] * refusals, os.replace
    path.write_text("old")

    def held(new, old):
        if left:
            left.pop()
            error = PermissionError(13, "Access is denied", new, 5, old)
            error.winerror = 5
            raise error
        replace(new, old)

    monkeypatch.setattr("os.replace", held)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    told = "Access is denied; if a program has it open, close it there: .*a.ipynb"
    gives_up = pytest.raises(PermissionError, match=told)
    gives_up = gives_up if text == "old" else nullcontext()
    with gives_up:
        files.write_whole(path, "new")
    assert path.read_text() == text and os.listdir(tmp_path) == ["a.ipynb"]


def insert_after(notebook, name, cell):
    place = notebook["cells"].index(cell_of(notebook, name)) + 1
    notebook["cells"].insert(place, cell)
