"""Run every test of the course: `python3 course.py test`."""

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from classroom import ROOT

PYTEST = [sys.executable, "-m", "pytest", "-p", "classroom.notebook.fast_validation"]
STYLE = [sys.executable, "-m", "ruff", "check"]
FORMAT = [sys.executable, "-m", "ruff", "format", "--check"]
BUILD = [sys.executable, "-P", "-m", "classroom", "build", "--check"]
TESTS = ["-q", "-rs", "--continue-on-collection-errors"]
SPREAD = ["-n", "auto", "--dist", "worksteal"]  # neighbours share slow fixtures
NBVAL = [
    *("-p", "nbval.plugin", "-p", "classroom.run.kernels", "-p", "xdist.plugin"),
    *("-p", "classroom.author.skip_missing", "-p", "no:cacheprovider", "-q", "-rs"),
    *("--nbval", "--nbval-current-env"),
    *("--nbval-cell-timeout", "120"),  # without it nbval would wait 2,000 s
    *("--nbval-sanitize-with", "classroom/run/nbval_sanitize.cfg"),
    *("-n", "2", "--dist", "loadscope", "notebooks", "solutions"),
]


def test(words: list[str]) -> int:
    """Run all parts and return 0 if all passed; with `words`, only pytest on tests/."""
    # Two kernels share the cores: threads of their own would wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if words:
        return subprocess.call([*PYTEST, *words], cwd=ROOT)
    total = part("Style", lambda: run(STYLE) + run(FORMAT))
    total += part("What is built matches its source", lambda: run(BUILD))
    total += part("Tests", lambda: run_pytest(TESTS + SPREAD, dict(os.environ)))
    total += part("Notebooks give the outputs they show", lambda: run_pytest(*nbval()))
    print(f"\n{summary(total)}")
    return 1 if total["failed"] else 0


def part(heading: str, work: Callable[[], Counter]) -> Counter:
    """Run one part under its heading; return how many passed, failed, were skipped."""
    console = Console(highlight=False)
    console.rule(heading, align="left")
    start = time.monotonic()
    counts = work()
    console.print(f"{heading}: {summary(counts)}, in {time.monotonic() - start:.1f} s")
    return counts


def summary(counts: Counter) -> str:
    """Return the counts in words; what was skipped is named only if anything was."""
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    return f"{counts['passed']} passed, {counts['failed']} failed{skipped}"


def run(command: list[str]) -> Counter:
    """Run a command that passes or fails as a whole."""
    code = subprocess.call(command, cwd=ROOT)
    return Counter(failed=1) if code else Counter(passed=1)


def run_pytest(words: list[str], environment: dict[str, str]) -> Counter:
    """Run pytest with `words` and count its tests."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [*PYTEST, f"--junit-xml={report}", *words]
        code = subprocess.call(command, cwd=ROOT, env=environment)
        counts = count(report) if report.exists() else Counter()
    if code and not counts["failed"]:  # it could not even begin, or was broken off
        counts["failed"] = 1
    return counts


def count(report: Path) -> Counter:
    """Return how many tests of a JUnit report passed, failed and were skipped."""
    suite = next(ElementTree.parse(report).iter("testsuite"))
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    skipped = int(suite.get("skipped"))
    passed = int(suite.get("tests")) - failed - skipped
    return Counter(passed=passed, failed=failed, skipped=skipped)


def nbval() -> tuple[list[str], dict[str, str]]:
    """Return pytest's words and environment for comparing the notebooks' outputs.

    No plugin loads by itself, and nothing of the user's settings shows in a picture.
    """
    unwanted = ("MPLBACKEND", "PYTEST_ADDOPTS")
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    return NBVAL, {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
