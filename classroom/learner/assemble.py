"""Put a learner's answers into a copy of the package: `python3 course.py assemble`.

Every answer that passes and defines a part of the package replaces ours in a copy,
.minigrad/assembled/. The core tests run on the copy, and a network learns to read
digits with it, without the shortcuts of minigrad/fast.py.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from classroom import ROOT
from classroom.cell.asked import assigned, names_read
from classroom.cell.pages import ONCE, page_of
from classroom.learner.breaking import passes
from classroom.learner.check import Task, find_tasks
from classroom.learner.find import notebook_of, notebooks_in
from classroom.learner.results import Memory
from classroom.learner.symptoms import run_answers
from classroom.notebook.definitions import places, replaced
from classroom.notebook.pristine import Chapter, all_chapters
from classroom.notebook.source_code import (
    DEFINITIONS,
    has_header,
    statements,
)
from classroom.run.judge import plain_environment

CORE = ["value", "numeric", "neuron", "tensor", "autograd", "operations"]
CORE += ["as_pytorch", "nn"]
CORE_TESTS = [f"tests/engine/test_{name}.py" for name in CORE]
PYTEST = ("-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider")
PYTEST += ("-c", "pyproject.toml", "-o")  # a setting follows
LIMIT = 900  # seconds that the tests may take
TRAINING = """
import minigrad
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.data import DataLoader, load_digits, random_split
from minigrad.optim import SGD
from minigrad.training.fit import fit

learn, test = random_split(load_digits(), [1438, 359], seed=0)
minigrad.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
batches, sgd = DataLoader(learn, 64, shuffle=True, seed=0), SGD(model.parameters(), 0.2)
loss = fit(model, F.cross_entropy, sgd, batches, epochs=5).loss
x, y = next(iter(DataLoader(test, len(test))))
right = (model(x).argmax(1) == y).numpy().mean()
print(f"loss {loss[0]:.2f} -> {loss[-1]:.2f}, {right:.0%} of {len(y)} new digits right")
"""


@dataclass(frozen=True)
class Piece:
    """An exercise whose answer is part of the package; its cells, if they passed."""

    name: str
    title: str
    cells: tuple[str, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict)  # of `imports_of`
    outgrown: tuple[str, ...] = ()  # definitions to which a later chapter adds

    def put_into(self, folder: Path, leave: Collection[str]) -> None:
        """Put the definitions that are not in `leave` into the package in `folder`."""
        helpers = [s for cell in self.cells if not has_header(cell) for s in own(cell)]
        for cell in filter(has_header, self.cells):
            path = folder.joinpath(*page_of(cell).split(".")).with_suffix(".py")
            text = path.read_text(encoding="utf-8")
            front = [*imports_for(text, cell, self.modules), *helpers]
            path.write_text(replaced(text, cell, front, leave), encoding="utf-8")


def assemble_command(root: Path = ROOT) -> int:
    """Assemble and test; return 0 if all tests pass, 1 if not."""
    console = Console(highlight=False)
    with console.status("Checking your answers ..."):
        pieces = all_pieces(root)
    yours = [piece for piece in pieces if piece.cells]
    console.print(f"{len(yours)} of {len(pieces)} pieces are yours.", style="bold")
    if not yours:
        console.print(
            "No answer that is part of the package has passed yet, so this is the "
            "original package. Fill in an answer, save the notebook, and try again."
        )
    for piece in yours:
        console.print(Text(f"  {piece.name} {piece.title}"))
    folder = root / ".minigrad" / "assembled"
    make_copy(folder, yours, root)
    console.print(f"Put together in {folder.relative_to(root).as_posix()}/minigrad.")
    for path, count, total in lines_of(folder, yours):
        bar = "#" * round(12 * count / total)
        console.print(f"  {path:38} {bar:12} {count} of {total} lines are yours")
    with console.status("Letting a network learn to read digits on it ..."):
        stopped, told = run_on(folder, root, ["-c", TRAINING], MINIGRAD_PLAIN="1")
    console.print(Text(f"It learns to read digits, without minigrad.fast: {told[-1]}"))
    with console.status("Running the core tests on it, which takes a minute ..."):
        place = f"pythonpath={folder.relative_to(root).as_posix()} ."
        failed, told = run_on(folder, root, [*PYTEST, place, *CORE_TESTS])
    for line in [line for line in told if re.match("FAILED|ERROR", line)][:5]:
        console.print(Text(f"  {line}"))
    console.print(Text(f"Core tests: {told[-1]}"))
    return 1 if failed or stopped else 0


def use_answers(numbers: Collection[int], root: Path = ROOT) -> list[str]:
    """Use the answers of some chapters in this notebook; return those that pass."""
    memory, chapters, used = Memory(root), all_chapters(root), []
    there = notebooks_in(root, chapters)
    for chapter in [each for each in chapters if each.number in numbers]:
        path = notebook_of(chapter, root, there)
        pieces = [n for n, e in chapter.exercises.items() if has_header(e.stub)]
        tasks = [Task(path, there.get(path), name) for name in pieces]
        passed = [task.only for task in tasks if passes(task, memory)]
        if passed:
            answers = there[path].answers()
            run_answers(chapter, {name: answers[name] for name in passed})
            used += passed
    return used


def lines_of(folder: Path, pieces: list[Piece]) -> list[tuple[str, int, int]]:
    """Return for each file with a learner's definitions how many lines are theirs."""
    names: dict[str, set] = {}
    for piece in pieces:
        for cell in filter(has_header, piece.cells):
            path = "/".join(page_of(cell).split(".")) + ".py"
            names.setdefault(path, set()).update(
                places(cell).keys() - {*piece.outgrown}
            )
    found = []
    for path in sorted(names):
        text = (folder / path).read_text(encoding="utf-8")
        known, lines = places(text), text.splitlines()
        full = {i for i, line in enumerate(lines) if line.strip()}
        theirs = [n for n in names[path] & known.keys() if not n.startswith("class ")]
        own = {i for name in theirs for i in range(*known[name])}
        found.append((path, len(own & full), len(full)))
    return found


