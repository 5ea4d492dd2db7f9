"""Slips in Python that make an answer wrong, and what to say about each.

They are told only below what a check says. A slip that our solution has is none.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress

from classroom.cell.asked import BLANK, INVALID

CHANGES = {"append", "extend", "insert", "remove", "reverse", "sort"}
LIBRARIES = {"np", "numpy", "minigrad", "torch", "heapq"}
AT_ONCE = "The `return` in line {} is inside a loop, and ends it in its first round."
POWER = "`^` is not a power in Python. Write `**` instead."
NO_RESULT = (
    "`{}` changes the list, and returns None. Write it on a line of its own, and then "
    "use the list."
)
DEFAULT = "The default value `{}` is made only once, so all calls share it."
OTHER_LINES = "`{}` was given, and you have changed it. Does it still do the same?"


def slips_of(answer: str, ours: str) -> list[str]:
    """Return what to say about the slips in an answer, which our solution has not."""
    found: list[str] = []
    with suppress(*INVALID):
        tree, right = ast.parse(answer), ast.parse(ours)
        for slips in at_once, powers, changes, defaults:
            found += [] if any(slips(right)) else slips(tree)
    return list(dict.fromkeys(found))


def given_and_changed(answer: str, stub: str) -> list[str]:
    """Return what to say about functions that a blank gives and an answer changed."""
    with suppress(*INVALID):
        theirs, given = [
            {name: _text_of(node) for name, node in functions_in(ast.parse(source))}
            for source in (answer, stub)
        ]
        both = [name for name in given if name in theirs and BLANK not in given[name]]
        return [OTHER_LINES.format(n) for n in both if theirs[n] != given[n]]
    return []


def functions_in(
    tree: ast.AST, within: str = ""
) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods of a cell, each with its name in the cell."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{within}{node.name}.")


def _text_of(function: ast.FunctionDef) -> str:
    """Return the code of a function, without its docstring and its annotations."""
    for each in ast.walk(function.args):
        each.annotation = None
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    return ast.unparse([function.args, *body])


def at_once(tree: ast.AST) -> Iterator[str]:
    """Yield a sentence for each loop that never comes to a second round."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            goes_on = any(isinstance(each, ast.Continue) for each in ast.walk(node))
            for each in () if goes_on else node.body:
                if isinstance(each, ast.Return):
                    yield AT_ONCE.format(each.lineno)


def powers(tree: ast.AST) -> Iterator[str]:
    """Yield a sentence for each ^."""
    for node in ast.walk(tree):
        if isinstance(getattr(node, "op", None), ast.BitXor):
            yield POWER


def changes(tree: ast.AST) -> Iterator[str]:
    """Yield a sentence for each use of what a method like list.reverse returns."""
    for node in ast.walk(tree):
        call = node.value if isinstance(node, ast.Return | ast.Assign) else None
        called = call.func if isinstance(call, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr not in CHANGES:
            continue
        if ast.unparse(called.value) not in LIBRARIES:
            yield NO_RESULT.format(ast.unparse(call))


def defaults(tree: ast.AST) -> Iterator[str]:
    """Yield a sentence for each default value that a call may change."""
    for node in ast.walk(tree):
        for each in getattr(node, "defaults", ()):
            if isinstance(each, ast.List | ast.Dict | ast.Set):
                yield DEFAULT.format(ast.unparse(each))
