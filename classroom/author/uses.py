"""Which functions and files of the course does a program use?

If a program starts with `watched()` in its environment, it loads minigrad and classroom
with one more line in each function, which notes that the function was called. Nothing
else changes, and a call takes a few nanoseconds longer. A function is identified by a
hash of its syntax tree, without comments and docstrings.
"""

import ast
import atexit
import hashlib
import json
import marshal
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from time import monotonic_ns
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"minigrad", "classroom"}
AT_START = Path(__file__).with_name("at_start")
CACHE = ROOT / ".minigrad" / "surveys"
FOLDER = "MINIGRAD_USES"  # the environment's name for where a watched program writes
CALLED = "__called__"  # in a watched module: the functions that were called
FOREIGN = "import "  # before what a module has from elsewhere, for itself alone
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef
SCOPE = DEFINITION | ast.ClassDef | ast.Module
SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Import | ast.ImportFrom


class Unit(NamedTuple):
    """A piece of a module that can change by itself, and the names that it mentions."""

    hash: str
    names: frozenset[str]


class Survey(NamedTuple):
    """A module in pieces: its functions, its other names, and its other statements."""

    functions: dict[str, Unit]  # methods and a table's lambdas, too; in their order
    names: dict[str, Unit]  # constants, what is imported, classes without their methods
    rest: Unit


# --- what a file consists of -------------------------------------------------------


class Surveyor:
    """Splits a module's syntax tree into pieces, and puts a note into each function."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[str, Unit] = {}
        self.names: dict[str, Unit] = {}
        self.others: list[ast.AST] = []
        self.notes: list[tuple[ast.AST, str]] = []
        self.scope(tree.body, "")
        self.survey = Survey(self.functions, self.names, unit(*self.others))
        for node, name in self.notes:
            note_call(node, name)

    def scope(self, body: list[ast.stmt], prefix: str) -> None:
        """Survey the statements of a module or of a class."""
        for statement in body:
            if isinstance(statement, DEFINITION):
                self.function(prefix + statement.name, statement)
            elif isinstance(statement, ast.ClassDef):
                head = [*statement.bases, *statement.keywords]
                head += [
                    *statement.decorator_list,
                    *map(ast.Constant, special(statement)),
                ]
                self.add(prefix + statement.name, *head)
                self.scope(statement.body, f"{prefix}{statement.name}.")
            elif isinstance(statement, SIMPLE) and not is_hint(statement):
                self.binding(statement, prefix)
            elif not is_text(statement):
                self.others.append(statement)

    def function(self, name: str, node: ast.AST) -> None:
        while name in self.functions:  # such as a property and its setter
            name += "'"
        inner = [n for n in ast.walk(node) if isinstance(n, DEFINITION | ast.Lambda)]
        self.notes += [(each, name) for each in inner]
        self.functions[name] = unit(node)

    def binding(self, statement: ast.stmt, prefix: str) -> None:
        """Survey a statement that names things; the lambdas in it are functions."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                name = alias.asname or alias.name.split(".")[0]
                source = getattr(statement, "module", None) or alias.name
                if source.split(".")[0] not in PACKAGES:
                    name = FOREIGN + name
                whole = ast.Constant(f"{source}.{alias.name}")
                self.add(prefix + name, ast.Constant(source), whole, alias)
            return
        targets = getattr(statement, "targets", None) or [statement.target]
        # what stands in brackets is no name that is given: functions[np.where] = where
        bases = [t.value if isinstance(t, ast.Subscript) else t for t in targets]
        parts = [part for base in bases for part in ast.walk(base)]
        names = [p.id for p in parts if isinstance(p, ast.Name)]
        names += [p.attr for p in parts if isinstance(p, ast.Attribute)]
        bodies = {}
        for label, each in lambdas(statement, f"{names[0]}()"):
            self.function(prefix + label, each)
            bodies[each], each.body = each.body, ast.Constant(None)
        for name in names:
            self.add(prefix + name, statement)
        for each, body in bodies.items():
            each.body = body

    def add(self, name: str, *nodes: ast.AST) -> None:
        """Note what a name means, together with its earlier meanings."""
        self.names[name] = unit(*nodes, *filter(None, [self.names.get(name)]))


