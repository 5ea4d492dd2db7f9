"""An exercise as its author writes it, and the blank that the learner gets."""

import ast
import re
from dataclasses import dataclass, field

from classroom.all_or_nothing import Trouble

STUB = 'raise NotImplementedError("fill this in")'
SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?",
    re.DOTALL | re.MULTILINE,
)

AROUND = re.compile(r"^---$", re.MULTILINE)
OPENED = re.compile(r"class \w+:\n    \.\.\.\n\n")


class ChapterError(Trouble):
    """A source of a chapter has a mistake; the text says where and what."""


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
    pytorch: str = ""  # a session with PyTorch's lines for the same
    drawn: str = ""  # code that prints what an answer gives for inputs from `rng`

    @property
    def blank(self) -> str:
        return SOLUTION.sub(rf"\1{STUB}\n", self.solution + "\n").rstrip("\n")

    @property
    def solved(self) -> str:
        return solved(self.solution)


def solved(source: str) -> str:
    """Return an answer's source without the marks around what a blank leaves out."""
    return SOLUTION.sub(r"\2", source + "\n").rstrip("\n")


def marked(text: str, left_out: str) -> str:
    """Return a quote of the package with marks around what a blank leaves out.

    Each line of `left_out` names a part: `a = 1 ... b` by its first and its last line,
    `a = 1 ...` up to the end, and `a = 1` a single line. If it is empty, the bodies of
    all functions are left out. If it has a line `---`, it is text instead: what stands
    above and below the quote in its cell. Between two such lines are the parts again.
    """
    if AROUND.search(left_out):
        above, *parts, below = (part.strip("\n") for part in AROUND.split(left_out))
        first, _, rest = text.partition("\n")  # the page's first line stays the first
        if parts or "### BEGIN SOLUTION" not in left_out:
            rest = marked(rest, "".join(parts))
        opened = OPENED.match(rest)
        if opened and above.startswith(opened[0]):  # the text is of the same class
            above, rest = f"{above}\n\n{rest[opened.end() :]}", ""
        return f"{first}\n" + "\n\n\n".join(filter(None, [above, rest, below]))
    lines = text.splitlines()
    parts = [part_told(line, lines) for line in left_out.splitlines() if line.strip()]
    for first, last in sorted(parts or bodies(text), reverse=True):
        indent = re.match(r" *", lines[first])[0]
        part = lines[first : last + 1]
        begin, end = f"{indent}### BEGIN SOLUTION", f"{indent}### END SOLUTION"
        lines[first : last + 1] = [begin, *part, end]
    return "\n".join(lines)


def part_told(told: str, lines: list[str]) -> tuple[int, int]:
    """Return the first and the last line of a part, counted from 0."""
    first, several, last = (each.strip() for each in f"{told} ".partition(" ... "))
    bare = [line.strip() for line in lines]
    if bare.count(first) != 1:
        often = bare.count(first)
        raise ChapterError(f"{first!r} stands {often} times in the solution, not once")
    start = bare.index(first)
    if not last:
        return start, len(lines) - 1 if several else start
    if last not in bare[start:]:
        raise ChapterError(f"{last!r} does not stand below {first!r} in the solution")
    return start, bare.index(last, start)


def bodies(text: str) -> list[tuple[int, int]]:
    """Return where the bodies of functions are, without their docstrings."""
    found, inner = [], set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node not in inner:
            inner.update(ast.walk(node))
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found.append((body[0].lineno - 1, node.end_lineno - 1))
    return found
