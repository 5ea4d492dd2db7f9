"""A newer course comes under filled-in exercises, and not a line is lost."""

import errno
import os
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path
from unittest.mock import Mock

import pytest
import sample
from sample import RIGHT, chapter, course, exercise, fill, learner, pristine, sources

from classroom import __main__ as commands
from classroom import journal
from classroom.journal import BUSY, OF_ITS_OWN, Trouble, alone, finish_first
from classroom.learner.find import find
from classroom.learner.reset import reset_command
from classroom.learner.restore import take_newest
from classroom.learner.update import update_command
from classroom.notebook.answers import Learner
from classroom.notebook.files import read_notebook, write_notebook
from classroom.notebook.pristine import Chapter, all_chapters

NEW_STUB = f"def triple(number):\n    {sample.BLANK}"


def newer_course(folder):
    """90.1 as it was, 90.2 changed, 90.3 removed, 90.4 and a chapter added."""
    cells = {"90.1": exercise("90.1"), "90.2": exercise("90.2", NEW_STUB, "Mended.")}
    cells["90.4"] = exercise("90.4", f"def fourth(x):\n    {sample.BLANK}")
    added = chapter({"91.1": exercise("91.1", "x = ...")}, slug="91_added")
    course(folder, chapter(cells), added)
    (folder / "minigrad").mkdir(exist_ok=True)
    (folder / "minigrad" / "value.py").write_text("NEW = 1\n\n\nEND = 1\n")
    (folder / "chapters").mkdir(exist_ok=True)  # a release has none
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
    if kind == "zip":
        newer = shutil.make_archive(tmp_path / "newer", "zip", newer.parent)
    kept = assert_update(root, str(newer))
    assert (kept / "course" / "minigrad" / "value.py").read_text() == "MINE = 1\n"
    assert not pristine(root, "80_gone").exists()
    out = capsys.readouterr().out
    assert "answers back in place: 90.1, 90.2. Changed, check again: 90.2." in out
    assert "80_gone.ipynb: the course has this chapter no longer" in out
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
    Path(newer, "chapters").rmdir()
    before = learner(folder, "80_gone").read_bytes()
    assert update_command(newer, folder) == 0
    assert pristine(folder, "80_gone").exists()
    assert pristine(folder, "91_added").exists()
    assert learner(folder, "80_gone").read_bytes() == before
    assert "no longer" not in capsys.readouterr().out


@pytest.mark.parametrize("where", ["copy", "_put_back_one", "write_journal"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("No space left")])
def test_an_update_that_stops_early_has_changed_nothing(
    folder, newer, capsys, monkeypatch, where, error
):
    before, code = contents(folder), 130 if error is KeyboardInterrupt else 2
    with monkeypatch.context() as context:
        stopped = Mock(side_effect=error)
        context.setattr(f"classroom.learner.update.{where}", stopped)
        assert update_command(newer, folder) == code
    assert "Your notebooks" in capsys.readouterr().out
    assert contents(folder) == before
    assert not (folder / ".minigrad" / "change").exists()
    assert update_command(newer, folder) == 0
    assert_back(folder)


