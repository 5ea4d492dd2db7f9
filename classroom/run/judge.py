"""Run answers within limits, and return the result of each exercise.

The answers are put into the untouched notebook, and nbval runs it in its own process.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from classroom.notebook.files import Cell, Notebook, code_cell, write_notebook
from classroom.notebook.pristine import Chapter, id_of
from classroom.run import verdict
from classroom.run.roles import notebook_to_run
from classroom.run.verdict import BLANK, Result, result

DRAWN = """\
from classroom.checks import check
from classroom.cell.drawn import compare
with check({0!r}):
    compare({0!r}, {1!r}, {2!r}, globals())  # hidden check"""
SETTINGS = "IPYTHON", "JUPYTER_CONFIG", "MPL", "MATPLOTLIB", "PYTHONSTARTUP"
INTERRUPTED = 2  # pytest's exit code after Ctrl-C


def run_answers(
    pristine: Path,
    answers: dict[str, list[str]],
    timeout: float,
    folder: Path | None = None,
) -> dict[str, Result]:
    """Judge `answers` (the cells that answer each exercise) in one kernel.

    An exercise without an answer is "blank", and none of it is run. `timeout` is in
    seconds for one cell. The kernel works in `folder`, or by default in that of
    `pristine`.
    """
    chapter = Chapter(pristine)
    results = dict.fromkeys(chapter.exercises, BLANK)
    if answers:
        notebook = notebook_to_run(chapter, answers, drawn_cells(pristine))
        events, said = run_notebook(notebook, timeout, folder or pristine.parent)
        results |= {name: result(name, events, timeout, said) for name in answers}
    return results


def drawn_cells(pristine: Path) -> dict[str, Cell]:
    """Return the cells that run the drawn inputs of a chapter, by exercise.

    There are none if the course was handed out without them.
    """
    path = pristine.resolve().parents[1] / "drawn" / f"{pristine.stem}.json"
    if not path.exists():
        return {}
    return {
        name: code_cell(
            id_of("drawn", name),
            DRAWN.format(name, *("\n".join(each[k]) for k in ("source", "prints"))),
            {"exercise": name, "role": "drawn"},
        )
        for name, each in json.loads(path.read_text("utf-8")).items()
    }


def run_notebook(
    notebook: Notebook, timeout: float, folder: Path | None
) -> tuple[list[dict], str]:
    """Run a notebook to its end; return its events, and the last output.

    The kernel works in `folder`, or without one in a sandbox. A result that may be due
    to chance, such as to a busy machine, gets a second try.
    """
    events, said = run_once(notebook, timeout, folder)
    if any(event["failed"] in verdict.BY_CHANCE for event in events):
        events, said = run_once(notebook, timeout, folder)
    return events, said


def run_once(
    notebook: Notebook, timeout: float, folder: Path | None
) -> tuple[list[dict], str]:
    """Run a notebook as `run_notebook` does, without a second try."""
    # What still holds a file there must not cost the results
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        place, events = Path(temporary, "notebooks"), Path(temporary, "events")
        write_notebook(place / "notebook.ipynb", notebook)
        bounds = [timeout, verdict.ALL_CELLS * timeout, int(folder is None)]
        words = [place, events, folder or temporary, *bounds]
        said = _under_nbval(words, Path(temporary, "settings"))
        lines = events.read_text("utf-8").splitlines() if events.exists() else []
    return [json.loads(line) for line in lines], said


def _under_nbval(words: list, settings: Path) -> str:
    """Run under_nbval.py in its own process; return the last line of its output."""
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

    Programs find their settings in the folder `settings`, where there are none. No
    plugin loads by itself.
    """
    settings.mkdir(parents=True, exist_ok=True)
    unwanted = ("JUPYTER", "PYTEST", "PYTHON")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return without_settings(kept, str(settings)) | plain


def without_settings(env: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return environment variables by which programs find their settings in a folder.

    The folder is empty, so there are no settings.
    """
    kept = {name: value for name, value in env.items() if not name.startswith(SETTINGS)}
    (Path(folder) / "matplotlibrc").touch()
    names = "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "MATPLOTLIBRC"
    return kept | dict.fromkeys(names, folder)
