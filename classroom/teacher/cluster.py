"""Grading on many machines: the workers of a dask.distributed cluster run the tasks.

Each worker runs the course that it has. So it has to be the same course as here, with
the same Python, and there has to be a sandbox. If a worker is lost, the scheduler gives
its tasks to others.
"""

import platform
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from logging import CRITICAL, getLogger

import numpy as np

from classroom.all_or_nothing import Trouble
from classroom.run import sandbox
from classroom.teacher.tasks import Outcome, Run, Task, course_digest, outcome, told


def workers_of(address: str, safe: bool) -> Run:
    """Return what runs tasks on the workers of a scheduler; raise Trouble.

    Each worker has to give the same grades as this machine, and to have a sandbox if
    grading is to be `safe`.
    """
    try:
        from distributed import Client

        client = Client(address, timeout=10)
        getLogger("distributed.client").setLevel(CRITICAL)  # what is lost, we say
    except ImportError:
        raise Trouble(
            "--scheduler needs a package that is not installed: "
            "`.venv/bin/python -m pip install distributed`."
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise Trouble(f"There is no scheduler at {address}: {error}") from None
    here = versions()
    found = client.run(require, here, safe, on_error="return")
    unfit = [f"\n  {worker}: {why}" for worker, why in sorted(found.items()) if why]
    if unfit or not found:
        client.close()
        reasons = "".join(unfit) or "\n  It has none."
        raise Trouble(
            f"Workers of {address} cannot grade. Nothing was graded.{reasons}"
        )
    return partial(run_there, client, partial(outcome_there, here, safe))


def run_there(client, work: Callable, tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Yield the outcome of each task when it is done."""
    from distributed import as_completed

    with client:
        futures = [client.submit(work, task, key=task[0]) for task in tasks]
        for future in as_completed(futures):
            try:
                found = future.result()
            except Exception as error:  # each of its workers was lost, or the scheduler
                found = future.key, {}, told(error).replace(future.key, "its answers")
            yield found


def outcome_there(expected: str, safe: bool, task: Task) -> Outcome:
    """Return the outcome of a task on a worker, which may have come later."""
    require(expected, safe)
    return outcome(task)


@cache
def require(expected: str, safe: bool) -> None:
    """Raise Trouble if this machine cannot grade for one with `expected` versions."""
    if safe:
        sandbox.require()
    if versions() != expected:
        raise Trouble(f"It has {versions()}. Expected is {expected}.")


def versions() -> str:
    """Return what grades depend on, beside the submissions and the seed."""
    python = f"Python {platform.python_version()} on {platform.machine()}"
    return f"course {course_digest()[:12]}, {python}, NumPy {np.__version__}"
