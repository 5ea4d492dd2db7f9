"""Progress shows the known results; reset loses nothing, and restore restores it."""

import re
import time

import pytest

from classroom.learner.progress import home_page, progress_command
from classroom.learner.restore import reset_command, restore_command
from classroom.learner.results import Memory
from classroom.notebook.answers import Learner
from classroom.notebook.course_map import Stop, map_svg, next_exercise
from classroom.notebook.files import read_notebook, write_notebook
from classroom.notebook.pristine import Chapter
from classroom.run.verdict import Result
from tests.course import sample
from tests.course.sample import (
    RIGHT,
    STUBS,
    cell_of,
    course,
    fill,
    learner,
    pristine,
    refused,
    sources,
)


@pytest.fixture
def root(tmp_path):
    other = sample.chapter(
        {"91.1": sample.exercise("91.1", "x = ...")}, slug="91_other"
    )
    return course(tmp_path, sample.chapter(), other)


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


def test_a_wrong_answer_is_next_everywhere_and_home_marks_it(root, capsys):
    fill(learner(root), {**RIGHT, "90.2": "def triple(x):\n    return x"})
    fill(learner(root, "91_other"), {"91.1": "x = 7"})
    remember(root, _1="passed", _3="passed")
    ours = Learner(read_notebook(learner(root)), Chapter(pristine(root)))
    Memory(root).note_try(ours, "90.2")  # as the check in the notebook does
    assert "Next: exercise 90.2." in progress(root, capsys)
    assert progress_command(root, ["90-91"]) == 0
    assert "Next of these: exercise 90.2." in capsys.readouterr().out
    home = home_page(root)
    assert "**Continue with [90.2 " in home and home.count("✗") == 1
    assert "[90.1 ✓](" in home and "[90.2 ✗](" in home and "[91.1](" in home


def test_a_result_is_forgotten_when_the_exercise_changes(root, capsys):
    fill(learner(root), RIGHT)
    remember(root, _1="passed")
    notebook = read_notebook(pristine(root))
    for name in "check-90-1", "check-90-3":
        cell_of(notebook, name)["source"] += "\nassert True"
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
    notebook["cells"].insert(1, sample.code("own", "import math"))
    notebook["cells"].append(sample.markdown("note", "My note."))
    cell_of(notebook, "setup")["source"] = "PI = 3\nimport cmath"
    write_notebook(learner(root), notebook)
    before = learner(root).read_bytes()
    assert reset_command("90.2", root) == 0
    texts = sources(learner(root))
    assert STUBS["90.2"] in texts and RIGHT["90.2"] not in texts
    assert {"import math", "My note.", RIGHT["90.1"], RIGHT["90.3"]} <= set(texts)
    (copy,) = (root / "exercises" / "kept").iterdir()
    assert copy.read_bytes() == before
    said = capsys.readouterr().out
    assert f"exercises/kept/{copy.name}" in said
    assert "had changed or deleted: 1. The original cells are back" in said
    back = {RIGHT["90.2"]: STUBS["90.2"], "PI = 3\nimport cmath": "PI = 3"}
    assert texts == [back.get(text, text) for text in sources(copy)]


def test_reset_of_one_exercise_leaves_all_else_as_it_is(root, capsys):
    plan = f"# first r * r\n{STUBS['90.3']}"
    notebook = fill(learner(root), {"90.1": RIGHT["90.1"], "90.3": plan})
    shown = {"output_type": "stream", "name": "stdout", "text": ["Mine.\n"]}
    for name in "setup", "answer-90-1", "check-90-1":
        cell_of(notebook, name).update(outputs=[shown], execution_count=7)
    place = [cell["id"] for cell in notebook["cells"]].index("check-90-1") + 1
    label = cell_of(notebook, "answer-90-1")["metadata"]
    copy = {**sample.code("copy", "def double(x): return 0"), "metadata": label}
    notebook["cells"][place:place] = [copy, sample.code("empty", "")]
    notebook["metadata"]["kernelspec"]["name"] = "my-own"
    write_notebook(learner(root), notebook)
    assert reset_command("90.2", root) == 0
    assert read_notebook(learner(root)) == notebook
    assert "changed or deleted" not in capsys.readouterr().out


