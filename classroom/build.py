"""Build the notebooks: chapters/*.md -> notebooks/, solutions/, exercises/."""

import base64
import hashlib
import io
import os
import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from classroom.chapters import ROOT, Chapter, ChapterError, Exercise, chapters
from classroom.kernels import Runner
from classroom.notebooks import write_whole

SETUP = """\
try:
    import classroom.live
except ModuleNotFoundError:
    raise ImportError(
        "This Python does not know the course. In a terminal, in the folder of the "
        "course, run: python3 course.py lab (on Windows, py course.py lab). Or choose "
        "its .venv as the kernel."
    ) from None"""
PRISTINE = Path("classroom") / "pristine"
BUILT = ("notebooks", "solutions", PRISTINE)
PHOTOGRAPH = 10_000  # a picture of more colors than these keeps them all
CELL_TIMEOUT = 120  # seconds; far beyond the slowest cell of any chapter


# --- from sources to cells ---------------------------------------------------------


def lesson_notebook(chapter: Chapter) -> NotebookNode:
    """Assemble a lesson, not yet executed."""
    setup = _setup_cell()
    setup.metadata["slideshow"] = {"slide_type": "skip"}
    cells = [new_markdown_cell(_lesson_head(chapter)), setup, *deepcopy(chapter.lesson)]
    cells.append(new_markdown_cell(_lesson_foot(chapter)))
    for cell in cells:  # for nbconvert: a heading starts a column of slides, text one
        if cell.cell_type == "markdown":
            kind = "slide" if cell.source.startswith("#") else "subslide"
            cell.metadata["slideshow"] = {"slide_type": kind}
    return _notebook(chapter, "lesson.md", cells)


def solution_notebook(chapter: Chapter) -> NotebookNode:
    """Assemble the solved exercises, not yet executed."""
    title = f"# {chapter.number} · {chapter.front['title']}: solutions"
    return _exercise_notebook(chapter, title, lambda exercise: exercise.solved)


def blank_notebook(chapter: Chapter, solved: NotebookNode) -> NotebookNode:
    """Assemble the exercises; what the solution printed is what is expected."""
    title = (
        f"# {chapter.number} · {chapter.front['title']}: exercises\n\n"
        "Fill in the blanks, run the check below each, and read what it says. What "
        "stands below a check now is what it prints once your answer is right. Or "
        f"check them all in a terminal: `python3 course.py check {chapter.number}` "
        f"(on Windows, `py course.py check {chapter.number}`)."
    )
    blank = _exercise_notebook(chapter, title, lambda exercise: exercise.blank)
    for cell, done in zip(blank.cells, solved.cells, strict=True):
        if cell.cell_type == "code" and "answer" not in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = done.outputs, done.execution_count
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
            cell.metadata = {"nbgrader": grading}
            cell.metadata["tags"] = ["check", "nbval-check-output"]
        elif heading and cell.cell_type == "markdown":
            cell.metadata = {"nbgrader": _nbgrader("exercise", heading.group(1))}
        cells.append(cell)
    return _notebook(chapter, "exercises.md", cells)


def _setup_cell() -> NotebookNode:
    """Make the first code cell; JupyterLab shows it folded."""
    return new_code_cell(SETUP, metadata={"jupyter": {"source_hidden": True}})


def _nbgrader(role: str, name: str, **settings) -> dict:
    """Return nbgrader's metadata, schema version 3, for one cell."""
    metadata = {"schema_version": 3, "grade": False, "solution": False, "task": False}
    metadata["grade_id"] = f"{role}-{name.replace('.', '-')}"
    metadata["locked"] = role != "answer"
    return {**metadata, **settings}


def _notebook(chapter: Chapter, source: str, cells: list[NotebookNode]) -> NotebookNode:
    seen: dict[str, int] = {}
    for cell in cells:
        cell.metadata.pop("lines_to_next_cell", None)
        cell.id = _cell_id(cell, seen)
    notebook = new_notebook(cells=cells)
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
        "minigrad": {
            "chapter": chapter.slug,
            "title": chapter.front["title"],
            "exercises": {
                exercise.name: {
                    "title": exercise.title,
                    "kind": exercise.kind,
                    "points": exercise.points,
                }
                for exercise in chapter.exercises.values()
            },
            "source": chapter.digest(source),
        },
    }
    return nbformat.from_dict(notebook)


def _cell_id(cell: NotebookNode, seen: dict[str, int]) -> str:
    """Name a cell after its exercise, else after its text, so that ids stay."""
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
    facts = f"{front['minutes']} minutes · {front['track']} · needs chapters: {needs}"
    goals = "\n".join(f"- {goal}" for goal in front["objectives"])
    return (
        f"# {chapter.number} · {front['title']}\n\n*{front['question']}*\n\n"
        f"After this chapter you can\n\n{goals}\n\n{facts}{_requirements(chapter)}"
    )


