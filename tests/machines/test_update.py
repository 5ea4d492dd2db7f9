"""A newer course comes under filled-in exercises, and not a line is lost."""

import errno
import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from unittest.mock import Mock

import pytest

from classroom import all_or_nothing
from classroom.all_or_nothing import BUSY, UNCHANGED, Trouble, alone, finish_first
from classroom.learner.newer_course import OF_ITS_OWN
from classroom.learner.restore import reset_command
from classroom.learner.update import update_command
from classroom.notebook.answers import Learner
from classroom.notebook.files import read_notebook, write_notebook
from classroom.notebook.pristine import Chapter
from tests.course import sample
from tests.course.sample import (
    RIGHT,
    chapter,
    course,
    exercise,
    fill,
    learner,
    pristine,
    refused,
    sources,
)

SAME_STUB = f"def double(x: float):  # or int\n    {sample.BLANK}"
NEW_STUB = f"def triple(number):\n    {sample.BLANK}"


def newer_course(folder):
    """90.1 asks the same, 90.2 changed, 90.3 removed, 90.4 and a chapter added."""
    cells = {"90.1": exercise("90.1", SAME_STUB)}
    cells["90.2"] = exercise("90.2", NEW_STUB, "Mended.")
    cells["90.4"] = exercise("90.4", f"def fourth(x):\n    {sample.BLANK}")
    added = chapter({"91.1": exercise("91.1", "x = ...")}, slug="91_added")
    course(folder, chapter(cells), added)
    (folder / "minigrad").mkdir(exist_ok=True)
    (folder / "minigrad" / "value.py").write_text("NEW = 1\n\n\nEND = 1\n")
    (folder / "chapters").mkdir(exist_ok=True)  # a release has none
    (folder / "chapters" / "91.md").touch()
    return folder


def older_course(folder):
    exercises = {"80.1": exercise("80.1", f"def g(x):\n    {sample.BLANK}")}
    course(folder, chapter(), chapter(exercises, slug="80_gone"))
    (folder / "minigrad").mkdir(exist_ok=True)
    (folder / "minigrad" / "value.py").write_text("OLD = 1\n\n\nEND = 1\n")
    return folder


def learn(root):
    """All answers, a note, a cell and a notebook of one's own."""
    notebook = fill(learner(root), RIGHT)
    notebook["cells"].insert(1, sample.code("own", "import math"))
    notebook["cells"].insert(6, sample.markdown("note", "My note."))
    write_notebook(learner(root), notebook)
    fill(learner(root, "80_gone"), {"80.1": "def g(x): return 80"})
    (root / "exercises" / "mine.ipynb").write_text('{"cells": [], "metadata": {}}')
    (root / "exercises" / "notes.txt").write_text("mine")


def everything(root):
    files = (root / "exercises").rglob("*")
    return {p.name: p.read_bytes() for p in files if p.is_file()}


def contents(root):
    """All of a course but for what is kept."""
    paths = [path.relative_to(root) for path in root.rglob("*")]
    apart = {".minigrad", "kept", ".git", "__pycache__"}
    files = [p for p in paths if (root / p).is_file() and not apart & set(p.parts)]
    return {path.as_posix(): (root / path).read_bytes() for path in files}


@pytest.fixture
def folder(tmp_path):
    """An older course in a folder, learnt in."""
    learn(older_course(tmp_path / "course"))
    return tmp_path / "course"


@pytest.fixture
def newer(tmp_path):
    return str(newer_course(tmp_path / "newer"))


def assert_back(root):
    """The answers and the note are in the newer notebook; return its texts."""
    texts = sources(learner(root))
    assert {RIGHT["90.1"], RIGHT["90.2"], "My note."} <= set(texts)
    assert any("Mended." in text for text in texts)
    return texts


def assert_update(root, source=None):
    """Update, which loses nothing; return the folder with what was kept."""
    before = everything(root)
    assert update_command(source, root) == 0
    return assert_updated(root, before)


