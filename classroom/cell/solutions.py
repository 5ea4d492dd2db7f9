"""Our solutions, if the course has them; a release for a class has none."""

import json
import re
from pathlib import Path
from typing import NamedTuple

from classroom.cell.asked import id_of

FENCE = "````"  # a solution may have three of them in a row
FOLD = """\
<details><summary>Our solution, next to yours</summary>

{}

</details>"""


class Solution(NamedTuple):
    """Our answer to an exercise, and one that is written another way, or ""."""

    exercise: str
    ours: str
    other: str

    def __str__(self) -> str:
        other = f"\n\n\n# another way\n\n{self.other}" if self.other else ""
        return f"{self.ours}{other}"

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        blocks = [f"{FENCE}python\n{self.ours}\n{FENCE}"]
        if self.other:
            blocks += ["Another way:", f"{FENCE}python\n{self.other}\n{FENCE}"]
        plain = f"`course.py solution {self.exercise}` shows our solution."
        return {
            "text/markdown": FOLD.format("\n\n".join(blocks)),
            "text/plain": plain,
        }


def solution_of(course: Path, exercise: str) -> Solution | None:
    """Return the solution of an exercise ("4.2"), or None if the course has none."""
    chapter = exercise.partition(".")[0]
    places = (course / "solutions").glob("*.ipynb")
    try:
        (path,) = [p for p in places if re.fullmatch(rf"0*{chapter}_\w+", p.stem)]
        notebook = json.loads(path.read_bytes())
        texts = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
        ours = texts[id_of("answer", exercise)]
        others = notebook["metadata"]["minigrad"].get("another way", {})
        return Solution(exercise, ours, others.get(exercise, ""))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
