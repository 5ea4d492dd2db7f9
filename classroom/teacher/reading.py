"""Read what one student handed in, in a separate process with limits.

`python -m classroom.teacher.reading` takes a job as JSON and prints one line of JSON
for each thing that it found. A submission that is too slow or too large ends only this
process.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from classroom import ROOT
from classroom.notebook.answers import NotOurs, learner_in
from classroom.notebook.files import Unreadable, parse_notebook
from classroom.notebook.pristine import Chapter
from classroom.teacher import archives
from classroom.teacher.archives import Found, Place

SECONDS = 10  # of a processor, for all that one student has handed in
MEMORY = 512 << 20  # bytes that reading it may take (not on Windows)
TOLD = 20  # things that are told of what one student handed in


@dataclass
class HandIn:
    """A student's notebook of one chapter, and remarks about it."""

    chapter: str
    file: str
    answers: dict[str, list[str]]
    notes: list[str] = field(default_factory=list)
    changed: float = 0.0  # when the file was last changed, in seconds


# --- notebooks ---------------------------------------------------------------------


def read_places(places: list[Place], chapters: list[Chapter]) -> Iterator[HandIn | str]:
    """Yield a student's notebooks, and then remarks about the rest."""
    reader, graded = archives.Reader(), False
    problems, others = [], []
    for place in places:
        for found in reader.place(place):
            try:
                hand_in = read_found(found, chapters)
            except Unreadable as error:
                said = f"{found.name}: {archives.shown(str(error), archives.TEXT)}"
                (others if isinstance(error, NotOurs) else problems).append(said)
                continue
            graded = True
            yield hand_in
    if not (graded or problems):
        empty = f"{archives.shown(places[0].name)}: {archives.EMPTY}"
        problems = others[:3] or [empty]
    yield from problems[:TOLD]
    if len(problems) > TOLD:
        yield f"{len(problems) - TOLD:,} more files or folders cannot be read"


def read_found(found: Found, chapters: list[Chapter]) -> HandIn:
    """Return the answers in one file that was found; raise Unreadable."""
    if found.problem:
        kind = NotOurs if found.problem == archives.NO_NOTEBOOK else Unreadable
        raise kind(found.problem)
    try:
        file = found.name.split("/")[-1]
        learner = learner_in(parse_notebook(found.data, file), file, chapters)
        answers, astray = learner.answers(), learner.astray()
    except Unreadable:
        raise
    except Exception as error:  # one odd file must not hide the others
        why = f"it cannot be read ({type(error).__name__}: {error})"
        raise Unreadable(why) from None
    notes = [f"{n}: an answer seems to be in {p}" for n, p in astray.items()]
    return HandIn(learner.chapter.slug, found.name, answers, notes, found.changed)


# --- the process -------------------------------------------------------------------


def bound() -> None:
    """Limit the time and the memory of this process."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Do a job that comes as JSON; the last line says that it is the last."""
    bound()
    job, pristine = json.load(sys.stdin), ROOT / "classroom" / "pristine"
    chapters = [Chapter(pristine / f"{slug}.ipynb") for slug in job["chapters"]]
    for found in read_places([Place(**each) for each in job["places"]], chapters):
        note = isinstance(found, str)
        line = {"note": found} if note else {"hand_in": asdict(found)}
        print(json.dumps(line), flush=True)
    print(json.dumps({"end": True}), flush=True)


if __name__ == "__main__":
    main()
