"""The folders of classroom/: each imports from those before it, and in no circle."""

import ast
from graphlib import TopologicalSorter

from classroom import ROOT

FOLDERS = "cell", "notebook", "run", "author", "learner", "teacher"
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for folder in FOLDERS
    for path in (ROOT / "classroom" / folder).glob("*.py")
}


def imported(path):
    """Return the modules of these folders that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found & FILES.keys()


def test_a_folder_imports_from_those_before_it_alone():
    places = {name: FOLDERS.index(name.split(".")[1]) for name in FILES}
    arrows = [(a, b) for a, path in FILES.items() for b in imported(path)]
    assert len(arrows) > 50
    assert [(a, b) for a, b in arrows if places[a] < places[b]] == []


def test_no_file_imports_one_that_imports_it():
    graph = {name: imported(path) for name, path in FILES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(FILES)
