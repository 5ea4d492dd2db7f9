"""In an exam the engine has to be the learner's own, so other engines do not help.

They cannot be imported, and the package's own, which the judge needs, does nothing for
an answer. This starts with the cell that gives `examine` in an exercise notebook. It
works only within one Python process. A search of the memory finds the package, and
another engine that was pasted into the notebook is not noticed.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import minigrad
from classroom.cell import state
from minigrad.rules.op import Op
from minigrad.scalar.value import Value

OURS = {"minigrad", "classroom"}  # which the judge needs
FIRST_CELL = "classroom", "classroom.live"  # what it imports: nothing is in them then
OTHERS = "aesara autograd casadi chainer dezero functorch jax jaxlib keras micrograd "
OTHERS += "mlx mxnet oneflow paddle pytensor sympy tensorflow theano tinygrad torch"
TOLD = "{} is out of reach, because here the engine has to be your own."
FOLDER = os.path.realpath(Path(minigrad.__file__).parent)
PROGRAMS = "subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"
WORK = {Value: "__init__", Op: "__call__"}  # every result goes through these
_usual = {holder: vars(holder)[name] for holder, name in WORK.items()}
_hidden: dict[str, Any] = {}
begun = False


class Refusal:
    """A finder of modules that finds none, and refuses those that are engines."""

    @staticmethod
    def find_spec(name: str, *place: Any) -> None:
        first = name.partition(".")[0]
        if first in OTHERS.split() or (first in OURS and _hidden):
            raise ImportError(TOLD.format(first), name=name)


def begin() -> None:
    """Put all engines out of reach of an answer, until this Python ends."""
    global begun
    if not begun:
        begun = True
        sys.meta_path.insert(0, Refusal)
        sys.addaudithook(refuse_files)
        guard()


def refuse_files(event: str, words: tuple) -> None:
    """Refuse to open a file of the package, or to start a program, for an answer."""
    if not _hidden:
        return
    if event == "open" and isinstance(words[0], str | bytes):
        path = os.path.realpath(os.fsdecode(words[0]))
        if path.startswith(FOLDER):
            raise PermissionError(TOLD.format(f"The file {Path(path).name}"))
    if event in PROGRAMS:
        raise PermissionError(TOLD.format("Another program"))


def refuse_work(*_: Any, **__: Any) -> None:
    raise ImportError(TOLD.format("The package minigrad"))


def guard() -> None:
    for holder, name in WORK.items():
        state.replace(holder, name, refuse_work)


def hide() -> None:
    """In an exam, hide the judge's modules while an answer runs."""
    for key in list(sys.modules) if begun and not _hidden else ():
        if key.partition(".")[0] in OURS:
            _hidden[key] = sys.modules.pop(key)
    if _hidden:  # so that the notebook's first cell can run again
        sys.modules.update({name: ModuleType(name) for name in FIRST_CELL})
        sys.modules["classroom"].__path__ = []  # its parts are looked for, and refused


def show() -> None:
    """Undo hide()."""
    sys.modules.update(_hidden)
    _hidden.clear()


@contextmanager
def allowed() -> Iterator[None]:
    """Let the package work inside the `with` block, for comparison."""
    hidden = bool(_hidden)
    show()
    for holder, name in WORK.items() if begun else ():
        state.replace(holder, name, _usual[holder])
    try:
        yield
    finally:
        if begun:
            guard()
        if hidden:
            hide()
