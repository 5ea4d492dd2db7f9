"""Which notebooks and tests does a change concern? Those that used what changed.

A *piece* of the course is a function, a constant, an import, a class without its
methods, or a data file. .minigrad/, which git ignores, stores which pieces were used:
by each built notebook in built.json, and by each test in tested.json.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from classroom import ROOT
from classroom.author.uses import FOREIGN, PACKAGES, Survey, Unit, Uses, survey
from classroom.notebook.files import write_whole

BUILT = Path(".minigrad", "built.json")
UNKNOWN = "it is not noted what it used"
REST = "the other statements of {}"
MADE = "notebooks/", "solutions/", "exercises/", "classroom/pristine/"  # by build
DATA = (".safetensors", ".mplstyle", ".txt", ".json", ".md", ".html", ".css")


def fingerprint(uses: Uses, loaded: Iterable[str], cells: str) -> dict[str, str]:
    """Return a hash for each piece of the course that a notebook used.

    A function was used if it was called, and a file if it was opened. A constant, an
    import or a class counts as used if its name occurs in a piece that was used, or in
    `cells`, the code of the notebook. A data file counts as used if such a piece has
    its name in quotes. The other statements of a module count if the module was loaded.
    """
    surveys = {m: survey(path) for m in loaded if (path := file_of(m))}
    names, found = set(re.findall(r"[^\W\d]\w*", cells)), {}
    own = {module: set() for module in surveys}  # what each mentions itself

    def add(module: str, piece: str, one: Unit) -> None:
        found[piece] = one.hash
        names.update(one.names)
        own[module].update(one.names)

    for module, functions in uses.functions.items():
        for name in functions & surveys[module].functions.keys():
            add(module, f"{module}.{name}", surveys[module].functions[name])
    for module, pieces in surveys.items():
        add(module, REST.format(module), pieces.rest)
    before = -1
    while before < len(found):
        before = len(found)
        for module, pieces in surveys.items():
            for name, one in pieces.names.items():
                asking = own[module] if FOREIGN in name else names
                if f"{module}.{name}" not in found and is_mentioned(name, asking):
                    add(module, f"{module}.{name}", one)
    quoted = {name for name in names if name.endswith(DATA)}
    places = {file_of(m).parent / name for m in surveys for name in quoted}
    files = {path for path in uses.files if not path.startswith(MADE)}
    files |= {p.relative_to(ROOT).as_posix() for p in places if p.exists()}
    return found | {path: hash_of_file(path) for path in sorted(files)}


def is_mentioned(name: str, names: set[str]) -> bool:
    """Tell whether a name is used; Python itself uses names such as __add__."""
    last = last_name(name)
    return last in names or last.startswith("__")


def last_name(piece: str) -> str:
    """Return the name by which code mentions a piece: "add" for "Methods.add"."""
    return piece.rpartition(".")[2].removeprefix(FOREIGN)


def file_of(module: str) -> Path | None:
    """Return the file of a module; None if there is none."""
    place = ROOT.joinpath(*module.split("."))
    known = place.with_suffix(".py"), place / "__init__.py"
    return next((path for path in known if path.exists()), None)


def hash_of_file(path: str | Path) -> str:
    """Return a hash of a file's bytes; "" if it is gone."""
    place = ROOT / path
    if not place.is_file():
        return ""
    return hashlib.sha256(place.read_bytes()).hexdigest()[:16]


def functions_of(module: str, pieces: Survey) -> dict[str, Unit]:
    """Return the functions of a module by their whole names."""
    return {f"{module}.{name}": one for name, one in pieces.functions.items()}


def names_of(module: str, pieces: Survey) -> dict[str, Unit]:
    """Return all other pieces of a module by their whole names."""
    found = {f"{module}.{name}": one for name, one in pieces.names.items()}
    return found | {REST.format(module): pieces.rest}


def hashes(*modules: str) -> dict[str, str]:
    """Return the hash of each piece of some modules, as it is now."""
    found = {}
    for module in modules:
        now = module, survey(file_of(module))
        pieces = names_of(*now) | functions_of(*now)
        found |= {name: one.hash for name, one in pieces.items()}
    return found


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
        try:
            self.notes = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            self.notes = {}
        self.pieces = hashes(*all_modules())

    def changed(self, path: Path) -> str:
        """Say why the outputs of a built notebook may be stale, or return ""."""
        if not self.knows(path):
            return UNKNOWN
        for piece, before in self.notes[name_of(path)]["used"].items():
            now = hash_of_file(piece) if "/" in piece else self.pieces.get(piece, "")
            if now != before:
                return f"{piece} changed"
        return ""

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
        self.path.parent.mkdir(exist_ok=True)
        write_whole(self.path, json.dumps(self.notes))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