def assert_updated(root, before):
    found = Learner(read_notebook(learner(root)), Chapter(pristine(root))).answers()
    answers = {name: cells[-1] for name, cells in found.items()}
    assert answers == {name: RIGHT[name] for name in ("90.1", "90.2")}
    texts = assert_back(root)
    assert "import math" in texts and any("fourth" in text for text in texts)
    added = learner(root, "91_added").read_bytes()
    assert added == pristine(root, "91_added").read_bytes()
    assert not learner(root, "80_gone").exists()
    (kept,) = (root / "exercises" / "kept").iterdir()
    copies = {p.name: p.read_bytes() for p in kept.iterdir() if p.name in before}
    assert copies == before
    assert RIGHT["90.3"] in sources(kept / "removed-90_sample.ipynb")
    assert (root / "exercises" / "mine.ipynb").read_bytes() == before["mine.ipynb"]
    assert (root / "exercises" / "notes.txt").read_text() == "mine"
    assert (root / "minigrad" / "value.py").read_text().startswith("NEW = 1")
    return kept


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_from_a_folder_or_a_zip(tmp_path, capsys, kind):
    root = older_course(tmp_path / "course, 강의")
    learn(root)
    (root / "minigrad" / "value.py").write_text("MINE = 1\n")
    newer = newer_course(tmp_path / "zipped" / "minigrad-main")
    (newer / "run").touch(0o755)
    if kind == "zip":
        newer = shutil.make_archive(tmp_path / "newer", "zip", newer.parent)
    kept = assert_update(root, str(newer))
    assert os.name == "nt" or os.access(root / "run", os.X_OK)
    assert (kept / "course" / "minigrad" / "value.py").read_text() == "MINE = 1\n"
    assert not pristine(root, "80_gone").exists()
    out = capsys.readouterr().out
    assert "answers put back: 90.1, 90.2." in out
    assert "80_gone.ipynb: the course no longer has this chapter" in out
    assert "The blanks of 90.2 are different now. Your answers are" in out
    assert "files of the course were replaced by newer ones" in out
    assert "Traceback" not in out


def test_unreadable_and_renamed_notebooks(folder, newer, capsys):
    root, broken = folder, folder / "exercises" / "broken.ipynb"
    learner(root).rename(root / "exercises" / "my own name.ipynb")
    learner(root, "80_gone").write_text("<<<<<<< HEAD\n{}")
    broken.write_text("{")
    assert update_command(newer, root) == 0
    texts = sources(root / "exercises" / "my own name.ipynb")
    assert RIGHT["90.2"] in texts and any("Mended." in text for text in texts)
    assert not learner(root).exists(), "a blank one would hide the other"
    assert broken.read_text() == "{"
    assert "a fresh one is in its place" not in capsys.readouterr().out
    assert learner(root, "80_gone").read_text() == "<<<<<<< HEAD\n{}"


def test_a_release_of_other_chapters_takes_none_away(folder, newer, capsys):
    shutil.rmtree(Path(newer, "chapters"))
    before = learner(folder, "80_gone").read_bytes()
    assert update_command(newer, folder) == 0
    assert pristine(folder, "80_gone").exists()
    assert pristine(folder, "91_added").exists()
    assert learner(folder, "80_gone").read_bytes() == before
    assert "no longer" not in capsys.readouterr().out


@pytest.mark.parametrize("where", ["copy", "_put_back_one", "write_journal"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("No space left")])
def test_an_update_that_stops_early_has_changed_nothing(
    folder, newer, monkeypatch, where, error
):
    before = contents(folder)
    with monkeypatch.context() as context:
        stopped = Mock(side_effect=error)
        context.setattr(f"classroom.learner.update.{where}", stopped)
        with pytest.raises((KeyboardInterrupt, Trouble)) as ended:
            update_command(newer, folder)
    assert ended.type is KeyboardInterrupt or UNCHANGED in str(ended.value)
    assert contents(folder) == before
    assert not (folder / ".minigrad" / "change").exists()
    assert update_command(newer, folder) == 0
    assert_back(folder)