@pytest.mark.parametrize(
    "make", ["missing", "not a course", "not a zip", "damaged", "itself"]
)
def test_sources_that_are_none(tmp_path, capsys, make):
    root = older_course(tmp_path / "course")
    source = root if make == "itself" else tmp_path / "source"
    if make == "not a course":
        source.mkdir()
    if make == "not a zip":
        source.write_text("hello")
    if make == "damaged":
        newer = newer_course(tmp_path / "zipped" / "minigrad-main")
        source = Path(shutil.make_archive(source, "zip", newer.parent))
        content = bytearray(source.read_bytes())
        content[len(content) // 2 : len(content) // 2 + 40] = bytes(40)
        source.write_bytes(content)
    assert update_command(str(source), root) == 2
    assert str(source) in capsys.readouterr().out.replace("\n", "")
    assert not (root / "exercises" / "kept").exists()


# Which course is taken.


def dated(folder, date):
    (folder / "classroom" / "version.txt").write_text(f"{date}\n")
    return folder


def answering(monkeypatch, answer):
    monkeypatch.setattr("builtins.input", lambda question: print(question) or answer)


def nobody(monkeypatch):
    monkeypatch.setattr("builtins.input", Mock(side_effect=EOFError))


def assert_not_taken(monkeypatch, source, root):
    """Nothing changes where nobody answers, or not with yes."""
    before = contents(root)
    nobody(monkeypatch)
    assert update_command(source, root) == 2
    for answer in "n", "":
        answering(monkeypatch, answer)
        assert update_command(source, root) == 2
    assert contents(root) == before and not (root / "exercises" / "kept").exists()


def told(capsys):
    """What was printed, without its lines."""
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("kind", "date", "there"),
    [
        ("folder", "2026-05-01T09:59Z", "of 2026-05-01 09:59"),
        ("zip", "2026-05-01T09:59Z", "of 2026-05-01 09:59"),
        ("zip", "$Format:%cI$", "of an unknown date"),
    ],
)
def test_an_older_course_is_not_taken_unasked(
    tmp_path, folder, capsys, monkeypatch, kind, date, there
):
    root = dated(folder, "2026-05-01T10:00:00Z")
    older = dated(newer_course(tmp_path / "zip" / "minigrad-main"), date)
    if kind == "zip":
        older = shutil.make_archive(tmp_path / "older", "zip", older.parent)
    assert_not_taken(monkeypatch, str(older), root)
    said = told(capsys)
    assert f"is {there}, yours of 2026-05-01 10:00." in said
    assert "Nothing was taken." in said
    answering(monkeypatch, "y")
    assert update_command(str(older), root) == 0
    after = f"up to date: that {there}, after that of 2026-05-01 10:00."
    assert after in told(capsys) and learner(root, "91_added").exists()


def test_a_newer_course_is_taken_unasked_and_named(folder, newer, capsys, monkeypatch):
    dated(folder, "2026-05-01T10:00:00+02:00")
    dated(Path(newer), "2026-05-01T09:00:00+00:00")
    nobody(monkeypatch)
    assert update_command(newer, folder) == 0
    after = "that of 2026-05-01 09:00, after that of 2026-05-01 10:00."
    assert after in told(capsys)


def test_a_folder_that_only_contains_a_course_is_asked_about(
    tmp_path, folder, capsys, monkeypatch
):
    root, downloads = folder, tmp_path / "Downloads"
    dated(newer_course(downloads / "minigrad-main"), "2026-05-01T09:00:00+00:00")
    newer_course(downloads / "minigrad-main (1)")
    assert_not_taken(monkeypatch, str(downloads), root)
    said = "minigrad-main in it is one, of 2026-05-01 09:00. Take minigrad-main?"
    assert said in told(capsys)
    answering(monkeypatch, "yes")
    assert update_command(str(downloads), root) == 0
    assert learner(root, "91_added").exists()


# A chapter that has another name now, in a JupyterLab that was open all the while.


@pytest.fixture
def renamed(tmp_path):
    """A course whose chapter has just been renamed by an update."""
    root = course(tmp_path / "course")
    fill(learner(root), {"90.1": RIGHT["90.1"], "90.2": RIGHT["90.2"]})
    shutil.copy(learner(root), tmp_path / "open.ipynb")
    newer = course(tmp_path / "newer", chapter(slug="90_renamed"))
    (newer / "chapters").mkdir()
    assert update_command(str(newer), root) == 0
    assert not learner(root).exists()
    assert RIGHT["90.1"] in sources(learner(root, "90_renamed"))
    return root


def saved_by_jupyterlab(root, path, answers, later):
    """Save what JupyterLab has, some seconds after the update."""
    shutil.copy(root.parent / "open.ipynb", path)
    fill(path, answers)
    os.utime(path, (path.stat().st_mtime + later,) * 2)


