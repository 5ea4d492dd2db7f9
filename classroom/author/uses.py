"""Which functions and files of the course does a program use?

If a program starts with `watched()` in its environment, it loads minigrad and classroom
with one more line in each function, which notes that the function was called. Nothing
else changes, and a call takes a few nanoseconds longer.
"""

import ast
import atexit
import json
import marshal
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import source_hash
from pathlib import Path
from time import monotonic_ns
from types import CodeType, ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"minigrad", "classroom"}
CACHE = ROOT / ".minigrad" / "watched"
OWN = Path(__file__).read_bytes() + sys.version.encode()
AT_START = Path(__file__).with_name("at_start")
FOLDER = "MINIGRAD_USES"  # the environment's name for where a watched program writes
CALLED = "__called__"  # in a watched module: the functions that were called
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
NAMING = ast.Assign | ast.AnnAssign | ast.AugAssign
OUTSIDE = {"..", ".venv", ".minigrad", ".git", ".pytest_cache", "site", "kept"}


class Uses(NamedTuple):
    """What a program, or a part of it, used."""

    functions: set[str]  # by their whole names, such as minigrad.rules.op.Op.__call__
    files: set[str]  # relative to the course's folder


def named(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the statements of a module, each with a name that it gives, or "".

    The methods of a class are yielded apart from the class.
    """
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            for each in statement.body:
                if isinstance(each, FUNCTION):
                    yield f"{statement.name}.{each.name}", each
        if isinstance(statement, FUNCTION | ast.ClassDef):
            yield statement.name, statement
        elif isinstance(statement, NAMING):
            targets = getattr(statement, "targets", None) or [statement.target]
            # what stands in brackets gets no name here: functions[np.where] = where
            bases = [t.value if isinstance(t, ast.Subscript) else t for t in targets]
            parts = [part for base in bases for part in ast.walk(base)]
            for name in [p.id for p in parts if isinstance(p, ast.Name)]:
                yield name, statement
        else:
            yield "", statement


def watched_code(path: str) -> CodeType:
    """Return the code of a file with notes. It is kept until the file changes."""
    data = Path(path).read_bytes()
    kept = CACHE / source_hash(OWN + path.encode() + data).hex()
    try:
        return marshal.loads(kept.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        code, unfinished = with_notes(data, path), kept.with_suffix(f".{os.getpid()}")
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(marshal.dumps(code))
        os.replace(unfinished, kept)
        return code


def with_notes(data: bytes, path: str) -> CodeType:
    """Return the code of a file, in which functions note that they were called."""
    tree, seen = ast.parse(data), set()
    for name, statement in named(tree):
        for node in [*ast.walk(statement)] if name else ():
            if isinstance(node, FUNCTION | ast.Lambda) and node not in seen:
                seen.add(node)
                note_call(node, f"{name}()" if isinstance(statement, NAMING) else name)
    return compile(ast.fix_missing_locations(tree), path, "exec")


def note_call(node: ast.AST, name: str) -> None:
    """Let a function note that it was called."""
    if isinstance(node, ast.Lambda):  # its body if the note stands, or has been made
        noted = f"{name!r} in {CALLED} or not {CALLED}.__setitem__({name!r}, 1)"
        test = ast.parse(noted, mode="eval").body
        node.body = ast.IfExp(test, node.body, ast.Constant(None))
    else:
        note = ast.parse(f"{CALLED}[{name!r}] = 1").body
        start = int(ast.get_docstring(node) is not None)
        node.body[start:start] = note
        for part in ast.walk(note[0]):
            if hasattr(part, "lineno"):
                ast.copy_location(part, node.body[-1])


class WatchedLoader(SourceFileLoader):
    """Loads a module whose functions note that they were called."""

    def exec_module(self, module: ModuleType) -> None:
        _called[module.__name__] = vars(module)[CALLED] = {}
        before = called()
        code = watched_code(self.path)
        _opened.discard(self.path)  # it was not read as a text
        exec(code, vars(module))
        at_import.update(called() - before)


class Watcher:
    """Finds the modules of the course, and loads them with WatchedLoader."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(name, path or [*sys.path, str(ROOT)])
        origin = Path(spec.origin) if spec and spec.origin else ROOT
        if origin.suffix == ".py" and ROOT in origin.parents and name != __name__:
            spec.loader = WatchedLoader(name, spec.origin)
        return spec


_called: dict[str, dict[str, int]] = {}  # by module, the functions that were called
_opened: set[str] = set()
at_import: set[str] = set()  # what was called when modules were loaded


def watch() -> None:
    """Watch what this program uses of the course from now on; write it at the end."""
    sys.meta_path.insert(0, Watcher)
    sys.addaudithook(note_file)
    if FOLDER in os.environ:
        atexit.register(write)
        sys.write_uses = write  # where a notebook may not import the course


def is_watched() -> bool:
    """Tell whether this program notes what it uses."""
    return Watcher in sys.meta_path


def note_file(event: str, about: tuple) -> None:
    """Note that a file was opened for reading."""
    if event == "open" and isinstance(about[0], str) and about[1] in ("r", "rb", None):
        _opened.add(about[0])


def called() -> set[str]:
    """Return the functions that were called since the last `used()`."""
    return {f"{m}.{name}" for m, names in _called.copy().items() for name in [*names]}


def used() -> Uses:
    """Return what was used since the start, or since the last call; see `at_import`."""
    places = [os.path.relpath(os.path.abspath(path), ROOT) for path in _opened.copy()]
    _opened.clear()
    found = called()
    for names in _called.copy().values():
        names.clear()
    return Uses(found, {p for p in map(as_posix, places) if is_data(p)})


def as_posix(path: str) -> str:
    return path.replace(os.sep, "/")


def is_data(path: str) -> bool:
    """Tell whether a file is one of the course, read as a text or as data."""
    ours = path.partition("/")[0] not in OUTSIDE and not path.endswith(".pyc")
    return ours and (ROOT / path).is_file()


def watched(folder: Path | None = None) -> dict[str, str]:
    """Return the variables of a program's environment that let it be watched.

    If `folder` is given, the program writes what it used into a file there, and so do
    the programs that it starts.
    """
    variables = {"PYTHONPATH": os.pathsep.join([str(AT_START), str(ROOT)])}
    return variables | ({FOLDER: str(folder)} if folder else {})


def write() -> None:
    """Write what was used into the folder that the environment names."""
    functions, files = used()
    data = sorted(path for path in files if not path.endswith(".py"))  # no tracebacks
    whole = [sorted(_called), sorted(functions | at_import), data]
    path = Path(os.environ[FOLDER], f"{os.getpid()}-{monotonic_ns()}.json")
    path.write_text(json.dumps(whole), "utf-8")


def written(folder: Path) -> tuple[Uses, set[str]]:
    """Return what all programs wrote into a folder, and which modules they loaded."""
    notes = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    loaded, functions, files = (set().union(*part) for part in zip(*notes))
    return Uses(functions, files), loaded
