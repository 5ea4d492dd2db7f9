"""Grade each set of answers as a task of its own, here or on a cluster.

So what one submission does costs nobody else anything.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from classroom import ROOT
from classroom.notebook.files import Unreadable, write_whole
from classroom.notebook.graft import graft
from classroom.run import sandbox
from classroom.run.answers import run_notebooks
from classroom.run.sandbox import NoSandbox
from classroom.run.verdict import BLANK, OTHER_INPUTS, STOPPED, Result, result
from classroom.teacher.hidden_checks import hidden_checks, own_seed, pristine
from classroom.teacher.reading import HandIn

MESSAGE = 2_000  # characters of what is told of one exercise
KINDS = {".py", ".md", ".ipynb", ".safetensors"}
WORDY = {"wrong", "error"}  # what a second run finds the words for


# --- one task -----------------------------------------------------------------------


def grade_answers(
    slug: str,
    answers: dict[str, list[str]],
    seed: str,
    timeout: float,
    safe: bool = True,
) -> dict[str, tuple[str, str]]:
    """Return status and message by exercise, as check has them, for one notebook.

    A wrong answer's message comes from a second run without hidden checks, so that
    nothing of these can get into it.
    """
    chapter = pristine(slug)
    hidden = hidden_checks(slug, own_seed(seed, slug, answers))
    folder = None if safe else ROOT / "exercises"
    (events,), said = run_notebooks([graft(chapter, answers, hidden)], timeout, folder)
    first = {n: judged(n, events, timeout, said, "hidden") for n in answers}
    second: dict[str, Result] = {}
    if any(
        verdict.status in WORDY and not verdict.message for verdict in first.values()
    ):
        (events,), said = run_notebooks([graft(chapter, answers)], timeout, folder)
        second = {n: judged(n, events, timeout, said, "check") for n in answers}
    grades = dict.fromkeys(chapter.exercises, (BLANK.status, ""))
    for name, verdict in first.items():
        message = verdict.message or second.get(name, verdict).message
        grades[name] = verdict.status, message[:MESSAGE]
    return grades


def judged(
    name: str, events: list[dict], timeout: float, said: str, last: str
) -> Result:
    """Return the result of an exercise, of messages only what may be shown.

    In a run with hidden checks that is what does not come from the kernel.
    """
    found = result(name, events, timeout, said, last)
    here = [e["failed"] for e in events if e["exercise"] in (name, None)]
    stopped = [failed for failed in here if failed in STOPPED]
    if found.status != "passed" and stopped:
        return Result(*STOPPED[stopped[0]](timeout))
    if last == "check" or found.message == OTHER_INPUTS:
        return found
    return Result(found.status)


# --- all tasks ----------------------------------------------------------------------


def key_of(hand_in: HandIn, settings: tuple[str, float, bool]) -> str:
    """Return a name for a task: the same one for what gives the same grades."""
    what = [hand_in.chapter, hand_in.answers, *settings, course_digest()]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:20]


class Ledger:
    """What has been graded so far, a line each in a file; it survives an interrupt."""

    def __init__(self, path: Path):
        self.path, self.known = path, {}
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for line in lines:
            with suppress(ValueError, KeyError):  # a line that was broken off
                entry = json.loads(line)
                self.known[entry["key"]] = entry["grades"]
        write_whole(path, "".join(map(self.line, self.known)))

    def line(self, key: str) -> str:
        """Return what the file says of one task."""
        return json.dumps({"key": key, "grades": self.known[key]}) + "\n"

    def add(self, key: str, grades: dict[str, tuple[str, str]]) -> None:
        """Write down one notebook's grades."""
        self.known[key] = grades
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.line(key))


def run_tasks(
    client: Any,
    tasks: dict[str, HandIn],
    ledger: Ledger,
    settings: tuple[str, float, bool],
    console: Console,
) -> dict[str, str]:
    """Grade what is not in the ledger yet, and write each down as it is done.

    Returns what hindered the tasks that could not be graded, by key.
    """
    from distributed import as_completed

    left = {key: task for key, task in tasks.items() if key not in ledger.known}
    futures = [
        client.submit(
            *(grade_answers, task.chapter, task.answers, *settings),
            key=key,
            retries=1,  # another worker, if one was lost
        )
        for key, task in left.items()
    ]
    hindered = {}
    with Progress(console=console, transient=True) as progress:
        done = len(tasks) - len(left)
        bar = progress.add_task("grading", total=len(tasks), completed=done)
        for future in as_completed(futures):
            if error := future.exception():
                hindered[future.key] = f"{type(error).__name__}: {error}"[:MESSAGE]
            else:
                ledger.add(future.key, future.result())
            progress.advance(bar)
    return hindered


@contextmanager
def workers(address: str | None, tls: dict[str, str]) -> Iterator[Any]:
    """Yield a dask client: of a cluster in this process, or of the one at `address`.

    Raises Unreadable if the course on a worker is another one, NoSandbox if a worker
    cannot keep submissions apart.
    """
    from distributed import Client, LocalCluster
    from distributed.security import Security

    if address is None:
        one = {"processes": False, "n_workers": 1}
        one |= {"threads_per_worker": os.cpu_count(), "silence_logs": "CRITICAL"}
        here = "127.0.0.1:0"  # its pages are for nobody on the network
        one |= {"dashboard_address": here, "worker_dashboard_address": here}
        with LocalCluster(**one) as local, Client(local) as client:
            yield client
        return
    security = Security(require_encryption=True, **tls) if tls else None
    try:
        client = Client(address, security=security, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise Unreadable(f"There is no scheduler at {address}: {error}") from None
    with client:
        here = course_digest()
        others = [w for w, d in client.run(course_digest).items() if d != here]
        if others:
            raise Unreadable(f"The course on {others[0]} is not the same as here.")
        if bound := [w for w, d in client.run(is_daemon).items() if d]:
            raise Unreadable(
                f"The worker {bound[0]} may start no processes, which grading needs. "
                "Start it with --no-nanny."
            )
        yield client


def is_daemon() -> bool:
    """Return whether this process may have no children."""
    return current_process().daemon


@cache
def course_digest() -> str:
    """Return a hash of what grades depend on: the package, sources and this folder."""
    parts = [ROOT / "classroom" / "pristine", ROOT / "chapters", ROOT / "minigrad"]
    paths = sorted(p for part in parts for p in part.rglob("*") if p.suffix in KINDS)
    paths += sorted((ROOT / "classroom").rglob("*.py"))
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def require_everywhere(client: Any) -> None:
    """Raise NoSandbox unless every worker has a sandbox that holds."""
    found = client.run(why_no_sandbox)
    for worker, problem in found.items():
        where = f" on {worker}" if len(found) > 1 else ""
        if problem:
            raise NoSandbox(
                f"Submissions would run without a sandbox{where}: {problem}. "
                "To run them there nevertheless, with your rights and your files, "
                "give --unsafe."
            )


def why_no_sandbox() -> str:
    """Return why submissions cannot be kept apart here; "" if they can."""
    try:
        sandbox.require()
    except NoSandbox as error:
        return str(error)
    return ""
