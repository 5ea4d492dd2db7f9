"""An exercise as its author writes it, and the blank that the learner gets."""

import re
from dataclasses import dataclass, field

STUB = 'raise NotImplementedError("fill this in")'
SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?",
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Exercise:
    """One exercise: its blank, its solution and the answers that test the check."""

    name: str
    title: str
    kind: str
    points: int
    solution: str
    wrong: dict[str, str] = field(default_factory=dict)  # misconception -> answer
    refusal: dict[str, str] = field(default_factory=dict)  # misconception -> message
    helps: dict[str, int] = field(default_factory=dict)  # message -> hint that helps
    right: dict[str, str] = field(default_factory=dict)
    hidden: str = ""

    @property
    def blank(self) -> str:
        return SOLUTION.sub(rf"\1{STUB}\n", self.solution + "\n").rstrip("\n")

    @property
    def solved(self) -> str:
        return SOLUTION.sub(r"\2", self.solution + "\n").rstrip("\n")
