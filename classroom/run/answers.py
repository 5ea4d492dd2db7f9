"""Run answers within bounds, and say what came of each exercise.

The answers are put into the untouched notebook, and nbval runs that in a process of
its own.
"""

import json
import os
import re
import signal
import sys
import tempfile
from multiprocessing import forkserver, get_context, resource_tracker
from pathlib import Path
from typing import TextIO

from classroom.notebook.files import Cell, Notebook, write_notebook
from classroom.notebook.graft import graft
from classroom.notebook.pristine import Chapter, make_label
from classroom.run import verdict
from classroom.run.verdict import BLANK, Result, result

# What is forked has imported this already, which takes longer than running
PRELOADED = ["classroom.run.under_nbval", "classroom.run.sandbox"]
if sys.platform == "linux":
    forkserver.set_forkserver_preload(PRELOADED)
VOCABULARY = Path("tests", "drawn.py")  # of all laws
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
    return {
        name: {
            "cell_type": "code",
            "id": make_label("law", name),
            "source": LAW.format(laws, name),
            "metadata": {"minigrad": {"exercise": name, "role": role}},
            "execution_count": None,
            "outputs": [],
        }
        for name in re.findall(r"^## (\d+\.\d+)$", laws[-1], re.MULTILINE)
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
        where = place, events, folder or Path(temporary)
        bounds = timeout, verdict.ALL_CELLS * timeout, folder is None
        said = _run_to_its_end((*where, *bounds))
        lines = events.read_text("utf-8").splitlines() if events.exists() else []
    return [json.loads(line) for line in lines], said


def start_server() -> None:
    """Start the process that those which run notebooks are forked from, on Linux.

    Ctrl-C does not reach it then. Only the main thread may call this.
    """
    if sys.platform != "linux":
        return
    resource_tracker.ensure_running()  # which would lift the mask
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # it inherits that
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _run_to_its_end(task: tuple) -> str:
    """Run under_nbval.main in a process of its own; return the last line it wrote."""
    context = get_context("forkserver" if sys.platform == "linux" else "spawn")
    errors, settings = task[0].with_name("errors"), task[0].with_name("settings")
    words = task, plain_environment(settings), errors
    process = context.Process(target=_under_nbval, args=words, daemon=True)
    process.start()
    process.join()
    if process.exitcode == INTERRUPTED:
        raise RuntimeError("it was interrupted")
    written = errors.read_text("utf-8", "replace") if errors.exists() else ""
    lines = written.strip().splitlines()
    return lines[-1] if lines else f"it ended with code {process.exitcode}"


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


def _under_nbval(task: tuple, env: dict[str, str], errors: Path) -> None:
    if sys.platform == "linux":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    os.environ.clear()
    os.environ.update(env)
    for stream, file in ((0, os.devnull), (1, os.devnull), (2, errors)):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), stream)
    # Those of a console on Windows cannot write to what stands in its place now
    sys.stdout, sys.stderr = map(stream_to, (1, 2))
    from classroom.run import under_nbval

    sys.exit(under_nbval.main(*task))


def stream_to(descriptor: int) -> TextIO:
    """A stream that writes to an open file, line by line."""
    safe = {"encoding": "utf-8", "errors": "replace", "closefd": False}
    return open(descriptor, "w", 1, **safe)
