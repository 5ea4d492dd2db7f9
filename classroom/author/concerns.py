"""Which notebooks and tests does a change concern? Those that used what changed.

A *piece* of the course is a function, a constant, an import, a class without its
methods, or a data file. .minigrad/, which git ignores, stores which pieces were used:
by each built notebook in built.json, and by each test in tested/.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from classroom import ROOT
from classroom.author.uses import FUNCTION, NAMING, PACKAGES, Uses, named
from classroom.notebook.files import read_table, write_whole

BUILT = Path(".minigrad", "built.json")
UNKNOWN = "it is not noted what it used"
REST = "the other statements of {}"
MADE = "notebooks/", "solutions/", "exercises/", "classroom/pristine/"  # by build
DATA = (".safetensors", ".mplstyle", ".txt", ".json", ".md", ".html", ".css")
RUNNER = "classroom.author.execute"  # which every notebook depends on
CODE = " without its prose"  # of a lesson.md: front matter, code and what it prints
NO_PROSE = re.compile(r"\A---\n.*?^---\n|^```.*?^```", re.MULTILINE | re.DOTALL)
FAR = 5  # steps from a constant to those that mention it


class Piece(NamedTuple):
    """A part of a module that can change by itself, and the names that it mentions."""

    kind: str  # "function", "import", or "name"
    hash: str
    names: frozenset[str]


Survey = dict[str, Piece]  # of a module; "" has all statements without a name


def survey(text: str) -> Survey:
    """Return the pieces of a Python text, without comments and docstrings."""
    found: dict[str, list[ast.AST]] = {"": [ast.Pass()]}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, FUNCTION | ast.ClassDef | ast.Module):
            node.body = [each for each in node.body if not is_text(each)]
    for name, statement in named(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                source = f"{getattr(statement, 'module', '')}.{alias.name}".strip(".")
                shown = alias.asname or alias.name.partition(".")[0]
                mentions = ast.Constant(source), ast.Constant(source.rpartition(".")[0])
                found.setdefault(shown, []).append(ast.Import([*mentions, alias]))
        else:
            parts = ast.walk(statement) if isinstance(statement, NAMING) else ()
            if lambdas := [n for n in parts if isinstance(n, ast.Lambda)]:
                found.setdefault(f"{name}()", []).extend(n.body for n in lambdas)
                for each in lambdas:
                    each.body = ast.Constant(None)
            found.setdefault(name, []).append(statement)
    for each in [n for ns in found.values() for n in ns if isinstance(n, ast.ClassDef)]:
        # A method is a piece of its own, but Python calls one such as __add__ by itself
        methods = [s.name for s in each.body if isinstance(s, FUNCTION)]
        special = [ast.Constant(name) for name in methods if name.startswith("__")]
        each.body = special + [s for s in each.body if not isinstance(s, FUNCTION)]
    return {name: piece(name, nodes) for name, nodes in found.items()}


def is_text(node: ast.AST) -> bool:
    """Tell whether a statement is only a text, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def piece(name: str, nodes: list[ast.AST]) -> Piece:
    """Return the piece that some statements are."""
    text = " ".join(map(ast.dump, nodes))
    names = frozenset(re.findall(r"'([\w./-]+)'", text))
    is_function = name.endswith("()") or isinstance(nodes[0], FUNCTION)
    kind = "import" if isinstance(nodes[0], ast.Import) else "name"
    return Piece("function" if is_function else kind, digest(text), names)


def digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def surveys() -> dict[str, Survey]:
    """Return the pieces of all modules."""
    return {m: survey(file_of(m).read_text("utf-8")) for m in all_modules()}


def hashes(known: dict[str, Survey]) -> dict[str, str]:
    """Return a hash of each piece, which counts the constants that it mentions, too.

    Names mean pieces of the same module, or of one that this imports. What has lambdas
    in it, such as an Op, may also be reached as a method. So its name means it
    anywhere. A data file next to a module counts where the module quotes its name.
    """
    each = {(m, n): p for m, pieces in known.items() for n, p in pieces.items()}
    own = {(m, n): digest(p.hash, *data_of(m, p)) for (m, n), p in each.items()}
    tables = {n: own[m, n] for m, n in each if (m, f"{n}()") in each}
    deep = {key: own[key] for key, p in each.items() if p.kind != "function"}
    seen = {m: [m, *imported(pieces, known)] for m, pieces in known.items()}
    means = {}
    for (m, n), p in each.items():
        names = sorted({*p.names, n.partition(".")[0]})  # a method means its class, too
        means[m, n] = [(v, x) for v in seen[m] for x in names if (v, x) in deep]
    for _ in range(FAR):
        deep = {key: digest(own[key], *map(deep.get, means[key])) for key in deep}
    found = {}
    for key, p in each.items():
        told = [tables[name] for name in sorted(p.names & tables.keys())]
        told = [*map(deep.get, means[key]), *told] if key[1] else []
        found[whole(*key)] = digest(own[key], *told)
    return found


