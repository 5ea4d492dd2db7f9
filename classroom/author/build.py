"""Build the notebooks: chapters/*.md -> notebooks/, solutions/, exercises/."""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from rich.console import Console
from rich.text import Text

from classroom import ROOT
from classroom.author.blanks import STUB
from classroom.author.chapters import Chapter, ChapterError, chapters
from classroom.author.compose import (
    blank_notebook,
    lesson_notebook,
    solution_notebook,
)
from classroom.author.execute import execute
from classroom.author.front_matter import made_pages
from classroom.notebook.files import write_whole
from classroom.notebook.pristine import chosen_chapters
from classroom.notebook.waiting import put_away, waits

PRISTINE = Path("classroom") / "pristine"
BUILT = ("notebooks", "solutions", PRISTINE)


def build_chapter(chapter: Chapter, root: Path = ROOT) -> list[str]:
    """Build what is out of date of one chapter; return the files written."""
    written = []
    name = f"{chapter.slug}.ipynb"
    if _differences(chapter, "notebooks", root):
        lesson = execute(lesson_notebook(chapter), root / "notebooks")
        for cell in lesson.cells:
            if "guess" in cell.metadata.get("tags", []):
                put_away(cell)
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
    """List the notebooks of some chapters that are missing or out of date."""
    return [
        problem
        for chapter in wanted
        for folder in BUILT
        for problem in _differences(chapter, folder, root)
    ]


def _differences(chapter: Chapter, folder: str | Path, root: Path) -> list[str]:
    """List how a built notebook differs from its source."""
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
    if any(map(_not_run, built.cells)):
        return [f"{folder}/{path.name} has cells that were never run"]
    return []


def _not_run(cell: NotebookNode) -> bool:
    """Tell whether a code cell, no blank and no waiting one, was never executed.

    What waits was executed: in a lesson beside the others, or in the solutions.
    """
    blank = "answer" in cell.metadata.get("tags", []) and STUB in cell.source
    known = cell.cell_type != "code" or cell.execution_count or blank
    return not (known or waits(cell))


def _essence(cell: NotebookNode) -> tuple:
    about = {key: cell.metadata[key] for key in cell.metadata if key != "minigrad"}
    return cell.id, cell.cell_type, cell.source, about


# --- the command -------------------------------------------------------------------


def build_command(words: list[str], check: bool, root: Path = ROOT) -> int:
    """Build all chapters or those named by number; with `check`, only compare."""
    does = _compare if check else _build
    wanted = chosen_chapters(",".join(words), chapters())
    return does(wanted, root, Console())


def _compare(wanted: list[Chapter], root: Path, console: Console) -> int:
    found = problems(wanted, root)
    for path, (now, should_be) in made_pages(root).items():
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
    for path, (now, should_be) in made_pages(root).items():
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