def special(family: ast.ClassDef) -> list[str]:
    """Return the names of the methods that Python itself calls, such as __add__."""
    names = [each.name for each in family.body if isinstance(each, DEFINITION)]
    return [name for name in names if name.startswith("__")]


def is_hint(statement: ast.stmt) -> bool:
    """Tell whether a statement only gives the type of a name."""
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def is_text(node: ast.AST) -> bool:
    """Tell whether a statement is only a text, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def lambdas(node: ast.AST, label: str) -> Iterator[tuple[str, ast.Lambda]]:
    """Yield the outermost lambdas of a statement, each with a name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda):
            yield label, child
        else:
            word = child.arg if isinstance(child, ast.keyword) else ""
            yield from lambdas(child, f"{label}.{word}" if word else label)


def unit(*nodes: ast.AST | Unit) -> Unit:
    """Return the hash of some syntax trees, and the names that they mention."""
    digest, names = hashlib.sha256(), set()
    for node in nodes:
        if isinstance(node, Unit):
            digest.update(node.hash.encode())
            names |= node.names
        else:
            digest.update(as_text(node, names).encode())
    return Unit(digest.hexdigest()[:16], frozenset(names))


def as_text(node: Any, names: set[str]) -> str:
    """Return a syntax tree as a text, without docstrings; add the names it mentions.

    A word in quotes also counts as a name, because it may be looked up.
    """
    if isinstance(node, list):
        return f"[{','.join(as_text(each, names) for each in node)}]"
    if not isinstance(node, ast.AST):
        if isinstance(node, str):
            names.update([node, *node.split(".")])
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, SCOPE):
        fields["body"] = [each for each in node.body if not is_text(each)]
    fields.pop("ctx", None)
    told = ",".join(as_text(each, names) for each in fields.values())
    return f"{type(node).__name__}({told})"


def note_call(node: ast.AST, name: str) -> None:
    """Let a function note that it was called, or a function inside of it."""
    if isinstance(node, ast.Lambda):  # its body if the note stands, or has been made
        noted = f"{name!r} in {CALLED} or not {CALLED}.__setitem__({name!r}, 1)"
        test = ast.parse(noted, mode="eval").body
        node.body = ast.IfExp(test, node.body, ast.Constant(None))
    else:
        note = ast.parse(f"{CALLED}[{name!r}] = 1").body
        start = 1 if node.body and is_text(node.body[0]) else 0
        node.body[start:start] = note
        for part in ast.walk(note[0]):
            if hasattr(part, "lineno"):
                ast.copy_location(part, node.body[-1])


@cache
def survey(path: Path) -> Survey:
    """Return the pieces of a Python file."""
    return load(path)[0]


def surveyed(text: str) -> Survey:
    """Return the pieces of a Python text."""
    return Surveyor(ast.parse(text)).survey


def load(path: Path) -> tuple[Survey, Any]:
    """Return the pieces of a file, and its code with notes, cached until it changes."""
    status = path.stat()
    about = f"{path} {status.st_mtime_ns} {status.st_size} {sys.version} {VERSION}"
    kept = CACHE / hashlib.sha256(about.encode()).hexdigest()[:24]
    try:
        functions, names, rest, code = marshal.loads(kept.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        tree = ast.parse(path.read_bytes())
        found = Surveyor(tree).survey
        code = compile(ast.fix_missing_locations(tree), str(path), "exec")
        parts = [{n: tuple(u) for n, u in part.items()} for part in found[:2]]
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(marshal.dumps((*parts, tuple(found.rest), code)))
        os.replace(unfinished, kept)
        return found, code
    tables = [{n: Unit(*u) for n, u in part.items()} for part in (functions, names)]
    return Survey(*tables, Unit(*rest)), code


VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]  # of this file


