"""The definitions of a file or an excerpt: where each is, and how to swap them."""

import ast
import textwrap
from collections.abc import Collection
from functools import cache


def replaced(
    text: str, page: str, helpers: list[str], leave: Collection[str] = ()
) -> str:
    """Return the text of a file with its definitions replaced by those of an excerpt.

    Definitions that the file lacks are added: `helpers` and the excerpt's own functions
    in front, a method next to another method of its class. Definitions in `leave` stay
    the file's.
    """
    here, lines, new, front = places(text), text.splitlines(), {}, list(helpers)
    page_lines = page.splitlines()
    there = {n: place for n, place in places(page).items() if n not in leave}
    for name in sorted(there, key=lambda name: name not in here):  # known ones first
        source = textwrap.dedent("\n".join(page_lines[slice(*there[name])]))
        family = class_of(name)
        beside = [known for known in new if family and class_of(known) == family]
        if name in here and not name.startswith("class "):
            new[name] = source
        elif beside:
            new[beside[-1]] += "\n\n" + source
        elif name not in here and not family:
            front.append(source)
    first = min((here[class_of(name) or name] for name in new), default=(0, 0))[0]
    for name in sorted(new, key=here.get, reverse=True):  # so that earlier places stay
        indented = textwrap.indent(new[name], "    " if class_of(name) else "")
        lines[slice(*here[name])] = indented.splitlines()
    lines[first:first] = "\n\n".join([*front, ""]).splitlines() if front else []
    return "\n".join(lines) + "\n"


@cache  # quotes ask for the same few files again and again
def places(source: str) -> dict[str, tuple[int, int]]:
    """Map each definition of a file to its lines: "f", "class C", "C.method"."""
    found = {}
    for statement in ast.parse(source).body:
        found[label(statement)] = extent(statement)
        for part in getattr(statement, "body", ()):
            if isinstance(statement, ast.ClassDef) and ast.unparse(part) != "...":
                found[f"{statement.name}.{label(part)}"] = extent(part)
    return found


def class_of(name: str) -> str | None:
    """Return the class of a method, by its name in `places`, or None."""
    owner, dot, _ = name.partition(".")
    return f"class {owner}" if dot and owner.isidentifier() else None


def label(statement: ast.stmt) -> str:
    """Return what a statement defines: a function, "class C", a setter, its targets."""
    if isinstance(statement, ast.ClassDef):
        return f"class {statement.name}"
    if isinstance(statement, ast.Assign):
        return ", ".join(map(ast.unparse, statement.targets))
    decorators = map(ast.unparse, getattr(statement, "decorator_list", ()))
    setter = ".setter" if any(each.endswith(".setter") for each in decorators) else ""
    return getattr(statement, "name", "") + setter or ast.unparse(statement)


def extent(statement: ast.stmt) -> tuple[int, int]:
    """Return the first line of a statement, decorators included, and its end."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(d.lineno for d in decorators)])
    return first - 1, statement.end_lineno