def _requirements(chapter: Chapter) -> str:
    """Return what to install for a chapter that needs more than the course has."""
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
    """Return what to install for a package: the version that the course goes by."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = sum(project["project"]["optional-dependencies"].values(), [])
    return next((one for one in extras if one.startswith(f"{name}==")), name)


def _lesson_foot(chapter: Chapter) -> str:
    path = f"exercises/{chapter.slug}.ipynb"
    lines = [f"**Now you**: the exercises are in [{path}](../{path})."]
    after = [other for other in chapters() if other.number == chapter.number + 1]
    for other in after:
        link = f"[{other.number} · {other.front['title']}]({other.slug}.ipynb)"
        lines.append(f"Then: {link}. *{other.front['question']}*")
    return " ".join(lines)


# --- executing ---------------------------------------------------------------------


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run all cells in a fresh kernel; outputs become the same on every run."""
    metadata = deepcopy(notebook.metadata)
    client = Runner(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, "PYTHONHASHSEED": "0"})
    notebook.metadata = metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _merge_streams(cell.outputs)
            for output in cell.outputs:
                _shrink_png(output)
    return notebook


def _merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        kinds = (output.output_type, output.get("name"))
        if last and kinds == (last.output_type, last.get("name")) and "name" in output:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def _shrink_png(output: NotebookNode) -> None:
    data = output.get("data", {})
    if "image/png" in data:
        image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
        small = io.BytesIO()
        coverage = Image.Quantize.MAXCOVERAGE  # the others lose a heat map's ends
        image = image.convert("RGB")
        if image.getcolors(PHOTOGRAPH):
            image = image.quantize(128, coverage, dither=Image.Dither.NONE)
        image.save(small, "PNG", optimize=True)
        data["image/png"] = base64.b64encode(small.getvalue()).decode() + "\n"


# --- writing and comparing ---------------------------------------------------------


def build_chapter(chapter: Chapter, root: Path = ROOT) -> list[str]:
    """Build what is out of date of one chapter; return the files written."""
    written = []
    name = f"{chapter.slug}.ipynb"
    if chapter.missing and problems([chapter], root):
        wanted = pinned_version(chapter.missing)
        raise ChapterError(
            f"{chapter.slug} was not built: it needs {chapter.missing}, which is not "
            f"installed. Run: {sys.executable} -m pip install {wanted}"
        )
    if _differences(chapter, "notebooks", root):
        lesson = execute(lesson_notebook(chapter), root / "notebooks")
        written += _write(lesson, root / "notebooks" / name)
    if any(_differences(chapter, kind, root) for kind in ("solutions", PRISTINE)):
        solved = execute(solution_notebook(chapter), root / "solutions")
        written += _write(solved, root / "solutions" / name)
        written += _write_blank(blank_notebook(chapter, solved), name, root)
    elif not (root / "exercises" / name).exists():
        blank = nbformat.read(root / PRISTINE / name, as_version=4)
        written += _write(blank, root / "exercises" / name)
    return written


def _write(notebook: NotebookNode, path: Path) -> list[str]:
    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, nbformat.writes(notebook) + "\n")
    return [str(path.parent.name + "/" + path.name)]


def _write_blank(blank: NotebookNode, name: str, root: Path) -> list[str]:
    """Write the pristine copy; exercises/ too unless somebody has worked in it."""
    pristine, exercise = root / PRISTINE / name, root / "exercises" / name
    untouched = (
        not exercise.exists()
        or not pristine.exists()
        or exercise.read_bytes() == pristine.read_bytes()
    )
    written = _write(blank, pristine)
    if untouched:
        return written + _write(blank, exercise)
    return [*written, f"exercises/{name} has answers in it and was left as it is"]


def problems(wanted: list[Chapter], root: Path = ROOT) -> list[str]:
    """Say what of some chapters is not built, or not from its source as it is now."""
    return [
        problem
        for chapter in wanted
        for folder in BUILT
        for problem in _differences(chapter, folder, root)
    ]


def _differences(chapter: Chapter, folder: str | Path, root: Path) -> list[str]:
    """Say how a built notebook differs from what its source would give now."""
    path = root / folder / f"{chapter.slug}.ipynb"
    if not path.exists():
        return [f"{folder}/{path.name} is missing"]
    built = nbformat.read(path, as_version=4)
    if folder == "notebooks":
        fresh = lesson_notebook(chapter)
    else:
        fresh = solution_notebook(chapter)
    if folder == PRISTINE:
        fresh = blank_notebook(chapter, fresh)
    if built.metadata != fresh.metadata:
        return [f"{folder}/{path.name} was built from another source"]
    if [_essence(cell) for cell in built.cells] != [_essence(c) for c in fresh.cells]:
        return [f"{folder}/{path.name} has other cells than its source"]
    unrun = [
        cell.id
        for cell in built.cells
        if cell.cell_type == "code"
        and cell.execution_count is None
        and not (folder == PRISTINE and "answer" in cell.metadata.get("tags", []))
    ]
    return [f"{folder}/{path.name}: cell {cell} has not been run" for cell in unrun]


