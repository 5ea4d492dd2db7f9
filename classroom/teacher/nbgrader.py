"""Lay out an nbgrader course, whose blanks are the same as ours."""

import json
from pathlib import Path
from typing import Any

from classroom.author import chapters as sources
from classroom.notebook.pristine import Chapter
from classroom.teacher.tasks import hidden_checks, reference_lines

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


def write_nbgrader(out: Path, chosen: list[Chapter], seed: str) -> None:
    """Write an nbgrader course: each chapter's exercises are an assignment."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "nbgrader_config.py").write_text(NBGRADER, encoding="utf-8")
    for chapter in chosen:
        folder = out / "source" / chapter.slug
        folder.mkdir(parents=True)
        text = json.dumps(source_notebook(chapter, seed), indent=1, ensure_ascii=False)
        (folder / f"{chapter.slug}.ipynb").write_text(text + "\n", encoding="utf-8")


def source_notebook(chapter: Chapter, seed: str) -> dict[str, Any]:
    """Return a chapter's exercises with solutions and hidden tests, marked."""
    exercises = next(c for c in sources.chapters() if c.slug == chapter.slug).exercises
    [printed] = reference_lines(chapter.slug, [seed])
    hidden = hidden_checks(chapter.slug, seed, printed)
    made = json.loads(chapter.path.read_text("utf-8"))
    for each in made["cells"]:
        each["metadata"].pop("minigrad", None)  # what it is to show is no student's
        kind, _, name = each["id"].partition("-")
        name = name.replace("-", ".")
        if kind == "answer" and name in exercises:
            each["source"] = exercises[name].solution.splitlines(True)
        if kind == "check" and name in hidden:
            expected = "".join(output["text"] for output in hidden[name]["outputs"])
            tests = HIDDEN.format(source=hidden[name]["source"], expected=expected)
            each["source"] = ("".join(each["source"]) + tests).splitlines(True)
    return made
