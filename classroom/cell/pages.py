"""Excerpts of the package in a notebook are live.

A cell whose first line names a file of the package, such as `# minigrad/value.py`, is
an excerpt of it. The cell sees the names of that file. Once it has run, the package
uses its functions and methods.
"""

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import minigrad.names  # noqa: F401, all that a page may replace has to be loaded
from classroom.cell.namespaces import course
from minigrad.graph.tensor import Tensor, functions, ufuncs
from minigrad.rules.op import Op

PACKAGE = Path(minigrad.__file__).parent
PAGE = re.compile(r"\s*# (minigrad/[\w/]+)\.py\s*$", re.MULTILINE)
# What files of the package had once, so that a page of that time may use it
ONCE = dict.fromkeys(["Callable", "Iterator", "Mapping"], "collections.abc")
ONCE |= {"Any": "typing", "attrgetter": "operator", "ndarray": "numpy"}
ONCE["storage"] = "minigrad.graph.saved_values"
ONCE |= {
    "set_grad_enabled": "minigrad.graph.recording",
    "ones": "minigrad.array.dtypes",
}
NOT_METHODS = {"__module__", "__dict__", "__weakref__", "__doc__", "__slots__"}
NOT_METHODS |= {"__qualname__", "__firstlineno__", "__static_attributes__"}


class Replaced(NamedTuple):
    """One attribute of a class or module that an excerpt has replaced."""

    holder: Any
    name: str
    older: Any
    newer: Any


MISSING = object()
_on_trial: list[Replaced] = []  # since the last check that passed
_refused: dict[str, list[Replaced]] = {}  # what the check of an exercise refused last
_kept: list[Replaced] = []
_own: list[Replaced] = []  # of what is kept, what that check let stay
_aside: list[Replaced] = []  # for the time of a hidden check


def page_of(source: str) -> str | None:
    """Return the module that a cell is an excerpt of ("minigrad.value"), if any.

    Raises LookupError if there is none.
    """
    match = PAGE.match(source)
    if not match:
        return None
    place = PACKAGE.parent / f"{match[1]}.py"
    if not place.exists():
        raise LookupError(
            f"there is no {match[1]}.py in the package, so this cell stays in "
            "the notebook; the first line of the blank names the right file"
        )
    return match[1].replace("/", ".")


def lend(source: str, namespace: dict[str, Any]) -> None:
    """Let an excerpt that is about to run in `namespace` see the names of its file.

    It also sees those of ONCE. Python's own functions, such as `sum`, stay Python's in
    a notebook.
    """
    module = importlib.import_module(page_of(source))
    once = {n: getattr(importlib.import_module(m), n) for n, m in ONCE.items()}
    for name, value in (once | vars(module)).items():
        if not name.startswith("__") and not hasattr(builtins, name):
            namespace.setdefault(name, value)


def install(source: str, namespace: dict[str, Any]) -> None:
    """Put the definitions of an excerpt that ran in `namespace` into the package."""
    module = importlib.import_module(page_of(source))
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef):
            _replace(module, statement.name, namespace)
        elif isinstance(statement, ast.ClassDef):
            _replace_methods(module, statement.name, namespace)
        elif isinstance(statement, ast.Assign):
            _share_variables(module, statement, namespace)
    for name in vars(module):
        if not name.startswith("__") and hasattr(builtins, name):
            namespace.pop(name, None)


def _replace(module: ModuleType, name: str, namespace: dict) -> None:
    """Replace a function or an Op of the package by an excerpt's, everywhere."""
    older, newer = vars(module).get(name), namespace[name]
    if older is None or older is newer:
        return
    holders = [vars(m) for key, m in sys.modules.items() if in_package(key)]
    if not hasattr(builtins, name):  # `sum` stays Python's in a notebook
        namespace[name] = older
        holders.append(namespace)
    for holder in [*holders, ufuncs, functions, course]:
        for key, value in list(holder.items()):
            hidden = isinstance(key, str) and re.fullmatch(r"_+\d*", key)  # IPython's
            if value is older and not hidden:
                holder[key] = newer
                _on_trial.append(Replaced(holder, key, older, newer))
    for key, value in list(vars(Tensor).items()):
        if value is older:
            setattr(Tensor, key, newer)
            _on_trial.append(Replaced(Tensor, key, value, newer))


def _replace_methods(module: ModuleType, name: str, namespace: dict) -> None:
    older, newer = vars(module).get(name), namespace[name]
    if older is None:
        return
    slots = getattr(newer, "__slots__", ())
    for key, value in vars(newer).items():
        if key not in NOT_METHODS and key not in slots:
            before = vars(older).get(key, MISSING)
            _move(value, newer, older)
            setattr(older, key, value)
            _on_trial.append(Replaced(older, key, before, value))
    namespace[name] = older