@pytest.mark.parametrize("make", ["missing", "not a course", "damaged", "itself"])
def test_sources_that_are_none(tmp_path, make):
    root = older_course(tmp_path / "course")
    source = root if make == "itself" else tmp_path / "source"
    if make == "not a course":
        source.mkdir()
    if make == "damaged":
        newer = newer_course(tmp_path / "zipped" / "minigrad-main")
        source = Path(shutil.make_archive(source, "zip", newer.parent))
        content = bytearray(source.read_bytes())
        content[len(content) // 2 : len(content) // 2 + 40] = bytes(40)
        source.write_bytes(content)
    assert str(source) in refused(update_command, str(source), root)
    assert not (root / "exercises" / "kept").exists()


# Which course is taken.


def dated(folder, date):
    (folder / "classroom" / "version.txt").write_text(f"{date}\n")
    return folder


def told(capsys):
    """What was printed, without its lines."""
    return " ".join(capsys.readouterr().out.split())


def test_an_older_course_is_not_taken(tmp_path, folder):
    root = dated(folder, "2026-05-01T10:00:00Z")
    before = contents(folder)
    older = dated(newer_course(tmp_path / "zip" / "main"), "2026-05-01T09:59Z")
    older = shutil.make_archive(tmp_path / "older", "zip", older.parent)
    said = refused(update_command, str(older), root)
    assert "the version of 2026-05-01 09:59, and yours is the" in said
    assert contents(root) == before
    assert not (root / "exercises" / "kept").exists()


def test_a_newer_course_is_named_by_its_date(folder, newer, capsys):
    dated(folder, "2026-05-01T10:00:00+02:00")
    dated(Path(newer), "2026-05-01T09:00:00+00:00")
    assert update_command(newer, folder) == 0
    after = "It was the version of 2026-05-01 10:00, and is now the version of 2026"
    assert after in told(capsys)


def test_of_several_courses_in_a_folder_none_is_taken(tmp_path, folder):
    downloads = tmp_path / "Downloads"
    newer_course(downloads / "minigrad-main")
    newer_course(downloads / "minigrad-main (1)")
    said = refused(update_command, str(downloads), folder)
    assert "several courses: minigrad-main, minigrad-main (1)." in said
    assert not (folder / "exercises" / "kept").exists()


LATER = "def double(x):\n    return sum([x, x])"


# With git: `upstream` is where the course comes from, `root` the learner's clone.


def git(folder, *words):
    me = ["-c", "user.name=me", "-c", "user.email=me@localhost"]
    command = ["git", *me, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def commit(folder):
    git(folder, "add", "-A")
    assert git(folder, "commit", "-q", "-m", "x").returncode == 0


@pytest.fixture
def upstream(tmp_path):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    folder = older_course(tmp_path / "upstream")
    (folder / ".gitignore").write_text("exercises/kept/\n.minigrad/\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


@pytest.fixture
def root(tmp_path, upstream):
    """The learner's clone, learnt in."""
    git(tmp_path, "clone", "-q", str(upstream), "clone")
    learn(tmp_path / "clone")
    return tmp_path / "clone"


def publish(upstream):
    """What a newer course looks like to git: files changed, added and removed."""
    newer_course(upstream)
    pristine(upstream, "80_gone").unlink()
    learner(upstream, "80_gone").unlink()
    commit(upstream)


def head(root):
    return git(root, "rev-parse", "HEAD").stdout


@pytest.mark.parametrize("before", ["changed", "committed"])
def test_git_with_exercises(upstream, root, capsys, before):
    if before == "committed":
        (root / "mine.py").write_text("MINE = 1\n")
        commit(root)
    publish(upstream)
    was = head(root)
    assert_update(root)
    assert head(root) == was and (root / "mine.py").exists() == (before == "committed")
    capsys.readouterr()
    assert update_command(None, root) == 0
    said = "".join(capsys.readouterr().out.split())
    assert "thenewestcourse" in said and "gitremoteaddupstream" in said
    assert f"{upstream}hasnothingnewer" in said


def test_a_merge_that_git_has_not_ended_is_not_mixed_with(upstream, root):
    commit(root)
    publish(upstream)
    git(root, "pull", "-q", "--no-rebase")
    before = everything(root)
    assert "<<<<<<<" in learner(root).read_text("utf-8")
    assert "in the middle of a merge" in refused(update_command, None, root)
    assert everything(root) == before


TEXT = Path(__file__).with_name("git_settings.toml").read_text("utf-8")
SETTINGS = tomllib.loads(TEXT)
HOOKS = "post-checkout pre-merge-commit prepare-commit-msg commit-msg pre-commit"
HOOKS += " post-merge reference-transaction post-index-change"


def settle(root, settings, monkeypatch):
    """Give a clone such settings, and the attributes, hooks and files of them."""
    for name, value in settings.items():
        if name.startswith("GIT_"):
            monkeypatch.setenv(name, value)
        elif name.endswith("attributes"):
            place = root if name[0] == "." else root / ".git" / "info"
            place.mkdir(exist_ok=True)
            text = f"* filter={value} merge={value}\n"
            (place / name).write_text(text)
        elif name == "hooks":
            for hook in HOOKS.split():
                path = root / ".git" / value / hook
                path.parent.mkdir(exist_ok=True)
                path.write_text("#!/bin/sh\necho says a hook\nexit 1\n")
                path.chmod(0o755)
        elif "." not in name:
            (root / ".git" / name).write_text(value)
        else:
            here = value in ("other", "all")
            value = str(root / ".git" / value) if here else value
            for where in "--local", "--global":
                assert git(root, "config", where, name, value).returncode == 0


@pytest.mark.posix
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_git_do_not_change_what_update_does_or_says(
    tmp_path, upstream, root, monkeypatch, name
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (root / "mine.py").write_text("MINE = 1\n")
    commit(root)
    (root / "new.txt").write_text("mine too")
    (root / "minigrad" / "value.py").write_text("MINE = 1\n\n\nEND = 1\n")
    (upstream / "new.txt").write_text("the course's")
    publish(upstream)
    settle(root, SETTINGS[name], monkeypatch)
    was = head(root)
    kept = assert_update(root)
    assert (kept / "course" / "new.txt").read_text() == "mine too"
    assert (root / "new.txt").read_text() == "the course's"
    for path in contents(root):
        assert b"\r" not in (root / path).read_bytes()
    assert head(root) == was


@pytest.mark.posix
@pytest.mark.parametrize("call", ["fcntl.flock", "os.fsync"])
def test_a_disk_without_locks_stops_no_command(tmp_path, monkeypatch, call):
    """Or one, as of a network, that cannot say when a file is on it."""
    unknown = Mock(side_effect=OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)))
    root = course(tmp_path)
    monkeypatch.setattr(call, unknown)
    assert reset_command("90", root) == 0 and unknown.called


def test_git_with_a_part_of_the_history(tmp_path, upstream):
    git(tmp_path, "clone", "-q", "--depth=1", upstream.as_uri(), "part")
    learn(tmp_path / "part")
    (tmp_path / "part" / "mine.py").write_text("MINE = 1\n")
    commit(tmp_path / "part")
    publish(upstream)
    assert_update(tmp_path / "part")


def test_git_that_cannot_fetch_or_has_no_remote(upstream, root):
    before = everything(root)
    shutil.rmtree(upstream)
    said = refused(update_command, None, root)
    assert "git could not fetch the newer course" in said and UNCHANGED in said
    git(root, "remote", "remove", "origin")
    assert "git remote add upstream" in refused(update_command, None, root)
    assert everything(root) == before


# An update that was cut off, at any of the moments that matter.


class Killed(BaseException):
    """Nothing catches it: what was to come after does not."""


def break_off(monkeypatch, act, after=0):
    """Let `act` happen once so many files are in place, the journal among them."""
    put_in_place, moved = all_or_nothing.put_in_place, []

    def put(new, path):
        put_in_place(new, path)
        moved.append(path)
        if len(moved) == after + 1:
            act()

    monkeypatch.setattr("classroom.all_or_nothing.put_in_place", put)


def cut_off(monkeypatch, root, newer, after):
    with monkeypatch.context() as context:
        break_off(context, Mock(side_effect=Killed), after)
        with pytest.raises(Killed):
            update_command(newer, root)


@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_the_next_command_finishes_an_update_that_was_killed(
    folder, newer, capsys, monkeypatch, after
):
    before = everything(folder)
    cut_off(monkeypatch, folder, newer, after)
    capsys.readouterr()
    finish_first(folder)
    assert_updated(folder, before)
    said = capsys.readouterr().out
    assert "was interrupted. It is finished now" in said
    assert "answers put back: 90.1, 90.2." in said
    finish_first(folder)
    assert capsys.readouterr().out == ""


def test_a_clone_that_git_distrusts_is_told_of(root, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as somebody else's
    assert "dubious ownership" in refused(update_command, None, root)


def test_what_is_saved_after_the_kill_is_not_written_over(
    folder, newer, capsys, monkeypatch
):
    cut_off(monkeypatch, folder, newer, 0)
    fill(learner(folder), {"90.1": LATER})
    finish_first(folder)
    assert "90_sample.ipynb: you saved this while" in capsys.readouterr().out
    assert LATER in sources(learner(folder))
    assert learner(folder, "91_added").exists()


def test_a_journal_that_cannot_be_followed_says_why_and_waits(
    folder, newer, monkeypatch
):
    before = everything(folder)
    cut_off(monkeypatch, folder, newer, 0)
    with monkeypatch.context() as context:
        full = OSError(28, "No space left on device")
        context.setattr("classroom.all_or_nothing.os.replace", Mock(side_effect=full))
        with pytest.raises(
            Trouble, match="No space left .* continues where it stopped"
        ):
            finish_first(folder)
    finish_first(folder)
    assert_updated(folder, before)


def test_a_folder_of_the_course_on_another_disk(folder, newer, monkeypatch):
    replace = os.replace

    def only_beside(new, path):
        if Path(new).parent != Path(path).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(new, path)

    monkeypatch.setattr("classroom.all_or_nothing.os.replace", only_beside)
    assert_update(folder, newer)
    assert not list(folder.rglob("*.unfinished"))


def test_whoever_comes_second_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.all_or_nothing.PATIENCE", 0.2)
    with alone(tmp_path):
        for second in update_command, reset_command:
            assert refused(second, "90", tmp_path) == BUSY


@pytest.mark.posix
def test_a_git_that_outlives_its_update_holds_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.all_or_nothing.PATIENCE", 0.2)
    with alone(tmp_path):
        process = subprocess.Popen(["sleep", "60"], **OF_ITS_OWN)
    with pytest.raises(Trouble, match="is running in this course"), alone(tmp_path):
        pass
    process.kill()
    process.wait()
    with alone(tmp_path):
        pass
