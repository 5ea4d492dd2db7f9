"""Pages of the site on the package: names, signatures, docstrings, and their chapters.

Sphinx reads the package. This file says which files it reads, and what is added.
"""

import importlib
import re
from collections import defaultdict

import minigrad
from classroom import ROOT
from classroom.author import so_far
from classroom.author.chapters import Chapter
from classroom.author.front_matter import rendered
from classroom.cell.pages import page_of

ROOMS = re.findall(r"(\w+)/", minigrad.__doc__)


def page(room: str) -> str:
    """Return a page on one folder of the package, in reStructuredText.

    It leaves out a file that cannot be loaded without PyTorch.
    """
    texts = {p: p.read_text("utf-8") for p in (ROOT / "minigrad" / room).glob("*.py")}
    loads = {
        path.stem for path, text in texts.items() if "\nimport torch\n" not in text
    }
    names = sorted(loads - {"__init__"})
    return rendered("site/room.rst", title=f"minigrad.{room}", room=room, names=names)


def contents() -> str:
    """Return the page that leads to all others on the package."""
    modules = {room: importlib.import_module(f"minigrad.{room}") for room in ROOMS}
    about = {room: each.__doc__.splitlines()[0] for room, each in modules.items()}
    told = {r: line.removeprefix(f"minigrad.{r}: ") for r, line in about.items()}
    return rendered("site/rooms.rst", rooms=told)


def as_plain_text(app, what, name, thing, options, lines: list[str]) -> None:
    """Protect a docstring, which is plain text, from Sphinx's markup.

    Text between backticks is code, and so is an indented paragraph.
    """
    block = False
    for i, line in enumerate(lines.copy()):
        if line.strip():
            starts = i == 0 or not lines[i - 1].strip()
            block = line.startswith(" ") and (starts or block)
        if not block:
            parts = re.split(r"(`[^`]+`)", line)
            parts[::2] = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in parts[::2]]
            lines[i] = "".join(parts)
        elif line.strip() and not lines[i - 1].strip():
            lines[i - 1] = "\n::\n"
    lines[:] = "\n".join(lines).split("\n")


def built_in(course: list[Chapter]) -> dict[str, dict[int, Chapter]]:
    """Map dotted names of the package to the chapters that quote them."""
    found: dict = defaultdict(dict)
    for chapter in course:
        for _, page in so_far.pages(chapter):
            for name in so_far.texts(page):
                module = page_of(page)
                dotted = [module, f"{module}.{name}", f"{module}.{name.split('.')[0]}"]
                if module.startswith("minigrad.rules."):
                    dotted.append(f"minigrad.graph.tensor.Tensor.{name}")
                for each in dotted:
                    found[each][chapter.number] = chapter
    return found


def tell_chapters(course: list[Chapter]):
    """Return a function that adds to a docstring which chapters build its object."""
    found = built_in(course)

    def add(app, what, name, thing, options, lines: list[str]) -> None:
        links = [
            f":doc:`{number} </notebooks/{chapter.slug}>`"
            for number, chapter in sorted(found.get(name, {}).items())
        ]
        if links:
            several = "s" * (len(links) > 1)
            lines += ["", f"Built in chapter{several} {', '.join(links)}."]
        elif what == "module" and name.count(".") == 2:
            lines += ["", "No chapter builds what is in this file."]

    return add
