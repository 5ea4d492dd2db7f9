"""Writes what PyTorch makes of operations.txt, programs.txt and the programs of Values.

python tests/engine/reference/make.py        (needs PyTorch)
"""

import functools
import json
import sys
import warnings

import torch
from compute import HERE, cases, compute, programs, ran, rounded
from torch.utils.checkpoint import checkpoint

from classroom.author.compose import pinned_version


def require_the_version_of_the_course():
    """Stop with another PyTorch, which may agree on other things at a corner."""
    wanted, have = pinned_version("torch").partition("==")[2], torch.__version__
    if have.partition("+")[0] != wanted:
        sys.exit(
            f"The course goes by PyTorch {wanted}, and this is {have}. "
            'Run: .venv/bin/python -m pip install -e ".[compare]"'
        )


def operation(case):
    """Return what PyTorch makes of a case."""
    found = compute(case, torch, "float64")
    for kind in ("results", "first", "second"):
        found[kind] = [rounded(value) for value in found[kind]]
    return found | {"dtypes32": compute(case, torch, "float32")["dtypes"]}


def program(text):
    """Return what a program finds in PyTorch."""
    return ran(text, torch, functools.partial(checkpoint, use_reentrant=True))


def write(name, table):
    """Write a table as JSON, a line for each entry."""
    lines = [
        f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}"
        for k, v in table.items()
    ]
    path = HERE / name
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{name}: {len(table)} entries, {path.stat().st_size / 1000:.0f} kB")


def main():
    require_the_version_of_the_course()
    sys.path.append(str(HERE.parents[2]))
    from tests.engine.test_value import drawn, in_pytorch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    write("operations.json", {case: operation(case) for case in cases()})
    found = {heading: program(text) for heading, text in programs().items()}
    write("programs.json", found)
    found = {str(seed): in_pytorch(torch, *drawn(seed)) for seed in range(80)}
    write("values.json", found)


if __name__ == "__main__":
    main()