LATER = "def double(x):\n    return sum([x, x])"


def test_what_jupyterlab_saves_under_the_former_name_counts(renamed, capsys):
    root, new = renamed, learner(renamed, "90_renamed")
    fill(new, {"90.3": RIGHT["90.3"]})
    saved_by_jupyterlab(root, learner(root), {"90.1": LATER}, later=5)
    before = {learner(root).read_bytes(), new.read_bytes()}
    take_newest(root)
    said = capsys.readouterr().out
    assert "90_sample.ipynb is the former name of 90_renamed.ipynb" in said
    newest = "The newest text, that of 90_sample.ipynb, is in 90_renamed.ipynb now"
    assert newest in said
    path, found, _ = find("90", all_chapters(root), root)
    answers = Learner(read_notebook(path), found).answers()
    assert RIGHT["90.3"] in answers.pop("90.3")
    assert answers == {"90.1": [LATER], "90.2": [RIGHT["90.2"]]}
    assert not learner(root).exists()
    kept = (root / "exercises" / "kept").glob("*.ipynb")
    assert {path.read_bytes() for path in kept} == before
    capsys.readouterr()
    take_newest(root)
    assert capsys.readouterr().out == ""


def test_what_was_saved_last_counts_under_the_new_name_too(renamed):
    new = learner(renamed, "90_renamed")
    saved_by_jupyterlab(renamed, learner(renamed), {"90.3": RIGHT["90.3"]}, later=-60)
    fill(new, {"90.1": LATER})
    take_newest(renamed)
    assert {LATER, RIGHT["90.2"], RIGHT["90.3"]} <= set(sources(new))
    assert not learner(renamed).exists()


@pytest.mark.parametrize("there", [None, "{"])
def test_a_former_notebook_counts_where_the_other_is_gone_or_torn(renamed, there):
    new = learner(renamed, "90_renamed")
    new.unlink()
    if there:
        new.write_text(there)
    saved_by_jupyterlab(renamed, learner(renamed), {"90.1": LATER}, later=-5)
    take_newest(renamed)
    assert {LATER, RIGHT["90.2"]} <= set(sources(new))


def test_each_command_looks_for_former_names_and_leaves_all_others(
    renamed, capsys, monkeypatch
):
    mine = renamed / "exercises" / "90_sample-Copy1.ipynb"
    for path in mine, renamed / "exercises" / "mine.ipynb", learner(renamed):
        saved_by_jupyterlab(renamed, path, {"90.1": LATER}, later=5)
    monkeypatch.setattr(commands, "ROOT", renamed)
    monkeypatch.setattr(commands, "app", lambda prog_name: None)
    commands.main()
    assert LATER in sources(learner(renamed, "90_renamed"))
    assert mine.exists() and (renamed / "exercises" / "mine.ipynb").exists()
    assert not learner(renamed).exists()


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


def assert_newest(upstream, root):
    head = git(upstream, "rev-parse", "HEAD").stdout.strip()
    assert git(root, "merge-base", "--is-ancestor", head, "HEAD").returncode == 0


