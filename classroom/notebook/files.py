"""Read and write notebooks as plain dictionaries, as in their JSON.

Each cell's source is one string. Importing nbformat would take longer than reading
every notebook of the course.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from classroom.all_or_nothing import Trouble, put_in_place

COURSE = "py course.py" if os.name == "nt" else "python3 course.py"
KERNEL = {  # what every notebook of the course says of its kernel
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
DIGESTS = "classroom/built.sha256"
FILE_LIMIT = 20 << 20  # bytes of one notebook that is handed in
Cell = dict[str, Any]
Notebook = dict[str, Any]


class Unreadable(Trouble):
    """A notebook cannot be read; the text says why and what to do."""


def notebooks_of(folder: Path) -> list[Path]:
    """The notebooks in a folder, in order, without those that other programs hide.

    These are macOS' ._FILE, and .~FILE, which Jupyter leaves after a failed save.
    """
    return [p for p in sorted(folder.glob("*.ipynb")) if p.name[0] not in ".~"]


def digests(root: Path) -> str:
    """Return a digest of each lesson and solution, as `sha256sum` would print them.

    A build stores them in the file DIGESTS, so that `lab` trusts no other notebooks.
    """
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {folder}/{path.name}\n"
        for folder in ("notebooks", "solutions")
        for path in notebooks_of(root / folder)
    ]
    return "".join(lines)


def read_notebook(path: Path) -> Notebook:
    """The notebook at `path`, however it was saved; raises Unreadable."""
    try:
        return parse_notebook(path.read_bytes(), path.name)
    except OSError as error:
        raise Unreadable(f"{path.name}: {error.strerror}.") from None


def parse_notebook(data: bytes, name: str) -> Notebook:
    """The notebook in a file called `name`; raises Unreadable."""
    try:
        notebook = json.loads(data)  # which tells UTF-8, 16 and 32 from each other
    except (ValueError, RecursionError) as error:
        raise Unreadable(_why_not_json(data, name, error)) from None
    try:
        notebook["cells"] = [_clean(cell) for cell in notebook["cells"]]
        notebook["metadata"] = dict(notebook.get("metadata") or {})
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Unreadable(
            f"{name} is JSON, but not a notebook (or one from before 2015: open it in "
            f"JupyterLab, and save it). {_fresh(name)}"
        ) from None
    return notebook


def _why_not_json(data: bytes, name: str, error: Exception) -> str:
    text = data.decode("utf-8", "replace")
    if not text.strip("\ufeff \r\n\t"):
        return f"{name} is empty. {_fresh(name)}"
    lines = text.splitlines()
    marks = [n for n, line in enumerate(lines, 1) if line.startswith("<<<<<<< ")]
    if marks:
        return (
            f"{name} contains the conflict markers of a git merge (line {marks[0]}: "
            f"{lines[marks[0] - 1][:30]}): `git status` says how to end the merge."
        )
    where = f" at line {error.lineno}" if hasattr(error, "lineno") else ""
    return (
        f"{name} is not a notebook, because its JSON is incomplete or wrong{where}. "
        f"Was it edited as text? {_fresh(name)}"
    )


def _fresh(name: str) -> str:
    """Say how to get a fresh notebook to replace one that cannot be read."""
    number = re.match(r"0*(\d+)_", Path(name).name)
    chapter = number[1] if number else "CHAPTER"
    return f"`{COURSE} reset {chapter}` gives a fresh one, and keeps this one."


def _clean(cell: Cell) -> Cell:
    source = cell.get("source", "")
    source = source if isinstance(source, str) else "".join(source)
    source = source.replace("\r\n", "\n")
    source = source.encode("utf-8", "replace").decode()  # half characters: none such
    metadata = dict(cell.get("metadata") or {})
    return {
        **cell,
        "source": source,
        "metadata": metadata,
        "cell_type": cell["cell_type"],
    }


def as_bytes(notebook: Notebook) -> bytes:
    """The bytes that Jupyter would write for `notebook`."""
    cells = [{**c, "source": c["source"].splitlines(True)} for c in notebook["cells"]]
    looks = {"indent": 1, "ensure_ascii": False, "sort_keys": True}
    return f"{json.dumps({**notebook, 'cells': cells}, **looks)}\n".encode()


def write_notebook(path: Path, notebook: Notebook) -> None:
    """Write `notebook` as Jupyter does; the old file stays until it is complete."""
    write_whole(path, as_bytes(notebook))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder; an old file stays until the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    data = content.encode() if isinstance(content, str) else content
    try:
        unfinished.write_bytes(data)
        put_in_place(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def code_cell(name: str, source: str, about: dict[str, Any]) -> Cell:
    """A cell of code that was not run, with `about` in its metadata."""
    cell = {"cell_type": "code", "id": name, "source": source, "outputs": []}
    return {**cell, "metadata": {"minigrad": about}, "execution_count": None}


def digest_of(paths: Iterable[Path]) -> str:
    """A hash of what is in some files, the same on every system."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def as_table(value: Any) -> dict:
    """`value` if it is a table, or else an empty one; a file may hold anything."""
    return value if isinstance(value, dict) else {}


def read_table(path: Path) -> dict:
    """The table in a JSON file, or an empty one if there is none that can be read."""
    try:
        return as_table(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return {}


# --- cells that wait for their run: their expected outputs are hidden until then -----


def put_away(cell: Cell) -> None:
    """Hide the outputs of a code cell, so that it looks as if it had not run.

    They are in its metadata then, where no program shows them.
    """
    cell["metadata"]["minigrad"] = {"outputs": cell["outputs"]}
    cell["outputs"], cell["execution_count"] = [], None


def reference(cell: Cell) -> list[dict[str, Any]]:
    """Return the expected outputs of a code cell, hidden or not."""
    about = as_table(cell["metadata"].get("minigrad"))
    return about.get("outputs", cell.get("outputs", []))


def waits(cell: Cell) -> bool:
    """Tell whether the outputs of a cell are hidden."""
    return "outputs" in as_table(cell["metadata"].get("minigrad"))
