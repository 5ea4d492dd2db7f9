"""Make what students get: `python3 course.py release OUT [--chapters 7-9]`.

A release is a course of its own, with lessons, blank exercises, the package and the
commands of learners; no file of it has a solution, an answer or a hidden check. With
`--nbgrader` it is an nbgrader course instead, whose blanks are the same.
"""

import re
import shutil
from pathlib import Path

from classroom import ROOT
from classroom.author import chapters as sources
from classroom.author.build import problems
from classroom.author.compose import unlinked
from classroom.author.front_matter import TABLE, chapter_table
from classroom.learner.assemble import CORE_TESTS
from classroom.learner.newer_course import version
from classroom.notebook.files import (
    Unreadable,
    read_notebook,
    write_notebook,
    write_whole,
)
from classroom.notebook.pristine import Chapter, all_chapters, chosen_chapters
from classroom.teacher.nbgrader import write_nbgrader

TEMPLATES = ROOT / "classroom" / "templates"
TOP = ("LICENSE", "course.py", "environment.yml", "glossary.md", "pyproject.toml")
TOP += (".gitignore", ".gitattributes")
COMMANDS = ("__init__", "__main__", "all_or_nothing", "live", "checks")
FOLDERS = ("cell", "notebook", "run", "learner", "jupyter")  # of classroom/


def release_command(
    out: Path, chapters: str | None, nbgrader: bool, seed: str | None
) -> int:
    """Write a release into the folder `out`; raise Trouble if that cannot be done."""
    chosen = chosen_chapters(chapters, all_chapters())
    check_built(chosen)
    if out.exists() and any(out.iterdir()):
        raise Unreadable(
            f"{out} is not empty. Give a new folder: nothing is overwritten."
        )
    if nbgrader and not seed:
        raise Unreadable(
            "With --nbgrader give --seed WORDS: the hidden tests are drawn from "
            "it. Keep it to yourself."
        )
    if nbgrader:
        write_nbgrader(out, chosen, seed)
        print(f"{len(chosen)} assignments for nbgrader: {out / 'source'}")
    else:
        write_release(out, chosen)
        print(f"{len(chosen)} chapters for students: {out}")
    return 0


def check_built(chosen: list[Chapter]) -> None:
    """Raise Unreadable if the notebooks are not what chapters/ would make now."""
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
        foot = lesson["cells"][-1]
        foot["source"] = unlinked(foot["source"], slugs)
        write_notebook(out / "notebooks" / name, lesson)
        for folder in ("exercises", "classroom/pristine"):
            shutil.copy(ROOT / "classroom" / "pristine" / name, out / folder / name)
    write_whole(out / "README.md", readme(slugs))
    workflow = out / ".github" / "workflows"
    workflow.mkdir(parents=True)
    shutil.copy(TEMPLATES / "check.yml", workflow / "check.yml")
    shutil.copy(ROOT / ".github" / "graph.svg", out / ".github" / "graph.svg")
    shutil.copy(TEMPLATES / "check.sh", out / "check.sh")


def copy_core_tests(out: Path) -> None:
    """Copy the tests that `assemble` runs on the learner's package."""
    leave = shutil.ignore_patterns("__pycache__", "*.pyc")
    reference = Path("tests") / "reference"
    shutil.copytree(ROOT / reference, out / reference, ignore=leave)
    for name in ("tests/conftest.py", *CORE_TESTS):
        shutil.copy(ROOT / name, out / name)


def readme(slugs: list[str]) -> str:
    """Return the README without what is for teachers, authors or other chapters."""
    text = (ROOT / "README.md").read_text("utf-8")
    everything = sources.chapters()
    table = chapter_table([c for c in everything if c.slug in slugs])
    text = TABLE.sub(lambda match: match[1] + table + match[2], text)
    left_out = "<!-- not handed out -->.*?<!-- handed out -->\n"
    if len(slugs) < len(everything):
        left_out += "|<!-- with all chapters -->.*?<!-- with any -->\n\n"
    return re.sub(left_out, "", text, flags=re.S)