def _essence(cell: NotebookNode) -> tuple:
    return cell.id, cell.cell_type, cell.source, dict(cell.metadata)


# --- what is made from the front matter --------------------------------------------

TABLE = re.compile(r"(<!-- chapters -->\n).*?(<!-- end of chapters -->)", re.DOTALL)


def chapter_table(all_chapters: list[Chapter]) -> str:
    """Return the table of chapters for the README, in Markdown."""
    rows = ["| | chapter | its question | minutes | needs |", "|--:|---|---|--:|---|"]
    for chapter in all_chapters:
        front = chapter.front
        title = f"[{front['title']}](notebooks/{chapter.slug}.ipynb)"
        title += "" if front["track"] == "core" else f" ({front['track']})"
        needs = ", ".join(map(str, front["needs"] + front["requires"]))
        row = (chapter.number, title, front["question"], front["minutes"], needs)
        rows.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(rows) + "\n"


def syllabus(all_chapters: list[Chapter]) -> str:
    """Return what teachers want to know of each chapter, in Markdown."""
    parts = [(ROOT / "classroom" / "templates" / "syllabus.md").read_text("utf-8")]
    for chapter in all_chapters:
        front = chapter.front
        needs = ", ".join(map(str, front["needs"] + front["requires"])) or "nothing"
        points = sum(exercise.points for exercise in chapter.exercises.values())
        goals = "\n".join(f"- {goal}" for goal in front["objectives"])
        parts.append(
            f"## {chapter.number} · {front['title']}\n\n*{front['question']}* "
            f"{front['minutes']} minutes, difficulty {front['difficulty']} of 5, "
            f"needs {needs}, {points} points. After it a student can\n\n{goals}\n\n"
            "| exercise | points | mistakes that its check knows |\n|---|--:|---|\n"
            + "".join(map(_rubric, chapter.exercises.values()))
        )
    return "\n".join(parts)


def _rubric(exercise: Exercise) -> str:
    mistakes = "; ".join(exercise.wrong).replace("|", "\\|")
    points = exercise.points or ""
    return f"| {exercise.name} {exercise.title} | {points} | {mistakes} |\n"


def _made(root: Path) -> dict[Path, tuple[str, str]]:
    """Return the pages made from front matter, as they are and as they should be."""
    readme, page = root / "README.md", root / "classroom" / "SYLLABUS.md"
    text = readme.read_text(encoding="utf-8")
    table = chapter_table(chapters())
    there = page.read_text(encoding="utf-8") if page.exists() else ""
    return {
        readme: (text, TABLE.sub(lambda match: match[1] + table + match[2], text)),
        page: (there, syllabus(chapters())),
    }


# --- the command -------------------------------------------------------------------


def build_command(words: list[str], check: bool, root: Path = ROOT) -> int:
    """Build all chapters or those named by number; with `check`, only compare."""
    console = Console()
    try:
        wanted = _wanted(words)
        return (
            _compare(wanted, root, console) if check else _build(wanted, root, console)
        )
    except ChapterError as error:
        console.print(Text(str(error), "red"), soft_wrap=True)
    return 1


def _wanted(words: list[str]) -> list[Chapter]:
    everything = chapters()
    known = {str(chapter.number): chapter for chapter in everything}
    known |= {chapter.slug: chapter for chapter in everything}
    unknown = [word for word in words if word not in known]
    if unknown:
        numbers = ", ".join(str(chapter.number) for chapter in everything)
        raise ChapterError(f"There is no chapter {unknown[0]!r}; there are {numbers}.")
    return [known[word] for word in words] or everything


def _compare(wanted: list[Chapter], root: Path, console: Console) -> int:
    found = problems(wanted, root)
    for path, (now, should_be) in _made(root).items():
        if now != should_be:
            found.append(f"{path.name} is not as the chapters' front matter has it")
    for problem in found:
        console.print(f"[red]{problem}[/red]")
    if found:
        console.print("Run: python3 course.py build")
    else:
        console.print(f"{len(wanted)} chapters are built from their sources.")
    return 1 if found else 0


def _build(wanted: list[Chapter], root: Path, console: Console) -> int:
    written, failed = [], []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("building", total=len(wanted))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {pool.submit(build_chapter, c, root): c.slug for c in wanted}
            for job in as_completed(jobs):
                try:
                    written += job.result()
                except ChapterError as error:
                    failed.append(Text(str(error), "red"))
                except CellExecutionError as error:
                    failed.append(Text(f"{jobs[job]}: a cell failed.", "red"))
                    failed.append(Text.from_ansi(str(error)))
                progress.advance(task)
    for path, (now, should_be) in _made(root).items():
        if now != should_be:
            path.write_text(should_be, encoding="utf-8", newline="\n")
            written.append(path.name)
    for line in sorted(written):
        console.print(f"built {line}")
    for line in failed:
        console.print(line, soft_wrap=True)
    if not written and not failed:
        console.print("Everything is up to date.")
    return 1 if failed else 0
