"""Make the students' copy: `python3 course.py release OUT [--chapters 7-9]`.

A release is a self-contained course with lessons, blank exercises, the package and the
commands for learners. None of its files has a solution, an answer or a hidden check.
With `--nbgrader` it is an nbgrader course instead, with the same blanks.
"""

import re
import shutil
from pathlib import Path

from classroom import ROOT
from classroom.author import chapters as sources
from classroom.author.build import problems
from classroom.author.compose import unlinked
from classroom.author.front_matter import TABLE, chapter_table, stops
from classroom.cell.asked import exercise_at
from classroom.learner.assemble import CORE_TESTS
from classroom.learner.newer_course import version
from classroom.notebook.course_map import map_svg
from classroom.notebook.files import (
    DIGESTS,
    Notebook,
    Unreadable,
    digests,
    read_notebook,
    write_notebook,
    write_whole,
)
from classroom.notebook.home import HOME, MAP, home_text
from classroom.notebook.pristine import Chapter, all_chapters, chosen_chapters
from classroom.teacher.tasks import chapter_source, hidden_checks, reference_lines

TEMPLATES = ROOT / "classroom" / "templates"
TOP = ("LICENSE", "course.py", "environment.yml", "glossary.md", "pyproject.toml")
TOP += ("LICENSE-prose", ".gitignore", ".gitattributes")
PAGES = "README.md", "AGENTS.md"
PICTURES = [Path(".github", f"{name}.png") for name in ("built", "failing_check")]
COMMANDS = ("__init__", "__main__", "all_or_nothing", "live", "checks", "knobs")
FOLDERS = ("cell", "notebook", "run", "learner", "jupyter")  # of classroom/
HIDDEN = """
### BEGIN HIDDEN TESTS
with __import__("contextlib").redirect_stdout(__import__("io").StringIO()) as _shown:
    {source}
assert _shown.getvalue() == {expected!r}, "wrong for other inputs"
### END HIDDEN TESTS"""
NBGRADER = """# An nbgrader course: put its folder's name into `nbgrader --course-dir`.
c = get_config()
c.CourseDirectory.course_id = "minigrad"
c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("fill this in")'}
c.ExecutePreprocessor.timeout = 30
"""


def release_command(
    out: Path, chapters: str | None, nbgrader: bool, seed: str | None
) -> int:
    """Write a release into the folder `out`; raise Trouble if that cannot be done."""
    chosen = chosen_chapters(chapters, all_chapters())
    check_built(chosen)
    if out.exists() and any(out.iterdir()):
        raise Unreadable(
            f"{out} is not empty. Give a new folder, because nothing is overwritten."
        )
    if nbgrader and not seed:
        raise Unreadable(
            "With --nbgrader, give --seed WORDS. The hidden tests are drawn from "
            "this seed. Keep it to yourself."
        )
    if nbgrader:
        write_nbgrader(out, chosen, seed)
        print(f"{len(chosen)} assignments for nbgrader: {out / 'source'}")
    else:
        write_release(out, chosen)
        print(f"{len(chosen)} chapters for students: {out}")
    return 0


def check_built(chosen: list[Chapter]) -> None:
    """Raise Unreadable if the notebooks are older than chapters/."""
    slugs = [chapter.slug for chapter in chosen]
    found = problems([c for c in sources.chapters() if c.slug in slugs])
    if found:
        raise Unreadable(f"{found[0]}. Run: python3 course.py build")


