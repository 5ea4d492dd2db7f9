"""Run every test of the course: `python3 course.py test`."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from classroom import ROOT
from classroom.author.concerns import Noted
from classroom.author.tested import concerned_tests
from classroom.author.uses import watched
from classroom.notebook.files import write_whole
from classroom.run.judge import plain_environment

PYTEST = [sys.executable, "-m", "pytest", "-p", "classroom.author.tested"]
BUILT = ["notebooks", "solutions"]
STYLE = [sys.executable, "-m", "ruff", "check"]
FORMAT = [sys.executable, "-m", "ruff", "format", "--check"]
BUILD = [sys.executable, "-P", "-m", "classroom", "build", "--check"]
TESTS = ["-q", "-rs", "--continue-on-collection-errors"]
WORKERS = str((os.cpu_count() or 1) + 1)  # one more than cores: many wait for others
SPREAD = ["-p", "xdist.plugin", "-n", WORKERS]
SPREAD += ["--dist", "worksteal"]  # tests/conftest.py deals out what is slow
FOLDERS = ["tests/machines", "tests/course", "tests/engine"]
PLUGINS = {"-n": "xdist.plugin", "--nbval": "nbval.plugin"}  # by words that want them
NBVAL = [
    *("-p", "nbval.plugin", "-p", "classroom.run.kernels", "-p", "xdist.plugin"),
    *("-p", "no:cacheprovider", "-q", "-rs", "--nbval", "--nbval-current-env"),
    *("--nbval-cell-timeout", "120"),  # without it nbval would wait 2,000 s
    *("-n", WORKERS, "--dist", "loadscope"),
]
FEW = 40  # tests that are not worth a second process
SETTINGS = ROOT / ".minigrad" / "settings"
CHOSEN = ROOT / ".minigrad" / "concerned.txt"
MATCHES = "What is built matches its source"
Part = tuple[list[str], Mapping[str, str]]
PARTS: dict[str, Part] = {
    "Style": (STYLE, os.environ),
    "Layout": (FORMAT, os.environ),
    MATCHES: (BUILD, os.environ),
}


def test_command(words: list[str]) -> int:
    """Run all parts and return 0 if all passed; with `words`, only pytest on tests/.

    With `--changed`, run only the tests and notebooks that a change concerns.
    """
    # Kernels share the cores: threads of their own would wait for each other
    for library in ("OPENBLAS", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # all together start in seconds
    if words == ["--changed"]:
        return _run(_changed_parts())
    if words:
        command = [*PYTEST, *plugins_for(words), *words]
        return subprocess.call(command, cwd=ROOT, env=os.environ | watched())
    plain = plain_environment(SETTINGS)
    noting = {} if os.environ.get("CI") else watched()  # nobody reads the notes of CI
    parts = PARTS | {
        "Tests": ([*PYTEST, *TESTS, *SPREAD, *FOLDERS], os.environ | noting),
        "Notebooks show what they give": ([*PYTEST, *NBVAL, "notebooks"], plain),
    }
    return _run(parts)


def _run(parts: dict[str, Part]) -> int:
    failed = [name for name, part in parts.items() if not passes(name, *part)]
    told = f"failed: {', '.join(failed)}" if failed else "all passed"
    print(f"\n{len(parts)} parts, {told}")
    return 1 if failed else 0


def _changed_parts() -> dict[str, Part]:
    """Return the parts that a change concerns, and say what is left out."""
    tests, known, new = concerned_tests()
    notebooks, unknown = Noted(ROOT).concerned([ROOT / each for each in BUILT])
    parts = {name: PARTS[name] for name in ("Style", "Layout", MATCHES)}
    if tests:
        write_whole(CHOSEN, "\n".join(tests) + "\n")
        spread = SPREAD if new or len(tests) > FEW else []
        parts["Tests"] = [*PYTEST, "-q", *spread, f"@{CHOSEN}"], os.environ | watched()
    if notebooks:
        plain = plain_environment(SETTINGS)
        parts["Notebooks show what they give"] = [*PYTEST, *NBVAL, *notebooks], plain
    told = f"{len(tests) - new} of {known} tests, {new} files of tests without notes"
    print(f"Concerned: {told}, {len(notebooks)} notebooks.")
    if unknown:
        print(f"{unknown} notebooks have no notes. `course.py build` would run them.")
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
