"""Hidden checks: cells after the visible ones, with what our own solution prints.

Their inputs come from the teacher's seed.
"""

import hmac
import json
from functools import cache

from nbclient.exceptions import CellExecutionError
from nbformat import from_dict

from classroom import ROOT
from classroom.author import chapters as sources
from classroom.author.execute import execute
from classroom.notebook.carry_over import graft
from classroom.notebook.files import Cell, code_cell
from classroom.notebook.pristine import Chapter, make_label


@cache
def hidden_checks(slug: str, seed: str) -> dict[str, Cell]:
    """Return the cells of a chapter's hidden checks, with what our solution prints.

    Raises RuntimeError if our own solution does not run.
    """
    chapter = next(c for c in sources.chapters() if c.slug == slug)
    exercises = chapter.exercises
    cells = {n: hidden_cell(n, e.hidden, seed) for n, e in exercises.items()}
    solved = {name: [exercise.solved] for name, exercise in exercises.items()}
    notebook = from_dict(graft(pristine(slug), solved, cells))
    try:
        execute(notebook, ROOT / "exercises")
    except CellExecutionError as error:
        what = f"{error.ename}: {error.evalue}"
        raise RuntimeError(f"our own solution stopped with {what}") from None
    for cell in notebook.cells:
        place = cell.metadata.minigrad
        if place.role == "hidden":
            printed = "".join(output.get("text", "") for output in cell.outputs)
            stream = {"output_type": "stream", "name": "stdout", "text": printed}
            cells[place.exercise]["outputs"] = [stream]
    return cells


def own_seed(seed: str, slug: str, answers: dict[str, list[str]]) -> str:
    """Return one of sixteen seeds, by the answers; it tells nothing of the teacher's.

    So what an answer finds out of its own inputs seldom helps another one, or itself
    with a change, and the reference runs sixteen times a chapter at most.
    """
    said = json.dumps(answers, sort_keys=True)
    which = hmac.new(seed.encode(), said.encode(), "sha256").digest()[0] % 16
    return hmac.new(seed.encode(), f"{slug} {which}".encode(), "sha256").hexdigest()


def hidden_cell(name: str, source: str, seed: str) -> Cell:
    """Return the cell of a hidden check; the names that it binds are its own.

    Those of Python's own functions mean these, whatever an answer has called so.
    """
    draw = f'__import__("random").Random({f"{seed} {name}"!r})'
    names = "**globals(), **vars(__import__('builtins')), '__name__': __name__"
    place = {"exercise": name, "role": "hidden"}
    source = f"exec({source!r}, {{{names}, 'rng': {draw}}})  # hidden check"
    cell = code_cell(make_label("hidden", name), source, place)
    cell["metadata"]["tags"] = ["nbval-check-output"]
    return {**cell, "execution_count": 1}


def pristine(slug: str) -> Chapter:
    """Return the untouched notebook of a chapter."""
    return Chapter(ROOT / "classroom" / "pristine" / f"{slug}.ipynb")
