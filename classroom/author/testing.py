"""Run every test of the course: `python3 course.py test`."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from classroom import ROOT
from classroom.run.answers import plain_environment

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
    *("-n", "2", "--dist", "loadscope", "notebooks", "solutions"),
]
SETTINGS = ROOT / ".minigrad" / "settings"


def test_command(words: list[str]) -> int:
    """Run all parts and return 0 if all passed; with `words`, only pytest on tests/."""
    # Two kernels share the cores: threads of their own would wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if words:
        return subprocess.call([*PYTEST, *words], cwd=ROOT)
    plain = plain_environment(SETTINGS)
    parts = {
        "Style": (STYLE, os.environ),
        "Layout": (FORMAT, os.environ),
        "What is built matches its source": (BUILD, os.environ),
        "Tests": ([*PYTEST, *TESTS, *SPREAD], os.environ),
        "Notebooks show what they give": ([*PYTEST, *NBVAL], plain),
    }
    failed = [name for name, part in parts.items() if not passes(name, *part)]
    told = f"failed: {', '.join(failed)}" if failed else "all passed"
    print(f"\n{len(parts)} parts, {told}")
    return 1 if failed else 0


def passes(heading: str, command: list[str], environment: Mapping[str, str]) -> bool:
    """Run one part under its heading; return whether it passed."""
    print(f"\n--- {heading}", flush=True)
    start = time.monotonic()
    code = subprocess.call(command, cwd=ROOT, env=environment)
    said = "failed" if code else "passed"
    print(f"{heading}: {said}, in {time.monotonic() - start:.1f} s")
    return not code
