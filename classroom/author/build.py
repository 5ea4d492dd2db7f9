"""Build the notebooks: chapters/*.md -> notebooks/, solutions/, exercises/."""

import json
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from nbclient.exceptions import CellControlSignal
from nbformat import NotebookNode
from rich.console import Console
from rich.text import Text

from classroom import ROOT
from classroom.author.blanks import STUB, ChapterError
from classroom.author.chapters import Chapter, chapters
from classroom.author.compose import (
    blank_notebook,
    lesson_notebook,
    solution_notebook,
)
from classroom.author.concerns import UNKNOWN, Noted, name_of
from classroom.author.execute import execute_and_note
from classroom.author.front_matter import made_pages
from classroom.author.printed import as_json, drawn_cells, what_is_printed
from classroom.cell.drawn import PUBLIC
from classroom.notebook.files import (
    Cell,
    put_away,
    read_notebook,
    reference,
    waits,
    write_whole,
)
from classroom.notebook.pristine import chosen_chapters
from classroom.run.references import compared

PRISTINE = Path("classroom") / "pristine"
DRAWN = Path("classroom") / "drawn"


def build_chapter(
    chapter: Chapter, root: Path = ROOT, noted: Noted | None = None, anew: bool = False
) -> list[str]:
    """Build the stale parts of one chapter; with `anew`, all of it.

    Return what was run and why, and which files were written.
    """
    noted, name = noted or Noted(root), f"{chapter.slug}.ipynb"
    lesson, solved = lesson_notebook(chapter), solution_notebook(chapter)
    told = _built(lesson, root / "notebooks" / name, noted, anew)[1]
    solved, more = _built(solved, root / "solutions" / name, noted, anew)
    told += more + _draw(chapter, root, noted, anew)
    blank = blank_notebook(chapter, solved)
    return told + _write_blank(blank, name, root)


def _draw(chapter: Chapter, root: Path, noted: Noted, anew: bool) -> list[str]:
    """Write what our solution prints for drawn inputs, with the seed of `check`."""
    path = root / DRAWN / f"{chapter.slug}.json"
    why = "asked for" if anew else _drawn_stale(chapter, path) or noted.changed(path)
    if not why:
        return []
    cells = drawn_cells(chapter, PUBLIC)
    used = {}

    def run(notebook: NotebookNode) -> NotebookNode:
        notebook, found = execute_and_note(notebook, root / "solutions")
        used.update(found)
        return notebook

    [printed] = what_is_printed(chapter, [cells], run)
    told = _write_text(path, as_json(chapter, printed))
    noted.note(path, used)
    return [f"{name_of(path)} was run: {why}", *told]


def _drawn_stale(chapter: Chapter, path: Path) -> str:
    """Say why the stored lines of drawn inputs are out of date, or return ""."""
    if not path.exists():
        return "it is missing"
    written = json.loads(path.read_text("utf-8"))
    exercises = chapter.exercises.items()
    sources = {name: each.drawn.splitlines() for name, each in exercises}
    if {name: each["source"] for name, each in written.items()} != sources:
        return "its code changed"
    return ""


def _built(
    notebook: NotebookNode, path: Path, noted: Noted, anew: bool
) -> tuple[NotebookNode, list[str]]:
    """Write a notebook with the outputs that it has, or new ones if they may be stale.

    Return it, and what to tell: why it was run, and whether its file has changed.
    """
    why, used = "asked for" if anew else _stale(notebook, path, noted), None
    if why:
        notebook, used = execute_and_note(notebook, path.parent)
    if not why or why == UNKNOWN:
        before = nbformat.read(path, as_version=4)
        both = (n.cells for n in (notebook, before))
        code = [[c for c in cells if c.cell_type == "code"] for cells in both]
        for cell, old in zip(*code, strict=True):
            if not why or compared(cell.outputs) == compared(reference(old)):
                cell.outputs, cell.execution_count = reference(old), old.execution_count
    for cell in notebook.cells:
        if "guess" in cell.metadata.get("tags", []):
            put_away(cell)
    told = [f"{name_of(path)} was run: {why}"] if why else []
    told += _write(notebook, path)
    noted.note(path, used)
    return notebook, told


def _stale(notebook: NotebookNode, path: Path, noted: Noted) -> str:
    """Say why the stored outputs of a built notebook may be wrong, or return ""."""
    if not path.exists():
        return "it is missing"
    cells = read_notebook(path)["cells"]
    built, wanted = map(_code, (cells, notebook.cells))
    if built != wanted:
        return "its code changed"
    if any(map(_not_run, cells)):
        return "it has cells that were never run"
    return noted.changed(path)


