"""A release works by itself, and contains no answer; nbgrader accepts it."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author.blanks import SOLUTION
from classroom.author.chapters import chapters
from classroom.learner.newer_course import version
from classroom.teacher import release as release_module
from tests.course import hostile


@functools.cache
def secrets():
    """Return by name what must not be in a release."""
    return {
        f"{ex.name} {kind}": text
        for chapter in chapters()
        for ex in chapter.exercises.values()
        for kind, text in [
            ("hidden check", ex.drawn),
            *(
                (f"solution {k}", body)
                for k, (_, body) in enumerate(SOLUTION.findall(ex.solution + "\n"))
                if len(body.split()) > 3  # `leaf.grad = None` stands elsewhere, too
            ),
            *((f"right: {title}", text) for title, text in ex.right.items()),
        ]
        if ex.points or kind == "hidden check"
    }


def command(*words, cwd=ROOT, env=None):
    """Run the course's command there; return its exit code and what it printed."""
    words = [sys.executable, "-P", "-m", "classroom", *map(str, words)]
    run = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def words_of(text):
    """Return a text without its layout, so that an indented copy is found, too."""
    return re.sub(r"\s+", " ", text).strip()


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "course"
    code, said = command("release", out)
    assert code == 0, said
    return out


def test_nothing_secret_is_in_a_release(release):
    assert len(secrets()) > 100 and "at_sum" in secrets()["4.2 solution 1"]
    for path in release.rglob("*"):
        if path.suffix == ".ipynb":
            text = "\n".join(strings(json.loads(path.read_text("utf-8"))))
        elif path.is_file() and path.suffix not in (".safetensors", ".npz", ".png"):
            text = path.read_text("utf-8")
        else:
            continue
        text = words_of(text)
        found = [name for name, secret in secrets().items() if words_of(secret) in text]
        assert not found, path
        assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text, path


