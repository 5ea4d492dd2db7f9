"""Our solutions, if the course has them; a release for a class has none."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from classroom.cell.asked import UNREADABLE, id_of, notebook_in

FENCE = "````"  # a solution may have three of them in a row
FOLD = """\
<details><summary>Our solution, next to yours</summary>

{}

</details>"""


class Solution(NamedTuple):
    """Our answer to an exercise, and what stands beside it, by its heading.

    That is an answer written another way, and a session with PyTorch's own lines.
    """

    exercise: str
    ours: str
    beside: dict[str, str]

    def __str__(self) -> str:
        beside = [f"# {heading}\n\n{code}" for heading, code in self.beside.items()]
        return "\n\n\n".join([self.ours, *beside])

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        blocks = [f"{FENCE}python\n{self.ours}\n{FENCE}"]
        for heading, code in self.beside.items():
            blocks += [f"{heading}:", f"{FENCE}python\n{code}\n{FENCE}"]
        plain = f"`course.py solution {self.exercise}` shows our solution."
        return {
            "text/markdown": FOLD.format("\n\n".join(blocks)),
            "text/plain": plain,
        }


def solution_of(course: Path, exercise: str) -> Solution | None:
    """Return the solution of an exercise ("4.2"), or None if the course has none."""
    with suppress(*UNREADABLE):
        notebook = notebook_in(course / "solutions", exercise)
        texts = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
        ours = texts[id_of("answer", exercise)]
        beside = notebook["metadata"]["minigrad"].get("beside", {})
        return Solution(exercise, ours, beside.get(exercise, {}))
    return None
