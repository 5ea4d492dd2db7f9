"""Hidden checks: the drawn inputs of a chapter, with a seed that is kept secret."""

import hmac
import json
from functools import cache

from classroom import ROOT
from classroom.author.chapters import chapters
from classroom.author.drawn import drawn_cells, what_is_printed
from classroom.notebook.files import Cell
from classroom.notebook.pristine import Chapter
from classroom.notebook.source_code import PARSING


@cache
def hidden_checks(slug: str, seed: str) -> dict[str, Cell]:
    """Return the cells of a chapter's hidden checks, by exercise.

    Also return the output of our solution. Raises RuntimeError if our solution does not
    run.
    """
    chapter = next(c for c in chapters() if c.slug == slug)
    with PARSING:
        cells = drawn_cells(chapter, seed)
    printed, _ = what_is_printed(chapter, cells, ROOT / "exercises")
    for name, cell in cells.items():
        stream = {"output_type": "stream", "name": "stdout", "text": printed[name]}
        cell |= {"outputs": [stream], "execution_count": 1}
        cell["metadata"]["tags"] = ["nbval-check-output"]
    return cells


def own_seed(seed: str, slug: str, answers: dict[str, list[str]]) -> str:
    """Return one of sixteen seeds, by the answers; it reveals nothing of the teacher's.

    So what an answer finds out about its own inputs seldom helps another one, or itself
    after a change. And the reference runs at most sixteen times a chapter.
    """
    said = json.dumps(answers, sort_keys=True)
    which = hmac.new(seed.encode(), said.encode(), "sha256").digest()[0] % 16
    return hmac.new(seed.encode(), f"{slug} {which}".encode(), "sha256").hexdigest()


def pristine(slug: str) -> Chapter:
    """Return the untouched notebook of a chapter."""
    return Chapter(ROOT / "classroom" / "pristine" / f"{slug}.ipynb")