def strings(value):
    """Yield all texts in a notebook: sources, outputs, metadata."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def test_a_release_has_all_that_students_need_and_no_more(release):
    names = {path.name for path in release.iterdir()}
    assert not {"chapters", "solutions", "benchmarks", "CONTRIBUTING.md"} & names
    assert {"course.py", "notebooks", "exercises", "minigrad", "README.md"} <= names
    modules = {path.stem for path in (release / "classroom").rglob("*.py")}
    assert {"check", "all_or_nothing", "expect", "under_nbval"} <= modules
    assert not {"build", "chapters", "grade", "release", "sandbox"} & modules
    for folder in ("notebooks", "exercises", "classroom/pristine"):
        assert len(list((release / folder).glob("*.ipynb"))) == len(chapters())
    assert str(version(release)) == str(version(ROOT))
    for page in (release / "README.md", *release.glob("docs/*.md")):
        text = page.read_text("utf-8")
        assert "chapters/" not in text and "solutions" not in text, page
        assert not re.search(r"\bgrade\b|handed out", text), page
    assert dangling(release) == [] and len(list(release.glob("docs/*.md"))) == 4
    run = [sys.executable, str(release / "course.py"), "help"]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "  hint " in said and "  break " not in said and "solution" not in said


def dangling(course):
    """Return what pages of a course link to that is not there."""
    pages = [*course.glob("*.md"), *course.glob("docs/*.md")]
    links = {
        page.parent / link.partition("#")[0]
        for page in pages
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text("utf-8"))
    }
    return [link for link in links if not link.exists()]


def test_every_link_of_ours_leads_somewhere():
    assert dangling(ROOT) == []


def test_checks_work_in_a_release(release, tmp_path):
    place = tmp_path / "course"
    shutil.copytree(release, place)
    answers = hostile.SOLVED | {"4.3": hostile.WRONG}
    made = json.dumps(hostile.notebook(answers))
    (place / "exercises" / hostile.FILE).write_text(made, "utf-8")
    env = {**os.environ, "PYTHONPATH": str(place)}
    code, said = command("check", "4", cwd=place, env=env)
    assert code == 1 and said.count("passed") == len(hostile.SOLVED) - 1, said
    assert "your answer: [1, 1, 1]" in said and "solutions" not in said
    code, said = command("progress", cwd=place, env=env)
    assert code == 0 and "Traceback" not in said, said
    run = [sys.executable, str(place / "course.py"), "grade", "x"]
    told = subprocess.run(run, capture_output=True, text=True)
    assert told.returncode == 2 and "There is no command `grade`" in told.stderr


def test_what_is_out_of_date_is_not_handed_out(tmp_path, monkeypatch):
    monkeypatch.setattr(release_module, "problems", lambda chapters: ["4 is stale"])
    with pytest.raises(Trouble, match="4 is stale. Run: python3 course.py build"):
        release_module.release_command(tmp_path / "out", "4", False, None)
    assert not (tmp_path / "out").exists()


def test_some_chapters_only(tmp_path):
    code, said = command("release", tmp_path / "out", "--chapters", "3-4")
    assert code == 0 and "2 chapters" in said
    paths = sorted((tmp_path / "out" / "notebooks").iterdir())
    assert [path.name[:2] for path in paths] == ["03", "04"]
    lessons = [path.read_text("utf-8") for path in paths]
    assert "Next: [" in lessons[0] and "Next: [" not in lessons[1]
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "04_blame" in text and "05_" not in text
    assert dangling(tmp_path / "out") == []
    with pytest.raises(Trouble, match="is not empty"):
        release_module.release_command(tmp_path / "out", None, False, None)


def nbgrader(course, *words):
    run = [sys.executable, "-m", "nbgrader", *words]
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": beside}  # nbgrader calls `alembic`
    done = subprocess.run(run, cwd=course, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
def test_nbgrader_generates_our_blanks_and_grades_as_we_do(tmp_path):
    course, slug = tmp_path / "course", hostile.CHAPTER.slug
    with pytest.raises(Trouble, match="--seed"):
        release_module.release_command(course, "4", True, None)
    words = ["--nbgrader", "--chapters", "4,12", "--seed", "for a test"]
    code, said = command("release", course, *words)
    assert code == 0, said
    renumbered = next(course.glob("source/12_*/*.ipynb")).read_text("utf-8")
    for begin in "SOLUTION", "HIDDEN TESTS":
        assert renumbered.count(f"### BEGIN {begin}") >= 3, "one for each exercise"
    nbgrader(course, "generate_assignment", slug)
    blank = course / "release" / slug / hostile.FILE
    assert cells(blank) == cells(hostile.BLANK)

    exercises = hostile.CHAPTER.exercises
    wrong = {n: [*e.wrong.values()][0] for n, e in exercises.items() if n != "4.2"}
    hand_ins = {"solved": hostile.SOLVED, "wrong, and 4.2 blank": wrong}
    known = hostile.answers()["right up to 1e9, as no check asks for more"][0]
    hand_ins["found by hidden inputs"] = hostile.SOLVED | {"4.3": known}
    for student, answers in hand_ins.items():
        made = hostile.notebook(answers, blank)
        hostile.written(course / "submitted" / student / slug, made)
    nbgrader(course, "autograde", slug)
    points = scores(course / "gradebook.db", slug)
    full = {name: exercise.points for name, exercise in exercises.items()}
    assert points.pop("solved") == full and full["4.3"]
    assert points.pop("found by hidden inputs") == full | {"4.3": 0}
    assert points.keys() == hand_ins.keys() - {"solved", "found by hidden inputs"}
    assert all(set(each.values()) == {0} for each in points.values()), points
    solved = course / "submitted" / "solved" / slug / hostile.FILE
    assert "Success" in nbgrader(course, "validate", str(solved))


def cells(path):
    """Return what students see of a notebook: text, code and outputs."""
    made = json.loads(path.read_text("utf-8"))
    kept = "cell_type", "source", "outputs"
    shown = [[each.get(key, []) for key in kept] for each in made["cells"]]
    return [["".join(strings(part)).rstrip() for part in cell] for cell in shown]


def scores(database, slug):
    """Return the points by student and exercise in nbgrader's database."""
    from nbgrader.api import Gradebook  # slow: not while tests are collected

    with Gradebook(f"sqlite:///{database}") as book:
        return {
            each.student.id: {
                grade.name.removeprefix("check-").replace("-", "."): grade.auto_score
                for grade in each.notebooks[0].grades
            }
            for each in book.assignment_submissions(slug)
        }
