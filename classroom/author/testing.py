"""Run every test of the course: `python3 course.py test`."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from classroom import ROOT
from classroom.author.concerns import Noted
from classroom.author.tested import change_since_head, concerned_tests, is_prose
from classroom.author.uses import watched
from classroom.notebook.files import write_whole
from classroom.run.judge import plain_environment

PYTEST = [sys.executable, "-m", "pytest", "-p", "classroom.author.tested"]
BUILT = ["notebooks", "solutions"]
STYLE = [sys.executable, "-m", "ruff", "check"]
FORMAT = [sys.executable, "-m", "ruff", "format", "--check"]
BUILD = [sys.executable, "-P", "-m", "classroom", "build", "--check"]
TESTS = ["-q", "-rs", "--continue-on-collection-errors"]
SPREAD = ["-p", "xdist.plugin", "-n", "auto"]
SPREAD += ["--dist", "worksteal"]  # neighbours share slow fixtures
FOLDERS = ["tests/machines", "tests/course", "tests/engine"]  # the longest first
PLUGINS = {"-n": "xdist.plugin", "--nbval": "nbval.plugin"}  # by words that want them
NBVAL = [
    *("-p", "nbval.plugin", "-p", "classroom.run.kernels", "-p", "xdist.plugin"),
    *("-p", "no:cacheprovider", "-q", "-rs", "--nbval", "--nbval-current-env"),
    *("--nbval-cell-timeout", "120"),  # without it nbval would wait 2,000 s
    *("-n", "2", "--dist", "loadscope"),
]
OF_PROSE = "tests/course/test_chapters.py"  # what is promised of a lesson's words
FEW = 40  # tests that are not worth a second process
SETTINGS = ROOT / ".minigrad" / "settings"
CHOSEN = ROOT / ".minigrad" / "concerned.txt"


Part = tuple[list[str], Mapping[str, str]]


def test_command(words: list[str]) -> int:
    """Run all parts and return 0 if all passed; with `words`, only pytest on tests/.

    With `--changed`, run only what a change since the last commit concerns.
    """
    # Two kernels share the cores: threads of their own would wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # all together start in seconds
    if words == ["--changed"]:
        return _run(_changed_parts())
    if words:
        command = [*PYTEST, *plugins_for(words), *words]
        return subprocess.call(command, cwd=ROOT, env=os.environ | watched())
    plain = plain_environment(SETTINGS)
    noting = {} if os.environ.get("CI") else watched()  # nobody reads the notes of CI
    parts = {
        "Style": (STYLE, os.environ),
        "Layout": (FORMAT, os.environ),
        "What is built matches its source": (BUILD, os.environ),
        "Tests": ([*PYTEST, *TESTS, *SPREAD, *FOLDERS], os.environ | noting),
        "Notebooks show what they give": ([*PYTEST, *NBVAL, *BUILT], plain),
    }
    return _run(parts)


def _run(parts: dict[str, Part]) -> int:
    failed = [name for name, part in parts.items() if not passes(name, *part)]
    told = f"failed: {', '.join(failed)}" if failed else "all passed"
    print(f"\n{len(parts)} parts, {told}")
    return 1 if failed else 0


def _changed_parts() -> dict[str, Part]:
    """Return the parts that a change since the last commit concerns."""
    change = change_since_head()
    here = [path for path in sorted(change.files) if (ROOT / path).exists()]
    python = [path for path in here if path.endswith(".py")]
    numbers = {re.match(r"chapters/(\d+)_|", path)[1] for path in here} - {None}
    tests, known = concerned_tests(change)
    if change.files and all(map(is_prose, change.files)):
        left_out = [test for test in tests if not test.startswith(OF_PROSE)]
        tests = [test for test in tests if test.startswith(OF_PROSE)]
        print(f"Only words changed: {len(left_out)} tests of lessons are left out.")
    new = [path for path in python if Path(path).name.startswith("test_")]
    tests += [path for path in new if not any(t.startswith(path) for t in tests)]
    notebooks, unknown = Noted(ROOT).concerned([ROOT / each for each in BUILT])
    parts = {}
    if python:
        parts["Style"] = [*STYLE, *python], os.environ
        parts["Layout"] = [*FORMAT, *python], os.environ
    if numbers:
        parts["What is built matches its source"] = [*BUILD, *numbers], os.environ
    if tests:
        write_whole(CHOSEN, "\n".join(tests) + "\n")
        spread = SPREAD if len(tests) > FEW else []
        parts["Tests"] = [*PYTEST, "-q", *spread, f"@{CHOSEN}"], os.environ | watched()
    if notebooks:
        plain = plain_environment(SETTINGS)
        parts["Notebooks show what they give"] = [*PYTEST, *NBVAL, *notebooks], plain
    print(f"Concerned: {len(tests)} of {known} tests, {len(notebooks)} notebooks.")
    if not known:
        print("No test has noted what it uses. Run `course.py test` once.")
    if unknown:
        print(
            f"{unknown} notebooks have not noted it: `course.py build` would run them."
        )
    print("The notes leave out processes that a test starts, such as kernels.")
    return parts


def plugins_for(words: list[str]) -> list[str]:
    """Return pytest's options that load the plugins which these words need."""
    asked = [p for w, p in PLUGINS.items() if any(word.startswith(w) for word in words)]
    return [option for plugin in asked for option in ("-p", plugin)]


def passes(heading: str, command: list[str], environment: Mapping[str, str]) -> bool:
    """Run one part under its heading; return whether it passed."""
    print(f"\n--- {heading}", flush=True)
    start = time.monotonic()
    code = subprocess.call(command, cwd=ROOT, env=environment)
    said = "failed" if code else "passed"
    print(f"{heading}: {said}, in {time.monotonic() - start:.1f} s")
    return not code
