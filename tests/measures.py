"""Prints numbers that no test checks, and that go up and down as the course is written.

.venv/bin/python tests/measures.py
"""

import re
import sys
from inspect import ismodule
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).parents[1])]
import minigrad  # noqa: E402
from classroom import ROOT  # noqa: E402
from classroom.author import so_far  # noqa: E402
from classroom.author.blanks import SOLUTION  # noqa: E402
from classroom.author.chapters import chapters  # noqa: E402
from classroom.cell.pages import page_of  # noqa: E402
from minigrad import autograd, data, draw, nn, optim, plot, static  # noqa: E402
from tests.engine.test_size import code_lines  # noqa: E402

HEART = {ROOT / "minigrad" / file for file in so_far.HEART.values()}
# What is wanted; the parts of a whole are numbers from 0 to 1
AT_MOST = {"lines of the heart": 620, "quoted of a lesson": 0.35}
AT_MOST["without grad and checkpoint"] = 550
AT_LEAST = {"written of the heart": 0.5, "typed an hour": 25}
AT_LEAST |= {"in definitions of the learner's": 0.5, "median built": 6}
PLACES = [minigrad, minigrad.Tensor, nn, nn.Module, nn.functional, nn.init, optim]
PLACES += [optim.lr_scheduler, autograd, data, static, draw, plot]


def typed(exercise) -> list[str]:
    """Return the lines that a learner types, if the answer is the solution."""
    bodies = "\n".join(body for _, body in SOLUTION.findall(exercise.solution + "\n"))
    return [line.strip() for line in bodies.split("\n") if line.strip()[:1] not in "#"]


def written(exercises: dict) -> list[tuple[str, int]]:
    """Return the definitions of the heart whose last form a learner writes.

    Each comes with its text and the number of its lines that are typed.
    """
    last = [by_chapter[max(by_chapter)] for by_chapter in so_far.forms().values()]
    found = [(text, typed(exercises[by])) for text, by in last if by in exercises]
    return [(t, sum(line.strip() in own for line in t.split("\n"))) for t, own in found]


def in_heart(source: str) -> bool:
    """Return whether a cell is an excerpt of a file of the heart."""
    module = page_of(source)
    return bool(module) and ROOT / Path(*module.split(".")).with_suffix(".py") in HEART


def agency() -> dict[str, float]:
    """Return how much of the engine a learner writes, and how much is only read."""
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
    return found


def unused() -> list[str]:
    """Return the public names of minigrad that no cell of a chapter uses."""
    texts = [p.read_text("utf-8") for p in sorted(ROOT.glob("chapters/*/*.md"))]
    cells = re.findall(
        r"^```python[^\n]*\n(?!# minigrad/)(.*?)^```", "".join(texts), re.M | re.S
    )
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(cells)))
    found = [(n, getattr(place, n, None)) for place in PLACES for n in dir(place)]
    names = {name for name, thing in found if name[0] != "_" and not ismodule(thing)}
    return sorted(names - used)


def main() -> None:
    lines = sum(code_lines(p.read_text("utf-8")) for p in ROOT.glob("minigrad/**/*.py"))
    print(f"minigrad: {lines} lines of code")
    for name, number in agency().items():
        wanted = f"at most {AT_MOST[name]}" if name in AT_MOST else ""
        wanted = f"at least {AT_LEAST[name]}" if name in AT_LEAST else wanted
        print(f"{name:32} {number:8.2f}  {wanted}")
    print("used by no lesson:", *unused())


if __name__ == "__main__":
    main()
