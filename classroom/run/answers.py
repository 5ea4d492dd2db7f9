"""Run answers within bounds, and say what came of each exercise.

The answers are put into the untouched notebook, and nbval runs that in a process of
its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from classroom.notebook.files import Notebook, write_notebook
from classroom.notebook.graft import graft
from classroom.notebook.pristine import Chapter
from classroom.run import verdict
from classroom.run.verdict import BLANK, Result, result

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
        notebook = graft(chapter, answers)
        events, said = run_notebook(notebook, timeout, folder or pristine.parent)
        results |= {name: result(name, events, timeout, said) for name in answers}
    return results


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
    """Return the environment to run notebooks in, with the user's settings left out.

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