def _code(cells: list[Cell]) -> list[tuple[str, bool]]:
    """Return the source of each cell of code, and whether it is a guess."""
    return [
        (cell["source"], "guess" in cell["metadata"].get("tags", []))
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def _write(notebook: NotebookNode, path: Path) -> list[str]:
    """Write a notebook, unless the file already has the same text."""
    nbformat.validate(notebook)
    return _write_text(path, nbformat.writes(notebook) + "\n")


def _write_text(path: Path, whole: str) -> list[str]:
    if path.exists() and path.read_bytes() == whole.encode():
        return []
    write_whole(path, whole)
    return [f"built {name_of(path)}"]


def _write_blank(blank: NotebookNode, name: str, root: Path) -> list[str]:
    """Write the pristine copy, and the one in exercises/ if it has no answers."""
    pristine, exercise = root / PRISTINE / name, root / "exercises" / name
    untouched = (
        not exercise.exists()
        or not pristine.exists()
        or exercise.read_bytes() == pristine.read_bytes()
    )
    written = _write(blank, pristine)
    if untouched:
        return written + _write(blank, exercise)
    left = f"exercises/{name} has answers in it and was left as it is"
    return [*written, left] if written else []


def problems(wanted: list[Chapter], root: Path = ROOT) -> list[str]:
    """List what is wrong with the sources of some chapters, or out of date."""
    noted, found = Noted(root), []
    for chapter in wanted:
        try:
            made = {"notebooks": lesson_notebook(chapter)}
            made["solutions"] = solved = solution_notebook(chapter)
            made[PRISTINE] = blank_notebook(chapter, solved)
        except ChapterError as error:
            found.append(str(error))
            continue
        for folder, notebook in made.items():
            path = root / folder / f"{chapter.slug}.ipynb"
            if why := _difference(notebook, path, noted):
                found.append(f"{path.relative_to(root).as_posix()} {why}")
        path = root / DRAWN / f"{chapter.slug}.json"
        why = _drawn_stale(chapter, path)
        why = why or noted.knows(path) and noted.changed(path)
        found += [f"{name_of(path)} is out of date: {why}"] if why else []
    return found


def _difference(fresh: NotebookNode, path: Path, noted: Noted) -> str:
    """Say how a built notebook differs from its source, or return ""."""
    if not path.exists():
        return "is missing"
    built = nbformat.read(path, as_version=4)
    if built.metadata != fresh.metadata:
        return "was built from another source"
    if [_essence(cell) for cell in built.cells] != [_essence(c) for c in fresh.cells]:
        return "has other cells than its source"
    if any(map(_not_run, built.cells)):
        return "has cells that were never run"
    why = noted.knows(path) and noted.changed(path)
    return f"may be out of date: {why}" if why else ""


def _not_run(cell: Cell) -> bool:
    """Tell whether a code cell, no blank and no waiting one, was never executed.

    A waiting cell was executed, in a lesson with the others, or in the solutions.
    """
    blank = "answer" in cell["metadata"].get("tags", []) and STUB in cell["source"]
    known = cell["cell_type"] != "code" or cell["execution_count"] or blank
    return not (known or waits(cell))


def _essence(cell: NotebookNode) -> tuple:
    about = {key: cell.metadata[key] for key in cell.metadata if key != "minigrad"}
    return cell.id, cell.cell_type, cell.source, about


# --- the command -------------------------------------------------------------------


def build_command(
    words: list[str], check: bool, anew: bool = False, root: Path = ROOT
) -> int:
    """Build the stale parts of all chapters, or of those named by number.

    With `check`, only compare. With `anew`, also build what is up to date.
    """
    wanted = chosen_chapters(",".join(words), chapters())
    if check:
        return _compare(wanted, root, Console())
    return _build(wanted, root, anew, Console())


def _compare(wanted: list[Chapter], root: Path, console: Console) -> int:
    found = problems(wanted, root)
    pages, failed = outdated_pages(root)
    found += [f"{path.name} is out of date" for path in pages] + failed
    for problem in dict.fromkeys(found):
        console.print(Text(problem, "red"), soft_wrap=True)
    if found:
        console.print("Run: python3 course.py build")
    else:
        console.print(f"{len(wanted)} chapters are built from their sources.")
    return 1 if found else 0


def outdated_pages(root: Path) -> tuple[dict[Path, str], list[str]]:
    """Return the new texts of pages that are out of date, and why there are none."""
    try:
        pages = made_pages(root).items()
    except ChapterError as error:
        return {}, [str(error)]
    return {path: new for path, (now, new) in pages if now != new}, []


def _build(wanted: list[Chapter], root: Path, anew: bool, console: Console) -> int:
    told, failed, noted = [], [], Noted(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {pool.submit(build_chapter, c, root, noted, anew): c for c in wanted}
        for job in as_completed(jobs):
            try:
                lines = job.result()
                told += lines
                for line in lines:
                    console.print(line, soft_wrap=True, highlight=False)
            except ChapterError as error:
                failed.append(str(error))
            except RuntimeError as error:  # our solution, on drawn inputs
                failed.append(f"{jobs[job].slug}: {error}")
            except CellControlSignal as error:
                failed.append(f"{jobs[job].slug}: a cell failed.\n{error}")
            noted.keep()
    pages, unread = outdated_pages(root)
    failed += unread
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8", newline="\n")
        told.append(path.name)
        console.print(f"built {path.name}")
    for line in dict.fromkeys(failed):
        console.print(Text.from_ansi(line, style="red"), soft_wrap=True)
    if not told and not failed:
        console.print("Everything is up to date.")
    return 1 if failed else 0
