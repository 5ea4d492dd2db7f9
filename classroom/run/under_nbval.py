"""Run a notebook with answers under nbval, and record the result of each cell.

judge.py runs this file in its own process.
"""

import json
import os
import sys
from pathlib import Path
from typing import TextIO

import nbval.plugin
import pytest

from classroom.cell.drawn import same_numbers
from classroom.run.bounded_kernel import KEPT, BoundedKernel
from classroom.run.roles import ROLES
from classroom.run.verdict import is_forgiven

NBVAL_MEMORY = 1 << 30  # bytes that nbval may hold, outside of a sandbox
SANITIZER = Path(__file__).with_name("nbval_sanitize.cfg")


class Recorder:
    """Tells the kernel which cell comes next, and records how each one went."""

    def __init__(self, events: TextIO) -> None:
        self.events = events
        self.failed = set()  # exercises, or None for a cell of the chapter

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        place = item.cell.metadata.minigrad
        role = ROLES[place.role]
        if None in self.failed or (role.needs_answer and place.exercise in self.failed):
            pytest.skip("its exercise has failed already")
        item.parent.kernel.place = place
        item.parent.skip_compare += ("text/html",)  # a picture, of which the text tells
        if role.by_learner:
            item.options.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo
    ) -> None:
        skipped = call.excinfo and call.excinfo.errisinstance(pytest.skip.Exception)
        if skipped or (call.when != "call" and not call.excinfo):
            return
        kernel = item.parent.kernel
        stopped = kernel.stopped if kernel else "Unstarted"
        event = _what_happened(item, call.excinfo, stopped)
        event |= item.cell.metadata.minigrad
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()
        if event["failed"] and not is_forgiven(event):
            self.failed.add(event["exercise"])
            if kernel:
                kernel.forget(event["exercise"], event["role"])


def _what_happened(item, excinfo, stopped):
    """Return why a cell failed ("failed": None if it did not), and its error."""
    outputs = item.test_outputs or []
    errors = [o for o in outputs if o.output_type == "error"]
    if excinfo is None:
        return {"failed": None}
    if stopped == "Unstarted":
        return {"failed": stopped}
    expected, got = _as_text(item.cell.outputs), _as_text(outputs)
    texts = {"expected": expected[:KEPT], "got": got[:KEPT]}
    if errors:
        told = {key: errors[0][key] for key in ("ename", "evalue")}
        told["traceback"] = "\n".join(errors[0].traceback)[-KEPT:]
        return {"failed": stopped or "raised", **told, **texts}
    if str(excinfo.value) == "Cell outputs differ":
        secret = ROLES[item.cell.metadata.minigrad.role].secret
        if secret and same_numbers(expected, got):
            return {"failed": None}
        return {"failed": "differs", **texts}
    told = {"ename": excinfo.typename, "evalue": str(excinfo.value)[:KEPT]}
    return {"failed": "raised", **told}


def _as_text(outputs):
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
    return "".join(texts)


def bound_memory(most: int) -> None:
    """Limit the memory of this process; its children set their own limits."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def main(
    place: Path,
    events: Path,
    folder: Path,
    timeout: float,
    total: float,
    sandboxed: bool,
) -> int:
    """Run the notebook in a folder, for seconds: `timeout` a cell, `total` all of it.

    Its kernel works in `folder`, or in a sandbox whose sockets are made in `folder`.
    The file `events` gets one JSON object per line.
    Returns pytest's exit code.
    """
    if sandboxed:
        bound_memory(NBVAL_MEMORY)
    BoundedKernel.folder, BoundedKernel.sandboxed = str(folder), sandboxed
    BoundedKernel.timeout, BoundedKernel.total = timeout, total
    nbval.plugin.RunningKernel = BoundedKernel
    options = ["--nbval-lax", "--nbval-current-env", "--nbval-sanitize-with"]
    plugins = ["-p", "nbval.plugin", "-p", "no:cacheprovider", "-s", "--color=no"]
    plugins += ["-p", "no:unraisableexception"]  # it collects garbage for 0.1 s
    plugins += ["--continue-on-collection-errors"]  # only Ctrl-C is an interrupt
    settings = place / "empty.ini"  # no settings
    with settings.open("w"), events.open("w", encoding="utf-8") as file:
        words = [*plugins, *options, SANITIZER, "-c", settings, place]
        return pytest.main(list(map(str, words)), plugins=[Recorder(file)])


if __name__ == "__main__":
    timeout, total, sandboxed = map(float, sys.argv[4:])
    code = main(*map(Path, sys.argv[1:4]), timeout, total, bool(sandboxed))
    sys.stderr.flush()
    os._exit(code)  # at once: all that this process has started has ended
