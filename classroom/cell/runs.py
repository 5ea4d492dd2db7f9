"""Which cells have run to their end in this kernel, and which have not.

So a check does not pass the result of an older run if the newest run has failed. And a
check notes what it passes, for `course.py progress`.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from IPython.display import display

from classroom.cell.asked import (
    Asked,
    asked,
    assigned,
    bound_names,
    chapter_of,
    core,
    course_of,
    exercise_at,
    mark_of,
    names_read,
    scopes,
)
from classroom.cell.notes import PASSED, TRIED, read_notes, write_note
from classroom.cell.pages import PAGE
from classroom.cell.solutions import solution_of

ABOVE = (
    "`{}` gets its value in a cell above, which has not run since this notebook's "
    "kernel was started. Choose Run > Run All Above Selected Cell."
)


class Run(NamedTuple):
    """The last run of a cell: its id, if a page named it, its text, and its error."""

    cell: str | None
    source: str
    error: str = ""
    blank: str = ""  # the function that it came to, if that is a blank


_runs: list[Run] = []  # of the learner's cells, the latest last
_course = course_of(Path.cwd())
now = Run(None, "")  # the cell that runs at this moment
given: set[str] = set()  # ids and texts of what is given, and has been run


def begin(cell: str | None, source: str) -> None:
    """Take note of the cell that is about to run."""
    global now
    now = Run(cell, source)


def is_untouched() -> bool:
    """Return whether the cell that runs is a blank as the course gives it."""
    about = what_is_asked(exercise_at(now.cell)[1])
    return about is not None and now.source.strip() == about.stub.strip()


def end(error: BaseException | None, blank: str = "") -> None:
    """Take note of how a learner's cell ended; see Run."""
    said = getattr(error, "msg", error)  # a SyntaxError's is without its place
    text = f"{type(error).__name__}: {said}" if error else ""
    key = now.cell or now.source
    _runs[:] = [run for run in _runs if (run.cell or run.source) != key]
    _runs.append(now._replace(error=text, blank=blank))


def seen() -> bool:
    """Return whether a person looks on; a page that shows notebooks names its cells."""
    return now.cell is not None


def what_is_asked(exercise: str) -> Asked | None:
    """Return what an exercise asks, if it can be read here."""
    return asked(_course, exercise) if _course and exercise else None


def failed(exercise: str) -> Run | None:
    """Return the failed run of a cell that an answer needs, if nothing fixed it since.

    It is fixed if the same cell, or another one that defines the same, has run since.
    """
    about = what_is_asked(exercise)
    if about is None:
        return None
    needed = set(about.names)
    while more := _needs(needed) - needed:
        needed |= more
    for n, run in enumerate(_runs):
        names = bound_names(run.source) & needed
        own = exercise_at(run.cell) == ("answer", exercise)
        if not run.error or not (names or own):
            continue
        later = (bound_names(r.source) for r in _runs[n + 1 :] if not r.error)
        since = set().union(*later)
        # A blank may name nothing; then what the cell itself defines has to be defined
        missing = (names or about.names or bound_names(run.source)) - since
        if missing or not since:
            return run
    return None


def answer_to(exercise: str, about: Asked) -> set[str]:
    """Return the cells that have run and answer an exercise.

    If its blank names nothing, that is the answer's own cell.
    """
    done = [run for run in _runs if not run.error]
    if about.names:
        return core((run.source for run in done), about.names)
    return {r.source for r in done if exercise_at(r.cell) == ("answer", exercise)}


def answered(exercise: str) -> bool:
    """Return whether an answer's own cell has run; where nobody looks on, it has."""
    own = "answer", exercise
    return not seen() or any(exercise_at(run.cell) == own for run in _runs)


def without_page(exercise: str) -> str:
    """Return the first line that the answer's own cell lacks, so it is no excerpt."""
    about = what_is_asked(exercise)
    first = about.stub.partition("\n")[0] if about else ""
    own = [r for r in _runs if exercise_at(r.cell) == ("answer", exercise)]
    page, found = PAGE.match(first), PAGE.match(own[-1].source) if own else None
    lacks = own and page and (found is None or found[1] != page[1])
    return first if lacks and bound_names(own[-1].source) & about.names else ""


def elsewhere(exercise: str) -> str:
    """Return the other exercise in whose cell alone an answer stands, or ""."""
    about = what_is_asked(exercise)
    if about is None:
        return ""
    found = [r for r in _runs if bound_names(r.source) & about.names]
    found = [r for r in found if r.source.strip() != about.stub.strip()]
    homes = {exercise_at(run.cell) for run in found}
    others = [name for kind, name in homes if kind == "answer" and name != exercise]
    return others[0] if len(others) == len(homes) > 0 else ""


def gone(names: Iterable[str]) -> list[str]:
    """Return those of some functions and methods that no cell so much as mentions."""
    words = set(re.findall(r"\w+", "\n".join(run.source for run in _runs)))
    return [n for n in lacking(names) if n.rpartition(".")[2] not in words]


def defined(names: frozenset[str]) -> bool:
    """Return whether some cell of the learner's that has run defines these names."""
    return bool(core((run.source for run in _runs), names))


def lacking(names: Iterable[str]) -> list[str]:
    """Return those of some functions and methods that no cell which has run defines."""
    bound = set().union(*(bound_names(run.source) for run in _runs))
    every = [scope for run in _runs for scope in scopes(run.source)]
    classes = [scope for scope in every if scope.get_type() == "class"]
    inside = {s.get_name() for c in classes for s in c.get_symbols() if s.is_assigned()}
    there = {name: inside if "." in name else bound for name in names}
    return [n for n in there if _runs and n.rpartition(".")[2] not in there[n]]


def _needs(names: set[str]) -> set[str]:
    """Return the names that are read by the cells which define some names."""
    there = [r.source for r in _runs if not r.error and bound_names(r.source) & names]
    return set().union(*map(names_read, there))


def note(exercise: str, passed: bool) -> None:
    """Note that an answer has passed or was refused, if a person looks on.

    If the check is not the original one, nothing is noted.
    """
    about = what_is_asked(exercise)
    if about is None or not seen() or now.source != about.check:
        return
    answer = answer_to(exercise, about)
    if answer:
        notes = PASSED if passed else TRIED
        first = write_note(_course, exercise, mark_of(about, answer), notes)
        chapter = {*chapter_of(_course, exercise)}
        if passed and first and chapter <= {*read_notes(_course)}:
            number = exercise.partition(".")[0]
            print(f"With it, you have passed all of chapter {number}.")


def our_solution(exercise: str) -> str:
    """Return our solution, if this course has it, else ""."""
    found = solution_of(_course, exercise) if _course else None
    return found.ours if found else ""


def not_run_yet(name: str | None) -> str:
    """Return what to run if a cell above this one of a lesson gives `name` a value."""
    known = _course and now.cell and name
    for path in sorted((_course / "notebooks").glob("*.ipynb")) if known else ():
        with suppress(OSError, ValueError, LookupError, TypeError):
            text = path.read_bytes()
            cells = json.loads(text)["cells"] if now.cell.encode() in text else []
            code = [each for each in cells if each["cell_type"] == "code"]
            ids = [each["id"] for each in code]
            above = code[: ids.index(now.cell)] if now.cell in ids else []
            if any(name in assigned("".join(each["source"])) for each in above):
                return ABOVE.format(name)
    return ""


def show_solution(exercise: str) -> None:
    """Show a person who looks on our solution, folded, if this course has it."""
    found = solution_of(_course, exercise) if _course and seen() else None
    if found:
        display(found)
