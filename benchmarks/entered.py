"""Which functions and files of minigrad one operation, and its backward, enter.

    python3 benchmarks/entered.py

It prints them for the plain engine (`MINIGRAD_PLAIN=1`), which is the one that the
chapters teach: `a @ b`, `(a @ b).sum()`, and `backward` of that.
"""

import inspect
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

os.environ["MINIGRAD_PLAIN"] = "1"
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import minigrad  # noqa: E402
from tests.engine.test_size import code_lines  # noqa: E402


def entered(call: Callable) -> set:
    """Return the code objects of the package that a call enters."""
    found = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT}/minigrad/"):
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def lines_of(code) -> int:
    """Return how many lines of code a function has, as the tests count them."""
    return code_lines(textwrap.dedent("".join(inspect.getsourcelines(code)[0])))


def tell(what: str, codes: set) -> None:
    """Print how many functions, in which files."""
    files = sorted({Path(code.co_filename).relative_to(ROOT) for code in codes})
    inner = sum("<locals>.<" in code.co_qualname for code in codes)  # [x for x in y]
    count = f"{len(codes) - inner} functions and {inner} comprehensions"
    print(f"{what}: {count} in {len(files)} files")
    for file in files:
        inside = [c.co_qualname for c in codes if c.co_filename == str(ROOT / file)]
        lines = code_lines((ROOT / file).read_text("utf-8"))
        print(f"    {str(file):32}{lines:4} lines: {', '.join(sorted(inside))}")


def main() -> None:
    """Print what each of three calls enters, and how large all of these files are."""
    a, b = (minigrad.randn(3, 3, requires_grad=True) for _ in "ab")
    (a @ b).sum().backward()  # what only a first call enters is not counted
    a.grad = b.grad = None  # as zero_grad() leaves them
    total = (a @ b).sum()
    calls = {
        "a @ b": lambda: a @ b,
        "(a @ b).sum()": lambda: (a @ b).sum(),
        "backward of (a @ b).sum()": total.backward,
    }
    found = {what: entered(call) for what, call in calls.items()}
    for what, codes in found.items():
        tell(what, codes)
    files = {code.co_filename for codes in found.values() for code in codes}
    lines = sum(code_lines(Path(file).read_text("utf-8")) for file in files)
    codes = {code for each in found.values() for code in each}
    own = sum(lines_of(code) for code in codes if "<locals>.<" not in code.co_qualname)
    print(f"all of it: {len(files)} files with {lines} lines of code, {own} entered")


if __name__ == "__main__":
    main()
