"""Writes operations.json: what PyTorch makes of each case of operations.txt.

python tests/reference/make.py        (needs PyTorch)
"""

import json
import math
import sys

import torch
from compute import HERE, cases, compute

from classroom.author.compose import pinned_version


def rounded(value):
    """Return an array as nested lists of numbers with ten digits."""
    if value is None:
        return None
    if value.ndim:
        return [rounded(part) for part in value]
    number = value.item()
    if isinstance(number, float) and math.isfinite(number):
        return float(f"{number:.10g}")
    return number


def require_the_version_of_the_course():
    """Stop with another PyTorch, which may agree on other things at a corner."""
    wanted, have = pinned_version("torch").partition("==")[2], torch.__version__
    if have.partition("+")[0] != wanted:
        sys.exit(
            f"The course goes by PyTorch {wanted}, and this is {have}. "
            'Run: .venv/bin/python -m pip install -e ".[compare]"'
        )


def main():
    require_the_version_of_the_course()
    torch.set_num_threads(1)
    table = {}
    for case in cases():
        found = compute(case, torch, "float64")
        for kind in ("results", "first", "second"):
            found[kind] = [rounded(value) for value in found[kind]]
        found["dtypes32"] = compute(case, torch, "float32")["dtypes"]
        table[case] = found
    lines = [
        f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}"
        for k, v in table.items()
    ]
    path = HERE / "operations.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(table)} cases, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