def test_reset_of_one_exercise_brings_back_what_was_deleted_of_it(root, capsys):
    fill(learner(root), RIGHT)
    notebook = read_notebook(learner(root))
    untouched = [cell["id"] for cell in read_notebook(pristine(root))["cells"]]
    gone = "exercise-90-2", "answer-90-2", "check-90-2"
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] not in gone]
    write_notebook(learner(root), notebook)
    assert reset_command("90.2", root) == 0
    cells = read_notebook(learner(root))["cells"]
    assert [cell["id"] for cell in cells] == untouched
    assert STUBS["90.2"] in sources(learner(root))
    assert RIGHT["90.1"] in sources(learner(root))
    assert "had changed or deleted: 3." in capsys.readouterr().out


@pytest.mark.parametrize("what", ["90", "90_sample"])
@pytest.mark.parametrize("content", [b"", b"{", b"<<<<<<< HEAD\n"])
def test_reset_of_a_chapter_works_on_any_file(root, what, content):
    for _ in range(2):
        learner(root).write_bytes(content)
        assert reset_command(what, root) == 0
        assert learner(root).read_bytes() == pristine(root).read_bytes()
    copies = list((root / "exercises" / "kept").iterdir())
    assert [copy.read_bytes() for copy in copies] == [content, content]


@pytest.mark.parametrize("where", ["exercises", "backup"])
def test_reset_takes_no_file(root, where):
    fill(learner(root), RIGHT)
    other = root / where / "90_sample.ipynb"
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(learner(root).read_bytes())
    before = other.read_bytes()
    for what in (str(other), f"{where}/90_sample.ipynb", "elsewhere/90_sample.ipynb"):
        assert "Give a chapter (4) or an" in refused(reset_command, what, root)
    assert other.read_bytes() == learner(root).read_bytes() == before


def test_reset_keeps_a_notebook_with_any_name_and_brings_a_deleted_one_back(root):
    named = learner(root).rename(root / "exercises" / "{mine} [1].ipynb")
    fill(named, RIGHT)
    assert reset_command("90", root) == 0
    assert named.read_bytes() == pristine(root).read_bytes()
    (copy,) = (root / "exercises" / "kept").iterdir()
    assert RIGHT["90.1"] in sources(copy)
    named.unlink()
    assert reset_command("90", root) == 0
    assert learner(root).read_bytes() == pristine(root).read_bytes()
    assert list((root / "exercises" / "kept").iterdir()) == [copy]


@pytest.mark.parametrize("what, words", [("7", "no chapter 7"), ("90.1", "is empty")])
def test_what_cannot_be_reset(root, what, words):
    learner(root).write_bytes(b"")
    assert words in refused(reset_command, what, root)
    assert learner(root).read_bytes() == b""


# What is kept comes back.

EARLIER = "def double(x):\n    return 2 * x"


def keep_three(root):
    """90.1 and 90.2 as they were, then a shorter 90.1, then nothing: all kept."""
    fill(learner(root), RIGHT)
    assert reset_command("90.1", root) == 0
    fill(learner(root), {"90.1": EARLIER})
    assert reset_command("90", root) == 0


def listed(root, capsys, *words):
    capsys.readouterr()
    assert restore_command(*words, root=root) == 0
    return capsys.readouterr().out


def test_what_is_kept_is_listed_by_exercise_and_time(root, capsys):
    assert "has no answers" in listed(root, capsys)
    keep_three(root)
    (root / "exercises" / "kept" / "torn-2026-01-01-000000.ipynb").write_text("{")
    (root / "exercises" / "kept" / "without a time.ipynb").write_text("{")
    lines = [line.split() for line in listed(root, capsys).splitlines()]
    rows = [line[:2] for line in lines if line and line[0].startswith("90.")]
    assert rows == [["90.1", "1"], ["90.1", "2"], ["90.2", "1"], ["90.3", "1"]]
    assert "has no answers" in listed(root, capsys, "91")
    day = time.strftime("%Y-%m-%d")
    assert all(line[2] == day for line in lines if line and line[0] == "90.1")


