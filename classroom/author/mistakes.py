"""A mistake as a change of the solution, written as in a diff.

A ` ` marks a line that stays, `-` a line that is removed, `+` a line that is added, and
`@@` separates two places. Only these lines say where the place is, so they have to
occur once in the solution. Comments, docstrings and blank lines of the solution do not
count.
"""

import ast
import re
from functools import cache

from classroom.author.blanks import ChapterError

TEXTS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
PAGE = re.compile(r"# minigrad/\S+\.py")


def changed(solution: str, change: str, where: str) -> str:
    """Return the solution with a change, or raise ChapterError if it does not fit.

    `where` says where the change is written.
    """
    lines = [*plain(solution)]
    for place in re.split(r"^@@\n?", change, flags=re.MULTILINE):
        marked = [(line[:1], line[1:]) for line in place.splitlines()]
        before = [line for mark, line in marked if mark != "+"]
        after = [line for mark, line in marked if mark != "-"]
        starts = range(len(lines) - len(before) + 1)
        found = [n for n in starts if lines[n : n + len(before)] == before]
        if len(found) != 1:
            often = f"{len(found)} times" if found else "nowhere"
            told = "\n".join(before)
            told = f"these lines stand {often} in the solution:\n{told}"
            raise ChapterError(f"{where}: {told}")
        lines[found[0] : found[0] + len(before)] = after
    return "\n".join(lines)


@cache
def plain(source: str) -> tuple[str, ...]:
    """Return the lines of some code without docstrings, comments and blank lines.

    A first line that names a file of the package stays. So does a docstring that is the
    whole body.
    """
    lines, texts = source.splitlines(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, TEXTS) and ast.get_docstring(node) and node.body[1:]:
            first = node.body[0]
            texts.update(range(first.lineno, first.end_lineno + 1))
    code = [line for n, line in enumerate(lines, 1) if n not in texts]
    return tuple(
        line for line in code if line.strip()[:1] not in ("", "#") or PAGE.match(line)
    )
