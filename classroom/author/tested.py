"""Notes what each test uses of the course, and finds the tests that a change concerns.

It is a plugin of pytest, `-p classroom.author.tested`. `course.py test --changed` reads
its notes. They leave out what a test starts as another process, such as a kernel.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from functools import cache

import pytest

from classroom import ROOT
from classroom.author import uses
from classroom.author.chapters import Chapter
from classroom.author.concerns import (
    CODE,
    current,
    file_of,
    first_changed,
    hash_of_file,
    hashed,
    mentioned,
)
from classroom.notebook.files import read_table, write_whole

TESTED = ROOT / ".minigrad" / "tested"  # a file for each process that ran tests
TESTS = ROOT / "tests"
READS = re.compile(r"\bchapters\(\)|\(chapter\b")  # once, for all tests of a process
OF_PROSE = "tests/course/test_chapters.py"  # what is promised of a lesson's words
FAILED = {"it failed": "yes"}  # no file has this hash, so the test is run again
_tests: dict[str, set[str]] = {}  # what each test used
_fixtures: dict[str, set[str]] = {}  # what setting up each fixture used
_read: set[str] = set()  # files, which a cache may give to later tests
_failed: set[str] = set()
_start = time.time()

Note = tuple[float, dict[str, str]]  # when a test ended, and hashes of what it used


# --- the plugin ----------------------------------------------------------------


def used() -> set[str]:
    """Return the functions and files that were used since the last call."""
    functions, files = uses.used()
    _read.update(files)
    return functions | files


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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note that a test failed."""
    _failed.update([report.nodeid] * report.failed)


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


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the notes, together with those of earlier runs of this process."""
    config = session.config
    about = getattr(config, "workerinput", {"workerid": "alone"})
    if not uses.is_watched() or not _tests or has_changed_since(_start):
        return
    earlier = read_notes()
    broken_off = exitstatus == pytest.ExitCode.INTERRUPTED or session.shouldfail
    few = broken_off or config.option.keyword or "::" in " ".join(config.args)
    files = {test.split("::")[0] for test in earlier}
    new = {
        test: (time.time(), hashes_of(test, each))
        for test, each in _tests.items()
        if not few or test.split("::")[0] in files  # otherwise its file is to be run
    }
    found = earlier | new
    pieces = sorted({item for _, each in found.values() for item in each.items()})
    number = {piece: n for n, piece in enumerate(pieces)}
    tests = {t: [end, [number[i] for i in u.items()]] for t, (end, u) in found.items()}
    text = json.dumps({"pieces": pieces, "tests": tests})
    write_whole(TESTED / f"{about['workerid']}.json", text)


def has_changed_since(start: float) -> bool:
    """Tell whether a module of the course changed, so that nobody knows what ran."""
    return any(file_of(m).stat().st_mtime > start for m in current()[0])


def hashes_of(test: str, used: set[str]) -> dict[str, str]:
    """Return a hash of each piece and file that a test used or mentions."""
    file, _, name = test.partition("::")
    used = used | uses.at_import | constants(file)
    if READS.search(text_of(file)):
        cached = {each for each in _read if each.startswith(("chapters/", "minigrad/"))}
        used |= {each for each in cached if each.split("/")[1] in name} or cached
    files = {each for each in used if (ROOT / each).is_file()} | own(file)
    if file != OF_PROSE:
        files = {re.sub(r"(?<=/lesson.md)$", CODE, each) for each in files}
    return hashed(used, files) | (FAILED if test in _failed else {})


@cache
def constants(file: str) -> set[str]:
    """Return the constants and classes of the course that a file of tests mentions."""
    words = {*re.findall(r"\w+", text_of(file))}
    known = current()[0]
    near = [m for m in known if m[0] == "m" or m.rpartition(".")[2] in words]
    return mentioned(near, words)


@cache
def own(file: str) -> set[str]:
    """Return a file of tests, and the modules of tests that it uses."""
    found, text = {file}, text_of(file)
    for path in TESTS.rglob("*.py"):
        name = rf"import .*\b{path.stem}\b|from .*\b{path.stem} import"
        above = path.name == "conftest.py" and path.parent in (ROOT / file).parents
        if above or re.search(name, text):
            found.add(path.relative_to(ROOT).as_posix())
    return found


@cache
def text_of(file: str) -> str:
    """Return the text of a file; "" if there is none."""
    return (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""


# --- whom a change concerns --------------------------------------------------------


def read_notes() -> dict[str, Note]:
    """Return the latest note on each test whose file has not changed since."""
    found: dict[str, Note] = {}
    for path in TESTED.glob("*.json"):
        notes = read_table(path)  # without any, if an older course wrote the file
        for test, (end, numbers) in notes.get("tests", {}).items():
            note = end, dict(notes["pieces"][n] for n in numbers)
            file = test.split("::")[0]
            if note[1].get(file) == hash_of_file(file):
                found[test] = max(note, found.get(test, note), key=lambda each: each[0])
    return found


def concerned_tests() -> tuple[list[str], int, int]:
    """Return what to run, and how many tests and files of tests there are notes on.

    A test is concerned if it failed, or if something that it used has changed since.
    A file of tests without notes is run as a whole.
    """
    known = read_notes()
    noted = {test.split("::")[0] for test in known}
    files = [path.relative_to(ROOT).as_posix() for path in TESTS.rglob("test_*.py")]
    new = [file for file in files if file not in noted]
    changed = [test for test, (_, used) in known.items() if first_changed(used)]
    return sorted(new) + sorted(changed), len(known), len(new)