def write_release(out: Path, chosen: list[Chapter]) -> None:
    """Write the course for students, with these chapters."""
    leave = shutil.ignore_patterns("__pycache__", "*.pyc", "sandbox.py")
    for folder in ("minigrad", *(f"classroom/{name}" for name in FOLDERS)):
        shutil.copytree(ROOT / folder, out / folder, ignore=leave)
    for name in (*TOP, *(f"classroom/{name}.py" for name in COMMANDS)):
        shutil.copy(ROOT / name, out / name)
    write_whole(out / "classroom" / "version.txt", f"{version(ROOT)}\n")
    copy_core_tests(out)
    for folder in ("notebooks", "exercises", "classroom/pristine"):
        (out / folder).mkdir(parents=True)
    slugs = [chapter.slug for chapter in chosen]
    for slug in slugs:
        name = f"{slug}.ipynb"
        lesson = read_notebook(ROOT / "notebooks" / name)
        write_notebook(out / "notebooks" / name, without_links(lesson, slugs))
        blank = read_notebook(ROOT / "classroom" / "pristine" / name)
        for folder in ("exercises", "classroom/pristine"):
            write_notebook(out / folder / name, without_links(blank, slugs))
    write_whole(out / DIGESTS, digests(out))
    there = stops([c for c in sources.chapters() if c.slug in slugs])
    write_whole(out / MAP, map_svg(there))
    for page in [*map(ROOT.joinpath, PAGES), *ROOT.glob("docs/*.md")]:
        (out / page.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        if (text := handed_out(page.read_text("utf-8"), slugs)).strip():
            write_whole(out / page.relative_to(ROOT), text)
    write_whole(out / HOME, home_text(there, out))
    workflow = out / ".github" / "workflows"
    workflow.mkdir(parents=True)
    shutil.copy(TEMPLATES / "check.yml", workflow / "check.yml")
    for picture in PICTURES:
        shutil.copy(ROOT / picture, out / picture)
    shutil.copy(TEMPLATES / "check.sh", out / "check.sh")


def without_links(notebook: Notebook, slugs: list[str]) -> Notebook:
    """Return a notebook whose foot links only to these chapters."""
    foot = notebook["cells"][-1]
    foot["source"] = unlinked(foot["source"], slugs)
    return notebook


def copy_core_tests(out: Path) -> None:
    """Copy the tests that `assemble` runs on the learner's package."""
    leave = shutil.ignore_patterns("__pycache__", "*.pyc")
    reference = Path("tests") / "engine" / "reference"
    shutil.copytree(ROOT / reference, out / reference, ignore=leave)
    for name in ("tests/conftest.py", *CORE_TESTS):
        shutil.copy(ROOT / name, out / name)


def handed_out(text: str, slugs: list[str]) -> str:
    """Return a page without the parts for teachers, authors or other chapters."""
    everything = sources.chapters()
    table = chapter_table([c for c in everything if c.slug in slugs])
    text = TABLE.sub(lambda match: match[1] + table + match[2], text)
    left_out = "<!-- not handed out -->.*?<!-- handed out -->\n"
    if len(slugs) < len(everything):
        left_out += "|<!-- with all chapters -->.*?<!-- with any -->\n+"
    return re.sub(left_out, "", text, flags=re.S)


# --- an nbgrader course -------------------------------------------------------------


def write_nbgrader(out: Path, chosen: list[Chapter], seed: str) -> None:
    """Write an nbgrader course: each chapter's exercises are an assignment."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "nbgrader_config.py").write_text(NBGRADER, encoding="utf-8")
    for chapter in chosen:
        folder = out / "source" / chapter.slug
        folder.mkdir(parents=True)
        made = source_notebook(chapter, seed)
        write_notebook(folder / f"{chapter.slug}.ipynb", made)


def source_notebook(chapter: Chapter, seed: str) -> Notebook:
    """Return a chapter's exercises with solutions and hidden tests, marked."""
    exercises = chapter_source(chapter.slug).exercises
    [printed] = reference_lines(chapter.slug, [seed])
    hidden = hidden_checks(chapter.slug, seed, printed)
    made = read_notebook(chapter.path)
    for each in made["cells"]:
        each["metadata"].pop("minigrad", None)  # what it is to show is no student's
        kind, name = exercise_at(each["id"])
        if kind == "answer":
            each["source"] = exercises[name].solution
        if kind == "check":
            source, expected = hidden[name]["source"], printed[name]
            each["source"] += HIDDEN.format(source=source, expected=expected)
    return made
