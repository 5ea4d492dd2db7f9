"""Run answers within bounds, and say what came of each exercise.

The answers are put into the untouched notebook, and nbval runs that in a process of
its own.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from classroom.notebook.carry_over import graft
from classroom.notebook.files import Cell, Notebook, code_cell, write_notebook
from classroom.notebook.pristine import Chapter, make_label
from classroom.run import verdict
from classroom.run.verdict import BLANK, Result, result

VOCABULARY = Path("chapters", "drawn.py")  # of all laws
LAW = """\
from classroom.cell.laws import hold
from classroom.checks import check
laws = {0!r}
with check({1!r}):
    hold({1!r}, *laws, globals())"""
INTERRUPTED = 2  # pytest's exit code after Ctrl-C


def run_answers(
    pristine: Path,
    answers: dict[str, list[str]],
    timeout: float,
    folder: Path | None = None,
) -> dict[str, Result]:
    """Judge `answers` (the cells that answer each exercise) in one kernel.

    An exercise without answer is "blank", and none of it is run. `timeout` is in
    seconds for one cell. The kernel works in `folder`, else in that of `pristine`.
    """
    chapter = Chapter(pristine)
    results = dict.fromkeys(chapter.exercises, BLANK)
    if answers:
        notebook = graft(chapter, answers, law_cells(pristine, "law"))
        events, said = run_notebook(notebook, timeout, folder or pristine.parent)
        results |= {name: result(name, events, timeout, said) for name in answers}
    return results


def law_cells(pristine: Path, role: str) -> dict[str, Cell]:
    """Return the cells that hold the answers of a chapter against its laws.

    There are none where the course was handed out without them.
    """
    root = pristine.resolve().parents[2]
    paths = root / VOCABULARY, root / "chapters" / pristine.stem / "laws.md"
    if not all(path.exists() for path in paths):
        return {}
    laws = [path.read_text("utf-8") for path in paths]
    names = re.findall(r"^## (\d+\.\d+)$", laws[-1], re.MULTILINE)
    about = {name: {"exercise": name, "role": role} for name in names}
    return {
        name: code_cell(make_label("law", name), LAW.format(laws, name), about[name])
        for name in names
    }


def run_notebook(
    notebook: Notebook, timeout: float, folder: Path | None
) -> tuple[list[dict], str]:
    """Run a notebook to its end; return its events, and what was written last.

    The kernel works in `folder`; without one, in a sandbox.
    """
    # What still holds a file there must not cost the results
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        place, events = Path(temporary, "notebooks"), Path(temporary, "events")
        place.mkdir()
        write_notebook(place / "notebook.ipynb", notebook)
        bounds = [timeout, verdict.ALL_CELLS * timeout, int(folder is None)]
        words = [place, events, folder or temporary, *bounds]
        said = _under_nbval(words, Path(temporary, "settings"))
        lines = events.read_text("utf-8").splitlines() if events.exists() else []
    return [json.loads(line) for line in lines], said


def _under_nbval(words: list, settings: Path) -> str:
    """Run under_nbval.py in a process of its own; return the last line it wrote."""
    command = [sys.executable, "-P", "-m", "classroom.run.under_nbval"]
    run = subprocess.run(
        [*command, *map(str, words)],
        env=plain_environment(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if run.returncode == INTERRUPTED:
        raise RuntimeError("it was interrupted")
    lines = run.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ended with code {run.returncode}"


def plain_environment(settings: Path) -> dict[str, str]:
    """Return the environment variables without those that hold a user's settings.

    Programs find theirs in the folder `settings`, where there are none; no plugin loads
    by itself.
    """
    unwanted = ("IPYTHON", "JUPYTER", "MPL", "MATPLOTLIB", "PYTEST", "PYTHON")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "matplotlibrc").touch()
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "MATPLOTLIBRC"):
        kept[name] = str(settings)
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