# --- what a program uses -----------------------------------------------------------


class Uses(NamedTuple):
    """What a program, or a part of it, used: functions by their modules, and files."""

    functions: dict[str, set[str]]  # "minigrad.rules.op": {"Op.__call__", ...}
    files: set[str]  # relative to the course's folder

    def add(self, other: "Uses") -> None:
        """Add what another program used."""
        for module, names in other.functions.items():
            self.functions.setdefault(module, set()).update(names)
        self.files.update(other.files)


class WatchedLoader(SourceFileLoader):
    """Loads a module whose functions note that they were called."""

    def exec_module(self, module: ModuleType) -> None:
        _called[module.__name__] = vars(module)[CALLED] = {}
        before = take()
        exec(load(Path(self.path))[1], vars(module))
        at_import.add(Uses(take(), set()))
        for name, called in before.items():
            _called[name].update(dict.fromkeys(called, 1))


class Watcher:
    """Finds the modules of the course, and loads them with WatchedLoader."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(name, path or [*sys.path, str(ROOT)])
        origin = Path(spec.origin) if spec and spec.origin else ROOT
        if origin.suffix == ".py" and ROOT in origin.parents and origin not in APART:
            spec.loader = WatchedLoader(name, spec.origin)
        return spec


APART = {Path(__file__)}  # it would watch itself
_called: dict[str, dict[str, int]] = {}  # by module, the functions that were called
_opened: set[str] = set()
at_import = Uses({}, set())  # what was called when modules were loaded


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


def used() -> Uses:
    """Return what was used since the start, or since the last call; see `at_import`."""
    places = [os.path.relpath(os.path.abspath(path), ROOT) for path in _opened.copy()]
    _opened.clear()
    files = {path for path in map(as_posix, places) if is_data(path)}
    return Uses(take(), files)


def take() -> dict[str, set[str]]:
    """Return which functions of each module were called since the last time."""
    found = {name: set(called) for name, called in _called.copy().items() if called}
    for name in found:
        _called[name].clear()
    return found


def as_posix(path: str) -> str:
    return path.replace(os.sep, "/")


def is_data(path: str) -> bool:
    """Tell whether a file is one of the course's data files."""
    first = path.partition("/")[0]
    code = path.endswith((".py", ".pyc"))
    return first not in OUTSIDE and not code and (ROOT / path).is_file()


OUTSIDE = {"..", ".venv", ".minigrad", ".git", ".pytest_cache", "site", "kept"}


def watched(folder: Path | None = None) -> dict[str, str]:
    """Return the variables of a program's environment that let it be watched.

    If `folder` is given, the program writes what it used into a file there, and so do
    the programs that it starts.
    """
    variables = {"PYTHONPATH": os.pathsep.join([str(AT_START), str(ROOT)])}
    return variables | ({FOLDER: str(folder)} if folder else {})


def write() -> None:
    """Write what was used into the folder that the environment names."""
    found = used()
    found.add(at_import)
    functions = {module: sorted(names) for module, names in found.functions.items()}
    whole = json.dumps([sorted(_called), functions, sorted(found.files)])
    name = f"{os.getpid()}-{monotonic_ns()}.json"
    Path(os.environ[FOLDER], name).write_text(whole, "utf-8")


def written(folder: Path) -> tuple[Uses, set[str]]:
    """Return what all programs wrote into a folder, and which modules they loaded."""
    uses, loaded = Uses({}, set()), set()
    for path in folder.glob("*.json"):
        modules, functions, files = json.loads(path.read_text("utf-8"))
        uses.add(Uses({m: set(names) for m, names in functions.items()}, set(files)))
        loaded.update(modules)
    return uses, loaded