def test_the_latest_version_comes_back_or_the_one_asked_for(root, capsys):
    keep_three(root)
    others = sources(learner(root))
    others.remove(STUBS["90.1"])
    assert "is restored as it was on" in listed(root, capsys, "90.1")
    assert EARLIER in sources(learner(root))
    assert listed(root, capsys, "90.1", 1)
    texts = sources(learner(root))
    texts.remove(RIGHT["90.1"])
    assert texts == others
    assert "90.1  " in listed(root, capsys) and EARLIER[:10] in listed(root, capsys)


def test_own_cells_beside_an_answer_come_back_with_it(root, capsys):
    notebook = fill(learner(root), RIGHT)
    place = [cell["id"] for cell in notebook["cells"]].index("answer-90-2")
    notebook["cells"].insert(place, sample.code("own", "three = 3"))
    notebook["cells"].insert(place + 2, sample.markdown("note", "My note."))
    write_notebook(learner(root), notebook)
    before = sources(learner(root))
    assert reset_command("90", root) == 0
    for name in RIGHT:
        listed(root, capsys, name)
    assert sources(learner(root)) == before
    assert listed(root, capsys, "90.2", 1)
    assert sources(learner(root)) == before


def test_an_answer_comes_back_where_there_is_no_notebook(root, capsys):
    keep_three(root)
    learner(root).unlink()
    listed(root, capsys, "90.2")
    assert RIGHT["90.2"] in sources(learner(root))


@pytest.mark.parametrize(
    "words, told",
    [
        (("91.1",), "no version of exercise 91.1"),
        (("90.1", 3), "no such version of exercise 90.1"),
        (("90.9",), "no exercise 90.9"),
    ],
)
def test_what_cannot_be_restored(root, words, told):
    keep_three(root)
    before = learner(root).read_bytes()
    assert told in refused(restore_command, *words, root=root)
    assert learner(root).read_bytes() == before


def test_next_is_what_was_begun_first_and_what_is_optional_comes_last():
    def stop(number, passed=(), optional=False, begun=False):
        exercises = {f"{number}.{k}": "" for k in (1, 2)}
        known = {"optional": optional, "exercises": exercises}
        return Stop(number, "", "", passed=passed, begun=begun, **known)

    def following(*stops):
        going = next_exercise(list(stops))
        return going and going[1]

    warm_up, all_of_one = stop(0, optional=True), stop(1, ("1.1", "1.2"), begun=True)
    assert following(warm_up, stop(1), stop(2)) == "1.1"
    assert following(stop(0, ("0.1",), True, True), stop(1)) == "0.2"
    assert following(warm_up, stop(1), stop(2, ("2.1",), begun=True)) == "2.2"
    assert following(warm_up, all_of_one, stop(2)) == "2.1"
    left = stop(1, ("1.1",), begun=True), stop(2), stop(3, ("3.1",), begun=True)
    assert following(warm_up, *left) == "1.2"
    assert following(warm_up, all_of_one) == "0.1"
    assert following(all_of_one) is None


def test_the_dashes_of_an_optional_chapter_lie_within_its_own_ground():
    drawn = map_svg([Stop(0, "", "", optional=True), Stop(1, "", "")])
    sides = r' x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"'
    found = re.findall(rf'<rect class="(.*?)"{sides}', drawn)
    assert [look for look, *_ in found] == ["optional ground", "optional", ""]
    (x, y, w, h), inner, _ = [[*map(int, numbers)] for _, *numbers in found]
    more = inner[0] - x  # on a dark page, half of the dashes' width was lost
    assert more > 0 and [x + more, y + more, w - 2 * more, h - 2 * more] == inner