@pytest.mark.parametrize("before", ["changed", "committed", "in a conflict"])
def test_git_with_exercises(upstream, root, capsys, before):
    if before != "changed":
        (root / "mine.py").write_text("MINE = 1\n")
        commit(root)
    publish(upstream)
    if before != "committed":
        pulled = git(root, "pull", "-q", "--no-rebase")
        assert pulled.returncode != 0  # git alone cannot
    conflict = "<<<<<<<" in learner(root).read_text("utf-8")
    assert conflict == (before == "in a conflict")
    assert_update(root)
    assert_newest(upstream, root)
    assert ("MINE" in git(root, "log", "-p").stdout) == (before != "changed")
    assert len(git(root, "worktree", "list").stdout.splitlines()) == 1
    capsys.readouterr()
    assert update_command(None, root) == 0
    said = "".join(capsys.readouterr().out.split())
    assert "newestcoursealready" in said and "gitremoteaddupstream" in said
    assert f"origin,{upstream},hasnothingnewer" in said


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
    tmp_path, upstream, root, capsys, monkeypatch, name
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
    kept = assert_update(root)
    said = capsys.readouterr().out
    assert "2 more files were different; yours are kept too." in said
    assert (kept / "course" / "minigrad" / "value.py").read_text().startswith("MINE")
    assert (kept / "course" / "new.txt").read_text() == "mine too"
    assert (root / "new.txt").read_text() == "the course's"
    for path in contents(root):
        assert b"\r" not in (root / path).read_bytes()
    monkeypatch.undo()
    assert_newest(upstream, root)
    for place in root / ".gitattributes", root / ".git" / "info" / "attributes":
        place.unlink(missing_ok=True)
    changed = git(root, "-c", "core.excludesFile=/dev/null", "status", "--porcelain")
    changed = {line[3:] for line in changed.stdout.splitlines()}
    assert changed and all(n.startswith("exercises/") for n in changed), changed


@pytest.mark.parametrize("words", [["--depth=1"], ["--filter=blob:none"]])
def test_git_with_a_part_of_the_history(tmp_path, upstream, words):
    git(upstream, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", *words, upstream.as_uri(), "part")
    learn(tmp_path / "part")
    (tmp_path / "part" / "mine.py").write_text("MINE = 1\n")
    commit(tmp_path / "part")
    publish(upstream)
    assert_update(tmp_path / "part")
    assert_newest(upstream, tmp_path / "part")


def test_git_with_a_stash_that_did_not_fit(upstream, root):
    git(root, "stash", "-q")
    publish(upstream)
    git(root, "pull", "-q")
    assert git(root, "stash", "pop", "-q").returncode != 0
    assert "<<<<<<<" in learner(root).read_text("utf-8")
    before = everything(root)
    assert update_command(None, root) == 0
    assert_back(root)
    (kept,) = (root / "exercises" / "kept").iterdir()
    assert {p.name: p.read_bytes() for p in kept.iterdir() if p.is_file()} == before


def test_git_in_the_middle_of_a_rebase(upstream, root, capsys):
    commit(root)
    publish(upstream)
    git(root, "pull", "-q", "--rebase")
    before = everything(root)
    assert update_command(None, root) == 2
    assert "rebase is under way" in capsys.readouterr().out
    assert everything(root) == before


def test_git_with_a_history_written_anew(upstream, root):
    shutil.rmtree(upstream / ".git")
    git(upstream, "init", "-q", "-b", "main")
    publish(upstream)
    assert update_command(None, root) == 0
    assert_back(root)
    assert_newest(upstream, root)


def test_git_that_cannot_fetch_or_has_no_remote(upstream, root, capsys):
    before = everything(root)
    shutil.rmtree(upstream)
    assert update_command(None, root) == 2
    assert "git could not fetch the newer course" in capsys.readouterr().out
    git(root, "remote", "remove", "origin")
    assert update_command(None, root) == 2
    assert "git remote add upstream" in capsys.readouterr().out
    assert everything(root) == before


def test_git_that_fails_leaves_everything_as_it_was(upstream, root, capsys):
    publish(upstream)
    before = everything(root)
    (root / ".git" / "refs" / "heads" / "main.lock").touch()
    assert update_command(None, root) == 2
    assert "had changed, are as they were" in told(capsys)
    shutil.rmtree(root / "exercises" / "kept")
    assert everything(root) == before


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_waits_until_an_update_is_done(
    folder, newer, capsys, monkeypatch, name
):
    number = getattr(signal, name, signal.SIGINT)  # Windows has no SIGHUP
    before = signal.signal(number, signal.default_int_handler)
    try:
        break_off(monkeypatch, lambda: signal.raise_signal(number))
        assert_update(folder, newer)
        said = capsys.readouterr().out
        assert "One moment" in said and "The course is up to date" in said
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)


# An update that was cut off, at any of the moments that matter.


