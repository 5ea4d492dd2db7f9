"""Slips in Python that make a wrong answer wrong, and what to say about each.

They are told only below what a check says. A slip that our solution has is none.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress

from classroom.cell.parts import functions_in

CHANGES = {"append", "extend", "insert", "remove", "reverse", "sort"}
LIBRARIES = {"np", "numpy", "minigrad", "torch", "heapq"}
NO_RETURN = "`{}` has no `return`, so it returns None."
MAY_END = "`{}` can come to its end without a `return`, and then it returns None."
AT_ONCE = "The `return` in line {} is inside a loop, and ends it in its first round."
POWER = "`^` is not a power in Python. Write `**` instead."
NO_RESULT = (
    "`{}` changes the list, and returns None. Write it on a line of its own, and then "
    "use the list."
)


def slips_of(answer: str, ours: str) -> list[str]:
    """Return what to say about the slips in an answer, which our solution has not."""
    found: list[str] = []
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree, right = ast.parse(answer), ast.parse(ours)
        returning = {name: f for name, f in functions_in(right) if returns(f)}
        for name, function in functions_in(tree):
            if name not in returning or raises(function):
                continue
            if not returns(function):
                found.append(NO_RETURN.format(name))
            elif yields(function) or yields(returning[name]):
                continue
            elif may_end(function.body) and not may_end(returning[name].body):
                found.append(MAY_END.format(name))
        for slips in at_once, powers, changes:
            found += [] if any(slips(right)) else slips(tree)
    return list(dict.fromkeys(found))


def own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what stands in a function, but not in the functions inside it."""
    nodes = list(function.body)
    for node in nodes:  # the list grows while we walk along it
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            nodes += ast.iter_child_nodes(node)


def returns(function: ast.FunctionDef) -> bool:
    """Tell whether a function returns or yields something."""
    kinds = ast.Return | ast.Yield | ast.YieldFrom
    return any(isinstance(n, kinds) and n.value is not None for n in own(function))


def yields(function: ast.FunctionDef) -> bool:
    """Tell whether a function is a generator."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own(function))


def raises(function: ast.FunctionDef) -> bool:
    """Tell whether a function raises an error of its own, as a blank does."""
    return any(isinstance(node, ast.Raise) for node in own(function))


def may_end(body: list[ast.stmt]) -> bool:
    """Tell whether Python may come to the end of some lines; of loops nobody knows."""
    last = body[-1]
    if isinstance(last, ast.If):
        return not last.orelse or may_end(last.body) or may_end(last.orelse)
    if isinstance(last, ast.With):
        return may_end(last.body)
    others = ast.Return | ast.Raise | ast.For | ast.While | ast.Try | ast.Match
    return not isinstance(last, others)


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
