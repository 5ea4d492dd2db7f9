"""The chapters quote the package's own text, and its heart completely."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from classroom import ROOT
from classroom.author import so_far
from classroom.author.chapters import chapters
from classroom.cell.pages import page_of

QUOTED_WHOLE = ["scalar/value.py", "scalar/neuron.py"]
QUOTED_WHOLE += ["scalar/finite_differences.py", "array/finite_differences.py"]
QUOTED_WHOLE += ["graph/node.py", "graph/walk.py", "graph/tensor.py"]
QUOTED_WHOLE += ["autograd/function.py", "autograd/gradients.py"]
QUOTED_WHOLE += ["autograd/functional.py", "autograd/checkpointing.py"]
QUOTED_WHOLE += ["rules/pointwise.py", "rules/softmax.py", "rules/op.py Op."]
LONGEST_CELL = 20


@cache
def all_pages():
    """Return (where, file, source) for every page in the lessons and solutions."""
    found = []
    for chapter in chapters():
        cells = [("lesson", cell.source) for cell in chapter.lesson]
        cells += [(name, ex.solved) for name, ex in chapter.exercises.items()]
        for where, source in cells:
            if module := page_of(source):
                path = Path(*module.split(".")).with_suffix(".py")
                found.append((f"{chapter.slug} {where}", path, source))
    return found


def definitions(source):
    """Map the name of each definition to its syntax tree, methods one by one."""
    texts = so_far.texts(source)
    texts.pop("__all__", None)  # a list of what was imported
    return {name: ast.dump(ast.parse(text)) for name, text in texts.items()}


def test_no_page_says_global():
    for where, _, source in all_pages():  # what is global to a page is the notebook
        assert ast.Global not in map(type, ast.walk(ast.parse(source))), where


@pytest.mark.parametrize("file", QUOTED_WHOLE)
def test_every_definition_is_quoted_exactly_once(file):
    file, _, of_class = file.partition(" ")  # or a class of it alone
    path = Path("minigrad") / file
    package = definitions((ROOT / path).read_text(encoding="utf-8"))
    of_file = [definitions(source) for _, page, source in all_pages() if page == path]
    quoted = Counter(n for each in of_file for n in each if each[n] == package[n])
    asked = {name for name in package if name.startswith(of_class)}
    asked = {name for name in asked if "'" not in name}  # no docstring
    asked = {name for name in asked if not so_far.NOT_TAUGHT.match(name)}
    missing = sorted(asked - quoted.keys())
    assert not missing, f"no lesson quotes {missing} of {path}; some page has to"
    twice = sorted(name for name in quoted if quoted[name] > 1)
    assert not twice, f"quoted more than once: {twice} of {path}"


def test_no_cell_is_longer_than_a_screen():
    for chapter in chapters():
        for cell in chapter.lesson:
            short = len(cell.source.splitlines()) <= LONGEST_CELL
            assert short or cell.cell_type != "code", f"{chapter.slug}:\n{cell.source}"