class Killed(BaseException):
    """Nothing catches it: what was to come after does not."""


def break_off(monkeypatch, act, after=0):
    """Let `act` happen once so many files are in place, the journal among them."""
    put_in_place, moved = journal.put_in_place, []

    def put(new, path):
        put_in_place(new, path)
        moved.append(path)
        if len(moved) == after + 1:
            act()

    monkeypatch.setattr("classroom.journal.put_in_place", put)


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
    assert "was cut off before its end. It is finished now" in said
    assert "answers back in place: 90.1, 90.2. Changed, check again: 90.2." in said
    finish_first(folder)
    assert capsys.readouterr().out == ""


def test_a_clone_that_git_distrusts_is_no_rebase(root, capsys, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as somebody else's
    assert update_command(None, root) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "dubious ownership" in said and "safe.directory" in said
    assert "rebase" not in said


@pytest.mark.parametrize("after", [0, 2, 6])
def test_git_that_was_killed_with_an_update(upstream, root, capsys, monkeypatch, after):
    publish(upstream)
    before = everything(root)
    cut_off(monkeypatch, root, None, after)
    (root / ".git" / "index.lock").touch()  # as a killed git leaves it
    assert update_command(None, root) == 0
    assert "newest course already" in capsys.readouterr().out
    assert_updated(root, before)
    assert_newest(upstream, root)
    (root / ".git" / "index.lock").unlink()
    changed = git(root, "status", "--porcelain").stdout.split()
    assert not [name for name in changed if len(name) > 2 and "exercises/" not in name]


def test_what_is_saved_after_the_kill_is_not_written_over(
    folder, newer, capsys, monkeypatch
):
    cut_off(monkeypatch, folder, newer, 0)
    fill(learner(folder), {"90.1": LATER})
    finish_first(folder)
    assert "90_sample.ipynb: you saved it while" in capsys.readouterr().out
    assert LATER in sources(learner(folder))
    assert learner(folder, "91_added").exists()


def test_a_journal_that_cannot_be_followed_says_why_and_waits(
    folder, newer, monkeypatch
):
    before = everything(folder)
    cut_off(monkeypatch, folder, newer, 0)
    with monkeypatch.context() as context:
        full = OSError(28, "No space left on device")
        context.setattr("classroom.journal.os.replace", Mock(side_effect=full))
        with pytest.raises(Trouble, match="No space left .* goes on where it stopped"):
            finish_first(folder)
    finish_first(folder)
    assert_updated(folder, before)


def test_a_folder_of_the_course_on_another_disk(folder, newer, monkeypatch):
    replace = os.replace

    def only_beside(new, path):
        if Path(new).parent != Path(path).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(new, path)

    monkeypatch.setattr("classroom.journal.os.replace", only_beside)
    assert_update(folder, newer)
    assert not list(folder.rglob("*.unfinished"))


def test_room_is_asked_for_first(folder, newer, capsys, monkeypatch):
    before, full = contents(folder), Mock(return_value=Mock(free=1000))
    monkeypatch.setattr("classroom.learner.newer_course.shutil.disk_usage", full)
    assert update_command(newer, folder) == 2
    assert "The disk is nearly full: an update needs 0." in told(capsys)
    assert contents(folder) == before
    assert not (folder / "exercises" / "kept").exists()


def test_whoever_comes_second_is_told_in_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("classroom.journal.PATIENCE", 0.2)
    with alone(tmp_path):
        for second in update_command, reset_command:
            assert second("90", tmp_path) == 2
            assert told(capsys) == BUSY


@pytest.mark.posix
def test_a_git_that_outlives_its_update_holds_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.journal.PATIENCE", 0.2)
    with alone(tmp_path):
        process = subprocess.Popen(["sleep", "60"], **OF_ITS_OWN)
    with pytest.raises(Trouble, match="at this moment"), alone(tmp_path):
        pass
    process.kill()
    process.wait()
    with alone(tmp_path):
        pass
