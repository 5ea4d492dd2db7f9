"""Notes what each test uses of the course, and finds the tests that a change concerns.

It is a plugin of pytest, `-p classroom.author.tested`. `course.py test --changed` reads
its notes. They leave out what a test starts as another process, such as a kernel.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author import uses
from classroom.author.chapters import Chapter
from classroom.author.concerns import Piece, current, hashes, module_of, survey
from classroom.notebook.files import write_whole

TESTED = ROOT / ".minigrad" / "tested"  # a file for each process that ran tests
NO_PROSE = re.compile(r"\A---\n.*?^---\n|^```.*?^```", re.MULTILINE | re.DOTALL)
ALWAYS = "what was called when modules were loaded"
_tests: dict[str, set[str]] = {}  # what each test used
_fixtures: dict[str, set[str]] = {}  # what setting up each fixture used


# --- the plugin ----------------------------------------------------------------


def used() -> set[str]:
    """Return the functions and files that were used since the last call."""
    return set().union(*uses.used())


def pytest_configure(config: pytest.Config) -> None:
    """Do not watch the programs that tests start, so that they start sooner."""
    starts_workers = config.getoption("numprocesses", None)  # which are to be watched
    if hasattr(config, "workerinput") or not starts_workers:
        os.environ.pop("PYTHONPATH", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test used, and what its fixtures used."""
    used()
    result = yield
    names_of_fixtures = getattr(item, "fixturenames", ())  # a cell has none
    fixtures = [_fixtures.get(name, set()) for name in names_of_fixtures]
    _tests[item.nodeid] = used().union(*fixtures)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef) -> Iterator[None]:
    """Note what setting up a fixture used, because later tests may use it too."""
    found = _fixtures.setdefault(fixturedef.argname, set())
    found |= used()
    result = yield
    found |= used()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip each cell of a chapter that requires something which is missing."""
    for item in items:
        folder = ROOT / "chapters" / item.path.stem
        if folder.is_dir() and (missing := Chapter(folder).missing):
            reason = f"{item.path.stem} needs {missing}, which is not installed"
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the notes, together with those of earlier runs of this process."""
    about = getattr(session.config, "workerinput", {"workerid": "alone"})
    if not uses.is_watched() or not _tests:
        return
    path = TESTED / f"{about['workerid']}.json"
    found = read_notes([path]) | _tests | {ALWAYS: uses.at_import}
    pieces = sorted(set().union(*found.values()))
    number = {piece: n for n, piece in enumerate(pieces)}
    tests = {test: [number[piece] for piece in each] for test, each in found.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps([pieces, tests]))


def read_notes(paths: Iterable[Path]) -> dict[str, set[str]]:
    """Return what each test used, by its id; the latest file counts."""
    found = {}
    for path in sorted(filter(Path.exists, paths), key=lambda p: p.stat().st_mtime):
        pieces, tests = json.loads(path.read_text("utf-8"))
        found |= {test: {pieces[n] for n in all_} for test, all_ in tests.items()}
    return found


# --- whom a change concerns --------------------------------------------------------


class Change(NamedTuple):
    """The difference between the last commit and the working files."""

    files: set[str]
    pieces: set[str]  # of the course, by their whole names
    names: set[frozenset]  # words of which a test that they concern has all


def change_since_head() -> Change:
    """Return the difference to the last commit; raise Trouble if git cannot tell."""
    files = {*git("diff", "--name-only", "-z", "HEAD").split("\0")}
    files |= {*git("ls-files", "--others", "--exclude-standard", "-z").split("\0")}
    files.discard("")
    code = [path for path in files if path.endswith(".py")]
    code = [path for path in code if path.partition("/")[0] in uses.PACKAGES]
    known, now = current()
    older = known | {module_of(path): survey(at_head(path)) for path in code}
    before = hashes(older)
    pieces = {n for n in before.keys() | now.keys() if before.get(n) != now.get(n)}
    names = {
        frozenset({name} | ({m.rpartition(".")[2]} if m[0] == "c" else set()))
        for m in older
        for name in {**older[m], **known.get(m, {})}
        if name and is_other(older[m].get(name), known.get(m, {}).get(name))
    }
    return Change(files, pieces, names)


def is_other(before: Piece | None, now: Piece | None) -> bool:
    """Tell whether a constant, or a class but for its methods, changed."""
    return before != now and (now or before).kind == "name"


def is_prose(path: str) -> bool:
    """Tell whether only the words of a lesson changed in a file.

    These do not concern tests that read its code, its outputs or its front matter.
    """
    if not re.fullmatch(r"chapters/\w+/lesson\.md", path):
        return False
    before, now = map(NO_PROSE.findall, (at_head(path), text_of(path)))
    return before == now


def at_head(path: str) -> str:
    """Return the text of a file as of the last commit; "" if it is new."""
    known = git("ls-tree", "--name-only", "HEAD", path)
    return git("show", f"HEAD:{path}") if known else ""


def git(*words: str) -> str:
    """Return what a git command prints about the course's folder."""
    command = ["git", "-C", str(ROOT), *words]
    run = subprocess.run(command, capture_output=True, encoding="utf-8")
    if run.returncode:
        raise Trouble(f"--changed asks git what changed, and it says: {run.stderr}")
    return run.stdout


def concerned_tests(change: Change) -> tuple[list[str], int]:
    """Return the ids of the tests that a change concerns, and how many are known.

    A test is concerned by what it used, by a changed file of its own or one that this
    imports, and by the name of something changed that it mentions.
    """
    known = read_notes(TESTED.glob("*.json"))
    always = known.pop(ALWAYS, set())
    texts = {file: text_of(file) for file in {test.split("::")[0] for test in known}}
    mine = {file for file in texts if is_changed(file, texts[file], change.files)}
    words = {file: {*re.findall(r"\w+", text)} for file, text in texts.items()}
    hits, found = change.pieces | change.files, []
    for test, used in known.items():
        file = test.split("::")[0]
        own = words[file] | {*re.findall(r"\w+", test)}
        told = any(names <= own for names in change.names)
        if texts[file] and ((used | always) & hits or told or file in mine):
            found.append(test)
    return sorted(found), len(known)


def text_of(file: str) -> str:
    """Return the text of a file as it is now; "" if it is gone."""
    return (ROOT / file).read_text("utf-8") if (ROOT / file).exists() else ""


def is_changed(file: str, text: str, files: set[str]) -> bool:
    """Tell whether a file of tests changed, or a module of tests that it imports."""
    helpers = [Path(path) for path in files if re.match(r"tests/.*\.py$", path)]
    return any(
        path.as_posix() == file
        or path.name == "conftest.py"
        and Path(file).is_relative_to(path.parent)
        or re.search(rf"import .*\b{path.stem}\b|from .*\b{path.stem} import", text)
        for path in helpers
    )
