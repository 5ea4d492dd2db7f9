"""Pages made from the chapters' front matter: the README's tables, the syllabus."""

import re
from pathlib import Path
from typing import Any

import jinja2

from classroom import ROOT
from classroom.author.chapters import Chapter, chapters
from classroom.author.stub import TENSOR, tensor_stub
from classroom.notebook.course_map import Stop, map_svg, moving, stop_of
from classroom.notebook.files import DIGESTS, digests
from classroom.notebook.home import FILM, HOME, MAP, home_text

TABLE = re.compile(r"(<!-- chapters -->\n).*?(<!-- end of chapters -->)", re.DOTALL)
PARTS = {"I: one number at a time": 0, "II: arrays": 8, "III: learning machines": 17}


def parts_of(course: list[Chapter]) -> list[tuple[str, list[Chapter]]]:
    """Return the parts of the course that have some of these chapters."""
    starts = [*PARTS.values(), float("inf")]
    found = [
        (name, [chapter for chapter in course if first <= chapter.number < end])
        for name, first, end in zip(PARTS, starts, starts[1:])
    ]
    return [(name, some) for name, some in found if some]


def chapter_table(course: list[Chapter]) -> str:
    """Return a table of chapters for each part of the course, in Markdown."""
    about = {"parts": parts_of(course), "every": course, "hours": hours}
    return rendered("chapters.md", **about)


def hours(some: list[Chapter]) -> str:
    """Return how long chapters take, in words."""
    minutes = {"core": 0, "optional": 0}
    for chapter in some:
        minutes[chapter.front["track"]] += chapter.front["minutes"]
    core, optional = (f"{n / 60:.1f}".removesuffix(".0") for n in minutes.values())
    more = f", and {optional} hours of optional chapters" if minutes["optional"] else ""
    return f"{core} hours{more}"


def stops(all_chapters: list[Chapter]) -> list[Stop]:
    """Return the chapters as the map shows them, none of them begun."""
    found = []
    for chapter in all_chapters:
        titles = {e.name: {"title": e.title} for e in chapter.exercises.values()}
        about = chapter.front | {"exercises": titles}
        found.append(stop_of(chapter.number, chapter.slug, about))
    return found


def film() -> str:
    """Return the backward pass of a small graph, as a picture that moves by itself."""
    from minigrad.drawing.draw import draw_backward
    from minigrad.scalar.value import Value

    w, x, b, y = Value(2.0), Value(3.0), Value(1.0), Value(5.0)
    return moving(draw_backward((w * x + b - y) ** 2, w=w, x=x, b=b, y=y).sources)


def rendered(name: str, **about: Any) -> str:
    """Return the text of a template with what it is about."""
    text = (ROOT / "classroom" / "templates" / name).read_text("utf-8")
    return jinja2.Template(text).render(about)


def made_pages(root: Path) -> dict[Path, tuple[str, str]]:
    """Map each page made from front matter to its present text and its right text."""
    readme, page = root / "README.md", root / "classroom" / "SYLLABUS.md"
    text = readme.read_text(encoding="utf-8")
    table = chapter_table(chapters())
    everything = stops(chapters())
    pictures = {MAP: map_svg(everything), FILM: film()}
    pictures[HOME] = home_text(everything, root)
    pictures[TENSOR], pictures[DIGESTS] = tensor_stub(), digests(root)
    made = {root / name: (_read(root / name), text) for name, text in pictures.items()}
    return made | {
        readme: (text, TABLE.sub(lambda match: match[1] + table + match[2], text)),
        page: (_read(page), rendered("syllabus.md", chapters=chapters())),
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
