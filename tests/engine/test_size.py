"""minigrad stays as small as CONTRIBUTING.md promises to its readers."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def code_lines(source: str) -> int:
    """Count the lines that are neither blank nor a comment nor a docstring."""
    statements = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Expr)]
    strings = [n for n in statements if isinstance(n.value, ast.Constant)]
    prose = {line for n in strings for line in range(n.lineno, n.end_lineno + 1)}
    texts = enumerate(map(str.strip, source.splitlines()), start=1)
    return len({line for line, text in texts if text and text[0] != "#"} - prose)


def test_minigrad_has_no_more_lines_of_code_than_promised():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    promised = re.search(r"at most ([\d,]+) lines of code", text)[1].replace(",", "")
    files = ROOT.glob("minigrad/**/*.py")
    assert sum(code_lines(f.read_text("utf-8")) for f in files) <= int(promised)
