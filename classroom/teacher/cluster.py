"""Where tasks run: on this machine or, by dask, on several; in sandboxes that hold."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import current_process
from typing import Any

from classroom.notebook.files import Unreadable
from classroom.run import sandbox
from classroom.run.sandbox import NoSandbox
from classroom.teacher.tasks import (
    Outcome,
    Tasks,
    course_digest,
    grade_answers,
    run_here,
)


@contextmanager
def workers(
    address: str | None, tls: dict[str, str], safe: bool
) -> Iterator[Callable[[Tasks], Iterator[Outcome]]]:
    """Yield what runs tasks: here, or on the workers of a dask scheduler at `address`.

    Raises Unreadable if the course on a worker is another one, NoSandbox if a worker
    cannot keep submissions apart, unless they need not be `safe`.
    """
    if address is None:
        if safe:
            require_sandboxes({"": why_no_sandbox()})
        yield run_here
        return
    with connected(address, tls) as client:
        here = course_digest()
        others = [w for w, d in client.run(course_digest).items() if d != here]
        if others:
            raise Unreadable(f"The course on {others[0]} is not the same as here.")
        if bound := [w for w, d in client.run(is_daemon).items() if d]:
            raise Unreadable(
                f"The worker {bound[0]} may start no processes, which grading needs. "
                "Start it with --no-nanny."
            )
        if safe:
            require_sandboxes(client.run(why_no_sandbox))
        yield partial(run_there, client)


def connected(address: str, tls: dict[str, str]) -> Any:
    """Return a dask client of the scheduler at `address`; raise Unreadable."""
    from distributed import Client
    from distributed.security import Security

    security = Security(require_encryption=True, **tls) if tls else None
    try:
        return Client(address, security=security, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise Unreadable(f"There is no scheduler at {address}: {error}") from None


def run_there(client: Any, tasks: Tasks) -> Iterator[Outcome]:
    """Yield what came of each task as it is done, on the workers of a scheduler."""
    from distributed import as_completed

    again = {"retries": 1}  # on another worker, if one was lost
    futures = [
        client.submit(grade_answers, *w, key=k, **again) for k, w in tasks.items()
    ]
    for future in as_completed(futures):
        if error := future.exception():
            yield future.key, {}, f"{type(error).__name__}: {error}"
        else:
            yield future.key, future.result(), ""


def is_daemon() -> bool:
    """Return whether this process may have no children."""
    return current_process().daemon


def require_sandboxes(problems: dict[str, str]) -> None:
    """Raise NoSandbox unless every machine has a sandbox that holds."""
    for worker, problem in problems.items():
        where = f" on {worker}" if len(problems) > 1 else ""
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