def _move(method: Any, newer: type, older: type) -> None:
    """Let `super()` in a method mean the package's class, to which it moves."""
    parts = [getattr(method, name, None) for name in ("__func__", "fget", "fset")]
    for function in [method, *parts]:
        for cell in getattr(function, "__closure__", None) or ():
            if cell.cell_contents is newer:
                cell.cell_contents = older


def _share_variables(module: ModuleType, statement: ast.Assign, namespace: dict):
    for part in [part for target in statement.targets for part in ast.walk(target)]:
        written = isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        if written and part.id in vars(module):
            ours, theirs = vars(module)[part.id], namespace[part.id]
            if isinstance(ours, Op) and isinstance(theirs, Op):
                _replace(module, part.id, namespace)
            else:
                namespace[part.id] = ours


def in_package(module_name: str) -> bool:
    """Tell whether a module is one of the package's."""
    return module_name == "minigrad" or module_name.startswith("minigrad.")


def is_live(piece: Any) -> bool:
    """Tell whether a function or method came from an excerpt in this notebook.

    So did the one that has taken its place, if retry() has put it there.
    """
    newer = [replaced.newer for replaced in all_replaced()]
    newer += [replaced.older for replaced in _on_trial]
    newer += [getattr(each, "__func__", None) for each in newer]  # of static methods
    return any(each is piece for each in newer)


def name_of(piece: Any) -> str:
    """Return the name that a piece of the package has there, such as "Value.tanh"."""
    pages = [vars(m) for key, m in list(sys.modules.items()) if in_package(key)]
    classes = [x for page in pages for x in page.values() if isinstance(x, type)]
    holders = [(f"{each.__name__}.", vars(each)) for each in classes]
    for before, names in holders + [("", page) for page in pages]:
        for name, value in names.items():
            if value is piece:
                return before + name
    return getattr(piece, "__name__", repr(piece))


def all_replaced() -> list[Replaced]:
    """Return what live excerpts have replaced, the latest last."""
    return _kept + _on_trial


def own_codes() -> dict[FunctionType, CodeType]:
    """Return the functions on trial, with the code of those that they replaced."""
    found = {}
    for _, _, older, newer in _on_trial:
        both = isinstance(older, FunctionType) and isinstance(newer, FunctionType)
        if both and older.__code__.co_freevars == newer.__code__.co_freevars:
            found[newer] = older.__code__
    return found


def keep(exercise: str = "") -> None:
    """Let the definitions on trial stay, because the check of this exercise passed."""
    _refused.pop(exercise, None)
    _own[:] = _on_trial
    _kept.extend(_on_trial)
    _on_trial.clear()


def restore(exercise: str = "") -> None:
    """Take back the definitions on trial, because the check of this exercise failed."""
    _refused[exercise] = [*_on_trial]
    while _on_trial:
        _put(_on_trial[-1].holder, _on_trial[-1].name, _on_trial.pop().older)


def retry(exercise: str) -> None:
    """Put what this check refused last on trial again, unless a cell has run since.

    So a check that runs twice says the same twice.
    """
    refused = _refused.get(exercise, [])
    newest = {(id(each.holder), each.name) for each in _on_trial}
    if newest.isdisjoint((id(each.holder), each.name) for each in refused):
        for holder, name, _, newer in refused:
            there = holder if isinstance(holder, dict) else vars(holder)
            _on_trial.append(Replaced(holder, name, there.get(name, MISSING), newer))
            _put(holder, name, newer)


@contextmanager
def again(exercise: str) -> Iterator[None]:
    """Put what was refused last on trial once more, for as long as this lasts."""
    retry(exercise)
    try:
        yield
    finally:
        restore(exercise)


def set_aside() -> None:
    """Take back what other answers have replaced, until bring_back().

    A right answer to an early exercise may lack what only a later chapter adds.
    """
    own = 0 if _on_trial else len(_own)
    for replaced in reversed(_kept[: len(_kept) - own]):
        holder, name, older, newer = replaced
        there = holder if isinstance(holder, dict) else vars(holder)
        if there.get(name) is newer:
            _put(holder, name, older)
            _aside.append(replaced)


def bring_back() -> None:
    """Undo set_aside()."""
    while _aside:
        holder, name, _, newer = _aside.pop()
        _put(holder, name, newer)


def _put(holder: Any, name: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[name] = value
    elif value is MISSING:
        delattr(holder, name)
    else:
        setattr(holder, name, value)