def run_on(
    folder: Path, root: Path, words: list[str], **settings: str
) -> tuple[int, list[str]]:
    """Run Python on the package in `folder`; return its exit code and its output."""
    path = os.pathsep.join([str(folder), str(root)])
    env = plain_environment(folder / "settings") | {"PYTHONPATH": path}
    env |= {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"} | settings
    command = [sys.executable, "-P", *words]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    how |= {"encoding": "utf-8", "errors": "replace"}
    try:
        run = subprocess.run(command, cwd=root, env=env, timeout=LIMIT, **how)
    except subprocess.TimeoutExpired:
        return 1, [f"it did not end within {LIMIT} seconds"]
    return run.returncode, run.stdout.strip().splitlines() or ["it printed nothing"]


def all_pieces(root: Path) -> list[Piece]:
    """Every exercise that is part of the package, with its answer if that passes."""
    tasks, _ = find_tasks(None, root)
    memory, passed = Memory(root), {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda task: passing(task, memory), tasks):
            passed |= found
    memory.save()
    return [
        Piece(
            name,
            exercise.title,
            tuple(passed.get(name, ())),
            modules,
            exercise.outgrown,
        )
        for chapter in all_chapters(root)
        for modules in [imports_of(chapter)]
        for name, exercise in chapter.exercises.items()
        if has_header(exercise.stub)
    ]


def imports_of(chapter: Chapter) -> dict[str, str]:
    """Map the names that a notebook's given cells give to modules to these modules.

    The package's own parts are left out, because they may be half loaded when an
    excerpt asks.
    """
    code = [c for c in chapter.cells.values() if c["cell_type"] == "code"]
    cells = [c for c in code if "check" not in c["metadata"].get("tags", [])]
    lines = [s for c in cells for s in statements(c["source"])]
    names = [name for s in lines if isinstance(s, ast.Import) for name in s.names]
    return {n.asname or n.name: n.name for n in names if "minigrad." not in n.name}


def imports_for(text: str, page: str, modules: Mapping[str, str]) -> list[str]:
    """Return the imports that an excerpt uses and its file lacks."""
    lines = {name: f"from {module} import {name}" for name, module in ONCE.items()}
    lines |= {name: f"import {module} as {name}" for name, module in modules.items()}
    return [
        lines[name] for name in sorted(lines.keys() & names_read(page) - assigned(text))
    ]


def passing(task: Task, memory: Memory) -> dict[str, list[str]]:
    """Return the answers of a notebook that pass; run only those without a result."""
    answers, chapter = task.answers(), task.learner.chapter
    known = {n: memory.status(chapter, n, cells) for n, cells in answers.items()}
    if not all(known.values()):
        results = task.run()
        memory.remember(chapter, answers, results)
        known = {name: results[name].status for name in answers}
    return {n: cells for n, cells in answers.items() if known[n] == "passed"}


def make_copy(folder: Path, pieces: list[Piece], root: Path) -> None:
    """Copy the package to `folder`, with the answers of `pieces` in it."""
    shutil.rmtree(folder, ignore_errors=True)
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(  # where Windows kept the folder, since a program stands in it
        root / "minigrad", folder / "minigrad", ignore=leave, dirs_exist_ok=True
    )
    for piece in pieces:
        piece.put_into(folder, piece.outgrown)


def own(cell: str) -> list[str]:
    """Return the imports and definitions of a cell that is not an excerpt."""
    return [ast.unparse(s) for s in statements(cell) if isinstance(s, DEFINITIONS)]
