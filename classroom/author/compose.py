"""Compose the notebooks of a chapter: lesson, solutions, blanks. None is run here."""

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterator
from copy import deepcopy

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from classroom import ROOT
from classroom.author.blanks import Exercise
from classroom.author.chapters import Chapter, chapters
from classroom.author.so_far import added, outgrown
from classroom.cell.namespaces import GIVEN
from classroom.notebook.files import KERNEL, put_away
from classroom.notebook.pristine import id_of

PLACE = r"(?:\.\./(?:notebooks|exercises)/)?(\w+)\.ipynb"  # beside this, or not
LINK = re.compile(rf"\[([^\]]*)\]\({PLACE}\)")
HOME_LINK = "[Home](../home.md)"
HOW_TO_RUN = " To run a cell, click it and press Shift+Enter."
ON_THE_MAP = "title", "question", "minutes", "needs", "track"
SETUP = """\
# Run this cell first. It finds the course, which the other cells need.
try:
    import classroom.live
except ModuleNotFoundError:
    raise ImportError(
        "This Python does not know the course. In a terminal, in the folder of the "
        "course, run: python3 course.py lab (on Windows, py course.py lab). Or choose "
        "its .venv as the kernel. (If there is a file classroom.py beside this "
        "notebook, give it another name.)"
    ) from None"""


def lesson_notebook(chapter: Chapter) -> NotebookNode:
    """Assemble a lesson, not yet executed."""
    setup = _setup_cell()
    setup.metadata["slideshow"] = {"slide_type": "skip"}
    cells = [new_markdown_cell(_lesson_head(chapter)), setup, *deepcopy(chapter.lesson)]
    if new := added(chapter.number):
        cells.append(new_markdown_cell(new))
    cells.append(new_markdown_cell(_lesson_foot(chapter)))
    for cell in cells:
        if cell.cell_type == "code" and cell.metadata.pop("guess", "none") != "none":
            cell.metadata["tags"] = ["guess"]
        elif cell.cell_type == "markdown":  # for nbconvert: a heading starts a column
            kind = "slide" if cell.source.startswith("#") else "subslide"
            cell.metadata["slideshow"] = {"slide_type": kind}
    return _notebook(chapter, cells)


def solution_notebook(chapter: Chapter) -> NotebookNode:
    """Assemble the solved exercises, not yet executed."""
    title = f"# {chapter.number} · {chapter.front['title']}: solutions\n\n"
    title += f"{place(chapter)} · {_link(chapter, 'notebooks', 'the lesson')}"
    notebook = _exercise_notebook(chapter, title, lambda exercise: exercise.solved)
    notebook.metadata["minigrad"]["beside"] = {
        name: dict(beside(exercise)) for name, exercise in chapter.exercises.items()
    }
    return notebook


def beside(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield what is shown below a solution, with its heading."""
    if exercise.right:
        yield "Another way", spaced(next(iter(exercise.right.values())))
    if exercise.pytorch:
        yield "In PyTorch", exercise.pytorch


def spaced(source: str) -> str:
    """Return code with two blank lines before each definition; a diff has none."""
    return re.sub(r"\n+((?:@.*\n)*(?:def|class) )", r"\n\n\n\1", source)


def blank_notebook(chapter: Chapter, solved: NotebookNode) -> NotebookNode:
    """Assemble the exercises; the outputs of the solution are kept as references."""
    title = (
        f"# {chapter.number} · {chapter.front['title']}: exercises\n\n"
        f"{place(chapter)} · {_link(chapter, 'notebooks', 'the lesson')}\n\n"
        "Fill in the blanks, run the folded check below each, and read what it says. "
        "Or check them all in a terminal (in JupyterLab: *File*, *New*, *Terminal*): "
        f"`python3 course.py check {chapter.number}` "
        f"(on Windows, `py course.py check {chapter.number}`)."
    )
    blank = _exercise_notebook(chapter, title, lambda exercise: exercise.blank)
    for cell, done in zip(blank.cells, solved.cells, strict=True):
        if cell.cell_type == "code" and "answer" not in cell.metadata.get("tags", []):
            cell.outputs = done.outputs
            put_away(cell)
    return blank


def _exercise_notebook(chapter: Chapter, title: str, answer_text) -> NotebookNode:
    cells = [new_markdown_cell(title + _requirements(chapter)), _setup_cell()]
    for source in chapter.exercise_cells:
        cell = deepcopy(source)
        heading = re.match(r"## (\d+\.\d+) ", cell.source)
        if name := cell.metadata.get("answer"):
            cell.source = answer_text(chapter.exercises[name])
            cell.metadata = {"nbgrader": _nbgrader("answer", name, solution=True)}
            cell.metadata["tags"] = ["answer"]
        elif name := cell.metadata.get("check"):
            points = chapter.exercises[name].points
            grading = _nbgrader("check", name, grade=True, points=points)
            cell.metadata = {"nbgrader": grading, "jupyter": {"source_hidden": True}}
            cell.metadata["tags"] = ["check", "nbval-check-output"]
            head = f"# Check of {name}: run this cell\nimport classroom.live\n"
            cell.source = f"{head}\n{cell.source}"
        elif heading and cell.cell_type == "markdown":
            cell.metadata = {"nbgrader": _nbgrader("exercise", heading.group(1))}
        elif cell.cell_type == "code":
            cell.source = f"{GIVEN}\n{cell.source}"
        cells.append(cell)
    foot = f"**Done?** {_way_on(chapter)} {HOME_LINK} shows how far you are."
    return _notebook(chapter, [*cells, new_markdown_cell(foot)])


def _setup_cell() -> NotebookNode:
    """Make the first code cell; JupyterLab shows it folded."""
    return new_code_cell(SETUP, metadata={"jupyter": {"source_hidden": True}})


def _nbgrader(role: str, name: str, **settings) -> dict:
    """Return nbgrader's metadata, schema version 3, for one cell."""
    metadata = {"schema_version": 3, "grade": False, "solution": False, "task": False}
    about = {"grade_id": id_of(role, name), "locked": role != "answer"}
    return {**metadata, **about, **settings}


def _notebook(chapter: Chapter, cells: list[NotebookNode]) -> NotebookNode:
    seen: dict[str, int] = {}
    for cell in cells:
        cell.metadata.pop("lines_to_next_cell", None)
        cell.id = _cell_id(cell, seen)
    notebook = new_notebook(cells=cells)
    notebook.metadata = {
        **KERNEL,
        "minigrad": {
            "chapter": chapter.slug,
            **{key: chapter.front[key] for key in ON_THE_MAP},
            "exercises": {
                exercise.name: {
                    "title": exercise.title,
                    "kind": exercise.kind,
                    "points": exercise.points,
                    **({"helps": exercise.helps} if exercise.helps else {}),
                    **outgrown(chapter.number, exercise.solved),
                }
                for exercise in chapter.exercises.values()
            },
        },
    }
    return nbformat.from_dict(notebook)


def _cell_id(cell: NotebookNode, seen: dict[str, int]) -> str:
    """Name a cell after its exercise, or after its text, so that ids stay the same."""
    grading = cell.metadata.get("nbgrader")
    if grading:
        return grading["grade_id"]
    text = f"{cell.cell_type}\n{cell.source}"
    name = hashlib.sha256(text.encode()).hexdigest()[:8]
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name}-{seen[name]}"


