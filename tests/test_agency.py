"""How much of the engine does a learner write, and how much is only read?"""

import ast
import re
from inspect import ismodule
from pathlib import Path
from statistics import median

import minigrad
from classroom import ROOT
from classroom.author import so_far
from classroom.author.blanks import SOLUTION
from classroom.author.chapters import chapters
from classroom.cell.pages import page_of
from minigrad import autograd, data, draw, nn, optim, plot, static

HEART = {ROOT / "minigrad" / file for file in so_far.HEART.values()}
# What is wanted in the end, and what has been reached so far, which is asserted
AT_MOST = {"lines of the heart": (550, 605), "quoted of a lesson": (0.35, 0.2)}
AT_MOST["without grad and checkpoint"] = (550, 549)
AT_LEAST = {"written of the heart": (0.5, 0.5), "typed an hour": (25, 25)}
AT_LEAST |= {"in definitions of the learner's": (0.5, 0.68), "median built": (6, 11)}
LINES = 4500  # of code in minigrad/
PLACES = [minigrad, minigrad.Tensor, nn, nn.Module, nn.functional, nn.init, optim]
PLACES += [optim.lr_scheduler, autograd, data, static, draw, plot]
# Used by no lesson, but by operators, models, other names or PyTorch's first tutorials
OTHERS = "div div_ sub_ pow type_as is_floating_point from_numpy rand_like GELU fan "
OTHERS += "CrossEntropyLoss LayerNorm Dataset Optimizer LRScheduler Callable children "
OTHERS += "named_modules MSELoss uniform_"


def code_lines(source: str) -> int:
    """Count the lines that are neither blank nor a comment nor a docstring."""
    statements = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Expr)]
    strings = [n for n in statements if isinstance(n.value, ast.Constant)]
    prose = {line for n in strings for line in range(n.lineno, n.end_lineno + 1)}
    texts = enumerate(map(str.strip, source.splitlines()), start=1)
    return len({line for line, text in texts if text and text[0] != "#"} - prose)


def typed(exercise) -> list[str]:
    """Return the lines that a learner types, if the answer is the solution."""
    bodies = "\n".join(body for _, body in SOLUTION.findall(exercise.solution + "\n"))
    return [line.strip() for line in bodies.split("\n") if line.strip()[:1] not in "#"]


def written(exercises: dict) -> list[tuple[str, int]]:
    """Return the definitions of the heart that are a learner's in their last form.

    Each by its text, with how many of its lines are typed.
    """
    last = [by_chapter[max(by_chapter)] for by_chapter in so_far.forms().values()]
    found = [(text, typed(exercises[by])) for text, by in last if by in exercises]
    return [(t, sum(line.strip() in own for line in t.split("\n"))) for t, own in found]


def in_heart(source: str) -> bool:
    """Return whether a cell is a page of one of the heart's files."""
    module = page_of(source)
    return bool(module) and ROOT / Path(*module.split(".")).with_suffix(".py") in HEART


def test_the_learner_writes_as_much_as_was_reached_so_far(capsys):
    built = [chapter for chapter in chapters() if 3 <= chapter.number <= 13]
    todo = {name: e for chapter in built for name, e in chapter.exercises.items()}
    lessons = [[c.source for c in b.lesson if c.cell_type == "code"] for b in built]
    sizes = [[(code_lines(s), page_of(s), in_heart(s)) for s in c] for c in lessons]
    files = {path.stem: code_lines(path.read_text("utf-8")) for path in HEART}
    heart, beside = sum(files.values()), files["gradients"] + files["checkpointing"]
    quoted = sum(n for cells in sizes for n, _, within in cells if within)
    shares = [sum(n for n, p, _ in c if p) / sum(n for n, _, _ in c) for c in sizes]
    theirs = written(todo)
    found = {"lines of the heart": heart, "quoted of a lesson": max(shares)}
    found |= {"without grad and checkpoint": heart - beside, "quoted": quoted / heart}
    found["written of the heart"] = sum(n for _, n in theirs) / heart
    whole = sum(code_lines(text) for text, _ in theirs)
    found["in definitions of the learner's"] = whole / heart
    hours = sum(chapter.front["minutes"] for chapter in built) / 60
    found["typed an hour"] = sum(len(typed(e)) for e in todo.values()) / hours
    found["median built"] = median(len(typed(e)) for e in todo.values() if not e.points)
    with capsys.disabled():
        print(*(f"\n{name}: {number:.2f}" for name, number in found.items()))
    for name, (wanted, reached) in (AT_MOST | AT_LEAST).items():
        told = f"{name}: {found[name]:.3f}, so far {reached}, wanted {wanted}"
        side = min if name in AT_MOST else max
        assert found[name] == side(found[name], reached), told


def test_the_package_is_as_small_as_was_reached_and_its_names_are_used(capsys):
    lines = sum(code_lines(p.read_text("utf-8")) for p in ROOT.glob("minigrad/**/*.py"))
    texts = [p.read_text("utf-8") for p in sorted(ROOT.glob("chapters/*/*.md"))]
    cells = re.findall(
        r"^```python[^\n]*\n(?!# minigrad/)(.*?)^```", "".join(texts), re.M | re.S
    )
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(cells)))
    found = [(n, getattr(place, n, None)) for place in PLACES for n in dir(place)]
    names = {name for name, thing in found if name[0] != "_" and not ismodule(thing)}
    unused = sorted(names - used)
    with capsys.disabled():
        print(f"\nminigrad: {lines} lines of code; used by no lesson:", *unused)
    assert lines <= LINES and len(names) > 150
    assert set(unused) <= set(OTHERS.split())