def data_of(module: str, piece: Piece) -> list[str]:
    """Return hashes of the data files that a piece of a module names."""
    names = sorted(name for name in piece.names if name.endswith(DATA))
    folder = (file_of(module) or ROOT).parent
    return [hash_of_file(folder / name) for name in names]


def imported(pieces: Survey, known: Iterable[str]) -> list[str]:
    """Return which modules a module imports, or imports names from."""
    imports = [p.names for p in pieces.values() if p.kind == "import"]
    return sorted(set().union(*imports) & set(known))


def whole(module: str, name: str) -> str:
    """Return what a piece is called."""
    return f"{module}.{name}" if name else REST.format(module)


@cache
def current() -> tuple[dict[str, Survey], dict[str, str]]:
    """Return the pieces of all modules as they are now, and their hashes."""
    known = surveys()
    return known, hashes(known)


def fingerprint(uses: Uses, loaded: Iterable[str], cells: str) -> dict[str, str]:
    """Return a hash for each piece of the course that a notebook used.

    A function was used if it was called, and a file if it was opened. What is no
    function was used if `cells`, the code of the notebook, has its name. The statements
    of a module that name nothing were used if it was loaded.
    """
    runner = {whole(RUNNER, name) for name in current()[0][RUNNER]}
    words = {"", *re.findall(r"[^\W\d]\w*", cells)}
    files = {path for path in uses.files if not path.startswith(MADE)}
    return hashed(uses.functions | runner | mentioned(loaded, words), files)


def mentioned(loaded: Iterable[str], words: set[str]) -> set[str]:
    """Return what some modules have by these names, except for functions."""
    known = current()[0]
    names = [
        (m, name) for m in known.keys() & loaded for name in words & known[m].keys()
    ]
    return {whole(m, name) for m, name in names if known[m][name].kind == "name"}


def hashed(pieces: set[str], files: Iterable[str]) -> dict[str, str]:
    """Return a hash for each piece of the course that is known, and for each file."""
    now = current()[1]
    found = {each: now[each] for each in sorted(pieces & now.keys())}
    return found | {path: hash_of_file(path) for path in sorted(files)}


def first_changed(used: dict[str, str]) -> str:
    """Return the first piece or file whose hash is not this one any more, or ""."""
    now = current()[1]
    changed = (n for n, h in used.items() if h != (now.get(n) or hash_of_file(n)))
    return next(changed, "")


def file_of(module: str) -> Path | None:
    """Return the file of a module; None if there is none."""
    place = ROOT.joinpath(*module.split("."))
    known = place.with_suffix(".py"), place / "__init__.py"
    return next((path for path in known if path.exists()), None)


def hash_of_file(path: str | Path) -> str:
    """Return a hash of a file's bytes, or of a lesson's CODE; "" if it is gone."""
    place = ROOT / str(path).removesuffix(CODE)
    if not place.is_file():
        return ""
    if str(path).endswith(CODE):
        return digest(*NO_PROSE.findall(place.read_text("utf-8")))
    return hashlib.sha256(place.read_bytes()).hexdigest()[:16]


def all_modules() -> list[str]:
    """Return the names of all modules of the course."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(module_of(path.relative_to(ROOT).as_posix()) for path in paths)


def module_of(path: str) -> str:
    """Return the module in a file: "minigrad.nn" for "minigrad/nn/__init__.py"."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


# --- notebooks ---------------------------------------------------------------------


class Noted:
    """What each built notebook used when it was built."""

    def __init__(self, root: Path) -> None:
        self.path = root / BUILT
        self.notes = read_table(self.path)

    def changed(self, path: Path) -> str:
        """Say why the outputs of a built notebook may be stale, or return ""."""
        if not self.knows(path):
            return UNKNOWN
        piece = first_changed(self.notes[name_of(path)]["used"])
        return f"{piece} changed" if piece else ""

    def knows(self, path: Path) -> bool:
        """Tell whether it is noted what a built notebook used."""
        return self.notes.get(name_of(path), {}).get("made") == hash_of_file(path)

    def note(self, path: Path, used: dict[str, str] | None) -> None:
        """Store what a built notebook used, or None if it was not run."""
        if used is None:
            used = self.notes[name_of(path)]["used"]
        self.notes[name_of(path)] = {"made": hash_of_file(path), "used": used}

    def concerned(self, folders: list[Path]) -> tuple[list[Path], int]:
        """Return the notebooks that may be stale, and how many have no notes."""
        paths = [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]
        known = [path for path in paths if self.knows(path)]
        return [path for path in known if self.changed(path)], len(paths) - len(known)

    def keep(self) -> None:
        """Write the notes to the file."""
        write_whole(self.path, json.dumps(self.notes))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