def _lesson_head(chapter: Chapter) -> str:
    front = chapter.front
    needs = ", ".join(map(str, front["needs"])) or "none"
    facts = f"{front['minutes']} minutes with the exercises · {front['track']}"
    facts += f" · needs chapters: {needs}"
    links = f"{place(chapter)} · {_link(chapter, 'exercises', 'the exercises')}"
    opening = f"{front['opening'].strip()}\n\n" if "opening" in front else ""
    goals = "\n".join(f"- {goal}" for goal in front["objectives"])
    how = "" if front["needs"] else HOW_TO_RUN  # where the course begins
    return (
        f"# {chapter.number} · {front['title']}\n\n*{front['question']}*\n\n"
        f"{links}\n\n{opening}"
        f"After this chapter you can\n\n{goals}\n\n{facts}\n\n"
        "Where you are asked to **guess**, run the cell below to see the answer. "
        f"Run the cells above it first.{how}{_requirements(chapter)}"
    )


def _requirements(chapter: Chapter) -> str:
    """Return what to install for a chapter that needs more than the course."""
    names = " ".join(chapter.front["requires"])
    if not names:
        return ""
    pinned = [pinned_version(name) for name in names.split()]
    return (
        f"\n\n**This chapter needs {names}**, which the rest of the course does not. "
        f"If it is missing, run `%pip install {' '.join(pinned)}` in a cell here, and "
        "restart the kernel."
    )


def pinned_version(name: str) -> str:
    """Return what to install for a package: the version pinned in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = sum(project["project"]["optional-dependencies"].values(), [])
    return next((one for one in extras if one.startswith(f"{name}==")), name)


def unlinked(source: str, slugs: Collection[str]) -> str:
    """Return prose in which links to chapters outside of `slugs` are plain words."""
    return LINK.sub(lambda link: link[0] if link[2] in slugs else link[1], source)


def place(chapter: Chapter) -> str:
    """Return a link to the course's home, and the place of a chapter in the course."""
    last = chapters()[-1].number
    return f"{HOME_LINK} · chapter {chapter.number} of {last}"


def _link(chapter: Chapter, folder: str, words: str = "") -> str:
    """Return a link to a notebook, from that of any folder."""
    words = words or f"{chapter.number} · {chapter.front['title']}"
    return f"[{words}](../{folder}/{chapter.slug}.ipynb)"


def _way_on(chapter: Chapter) -> str:
    """Return links to the next chapter, and to an optional chapter before it.

    The last chapters are optional, and lead on from the last one that they need.
    """
    core = [other for other in chapters() if other.front["track"] == "core"]
    after = [other for other in chapters() if other.number > chapter.number]
    onward, told = [other for other in core if other in after], []
    if onward:
        link = _link(onward[0], "notebooks")
        told.append(f"Next: {link}. *{onward[0].front['question']}*")
    elif chapter.front["track"] == "optional" and chapter.front["needs"]:
        before = max(chapter.front["needs"])
        other = next(other for other in core if other.number > before)
        link = _link(other, "notebooks")
        told.append(f"If you came from chapter {before}, continue with {link}.")
    if after and after[0] not in core:
        told.append(f"(Optional: {_link(after[0], 'notebooks')}.)")
    return " ".join(told) or "That was the last chapter."


def _lesson_foot(chapter: Chapter) -> str:
    exercises = _link(chapter, "exercises", f"exercises/{chapter.slug}.ipynb")
    now = f"**Now you**: the exercises are in {exercises}."
    return f"{now} {_way_on(chapter)} {HOME_LINK} shows how far you are."
