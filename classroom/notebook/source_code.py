"""The names that the source of a cell defines and reads; it may be invalid Python."""

import ast
import re
import sys
from collections.abc import Iterable
from threading import RLock

from classroom.cell.asked import bound_names, names_read, parsed

HEADER = re.compile(r"# minigrad/[\w/]+\.py\s*$")
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)

if sys.version_info < (3, 11, 8):  # in which two threads may not parse at once
    _parse, _parsing = ast.parse, RLock()

    def _parse_alone(*args, **options):
        with _parsing:
            return _parse(*args, **options)

    ast.parse = _parse_alone


def code_lines(source: str) -> list[str]:
    """The lines of `source` that are neither empty nor comments."""
    lines = [line.rstrip() for line in source.splitlines()]
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def statements(source: str) -> list[ast.stmt]:
    """The statements of `source`, or none if it is not valid Python."""
    return parsed(source).body


def outline(source: str) -> str:
    """What a blank asks, to be compared: `source` without comments and annotations."""
    found = statements(source)
    for node in (node for each in found for node in ast.walk(each)):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return "\n".join(map(ast.dump, found))


def names_set(statement: ast.stmt) -> set[str]:
    """The names that a definition or a value gets, such as two in two = sqrt(4)."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    targets = getattr(statement, "targets", None) or [statement.target]
    inside = [node for target in targets for node in ast.walk(target)]
    if any(isinstance(node, ast.Attribute | ast.Subscript) for node in inside):
        return set()  # it writes into something that is there already
    return {node.id for node in inside if isinstance(node, ast.Name)}


def imported(source: str) -> set[str]:
    """The modules that `source` imports, anywhere in it, such as a in import a.b."""
    nodes = [node for each in statements(source) for node in ast.walk(each)]
    names = [each.name for n in nodes if isinstance(n, ast.Import) for each in n.names]
    names += [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - {""}


def names_needed(sources: Iterable[str], above: list[ast.stmt]) -> set[str]:
    """The names that `sources` read, and those that `above` reads to make them."""
    needed, found = set().union(*map(names_read, sources)), above
    while found:
        found = [s for s in above if names_set(s) & needed]
        above = [s for s in above if s not in found]
        needed = needed.union(*(names_read(ast.unparse(s)) for s in found))
    return needed


def brought_along(source: str, known: str, needed: set[str]) -> str:
    """The parts of a cell above that an answer needs: imports, definitions and values.

    Values are included only if all their names are `needed`. Nothing is included that
    is also in the text `known`. The rest of the cell stays out.
    """
    body, have = statements(source), set(map(ast.dump, statements(known)))
    if has_header(source):
        return ""
    kept = [
        s
        for s in body
        if ast.dump(s) not in have
        and (isinstance(s, DEFINITIONS) or names_set(s) and names_set(s) <= needed)
    ]
    whole = len(kept) == len(body)
    return source if kept and whole else "\n".join(map(ast.unparse, kept))


def has_header(source: str) -> bool:
    """Whether `source` is an excerpt of the package, and so live once it ran."""
    return bool(HEADER.match(source.split("\n", 1)[0]))


def header_of(source: str) -> str:
    """The first line of `source`, if it names a file of the package; else ""."""
    return source.split("\n", 1)[0].rstrip() if has_header(source) else ""


def with_header(source: str, stub: str) -> str:
    """`source`, with the stub's `# minigrad/...` line as its first.

    That may be missing, or name a file that has another name now.
    """
    if not has_header(stub) or not bound_names(source) & bound_names(stub):
        return source
    rest = source.partition("\n")[2] if has_header(source) else source
    return stub.partition("\n")[0] + "\n" + rest
