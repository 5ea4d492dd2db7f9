"""Make site/, the website of the course: `python3 course.py site`.

Pages are made from what is built already, and nothing is executed. Sphinx, MyST-NB and
Furo make the site. This file gives them the stored notebooks, without the parts that
need a kernel, and pages of the README, the glossary and the package. Exercises come
from their untouched copies, so that nobody's answers get in.
"""

import html
import json
import os
import re
import shutil
import tempfile
import time
import tomllib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author import reference, sharing, tab
from classroom.author.chapters import Chapter, chapters
from classroom.author.compose import HOW_TO_RUN
from classroom.author.front_matter import chapter_table, parts_of, rendered, stops
from classroom.author.tab import prose
from classroom.cell.asked import exercise_at
from classroom.notebook import files
from classroom.notebook.course_map import map_svg
from classroom.notebook.files import Cell, read_notebook
from classroom.notebook.home import FILM, linked_numbers

OUT = ROOT / "site"
LESSONS = ROOT / "notebooks"
ESSENCE = "docs/essence.md"
TEMPLATES = ROOT / "classroom" / "templates" / "site"
BLANKS = ROOT / "classroom" / "pristine"
TITLE = "<title>minigrad: build torch.autograd with your own hands<"
UNTITLED = {"genindex": "Index", "search": "Search"}
UNTIL_RUN = "run the cell below to see the answer. Run the cells above it first."
README = re.compile(
    r"# minigrad\n(?P<intro>.*?)!\[.*?## On your machine\n(?P<start>.*?)\n## "
    r".*?<!-- with all chapters -->(?P<paths>.*?)<!-- with any -->",
    re.DOTALL,
)
SETTINGS: dict[str, Any] = {
    **tomllib.loads((TEMPLATES / "settings.toml").read_text("utf-8")),
    "html_favicon": str(TEMPLATES / "static" / "icon.svg"),
}


def site_command() -> int:
    """Make site/ again, and print where it is and how large it is; return 0."""
    start = time.monotonic()
    if OUT.exists() and not (OUT / ".buildinfo").exists():
        raise Trouble(
            f"{OUT} is there, but `course.py site` did not make it. Move it away, and "
            "run the same command again: the site is written into a folder of its own."
        )
    make_site(OUT, with_tab=True)
    size = sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file())
    told = f"{OUT / 'index.html'}: {size / 1e6:.1f} MB, in"
    print(f"{told} {time.monotonic() - start:.0f} s.")
    return 0


def make_site(out: Path, with_tab: bool = False) -> None:
    """Write the site to `out`, with chapters that run in a tab or without.

    Raises Trouble if Sphinx finds anything wrong, such as a link that leads nowhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        pages, made, static = (Path(folder, n) for n in ("pages", "made", "static"))
        course = chapters()
        descriptions = write_pages(pages, course, with_tab)
        run_sphinx(pages, made, mathjax(static), descriptions)
        first = made / "index.html"  # its title would be the name alone
        text = first.read_text("utf-8").replace("<title>minigrad<", TITLE, 1)
        first.write_text(text, encoding="utf-8")
        for path in (made / "notebooks").glob("*.html"):
            name = path.with_suffix(".ipynb").name
            shutil.copy(LESSONS / name, made / "notebooks" / name)
        sharing.write_for_colab(made / "colab", course)
        if with_tab:
            tab.write_tab(Path(folder, "try"), course)
            shutil.move(Path(folder, "try"), made / "try")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)


def run_sphinx(pages: Path, made: Path, static: Path, told: dict[str, str]) -> None:
    """Make HTML from the sources in `pages`; raise Trouble at the first warning."""
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError

    settings = SETTINGS | {"html_static_path": [str(TEMPLATES / "static"), str(static)]}
    words = {"status": None, "warningiserror": True, "exception_on_warning": True}
    try:
        kept = made.parent / "kept"
        app = Sphinx(pages, None, made, kept, "html", settings, **words)
        app.connect("html-page-context", describe(told))
        app.connect("autodoc-process-docstring", reference.as_plain_text)
        tell = reference.tell_chapters(chapters())
        app.connect("autodoc-process-docstring", tell)
        app.build()
    except SphinxError as error:
        raise Trouble(f"Sphinx made no site: {error}") from error


def mathjax(static: Path) -> Path:
    """Copy the site's part of MathJax into the folder `static`, and return its path."""
    [package] = find_spec("mathjax").submodule_search_locations
    for name in ("tex-chtml.js", "output/chtml/fonts/woff-v2"):
        source = Path(package, "static", "mathjax", "es5", name)
        target = static / "mathjax" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)
    return static


def write_pages(pages: Path, course: list[Chapter], in_tab: bool) -> dict[str, str]:
    """Write the sources of all pages, and return the description of each, by name."""
    told: dict[str, str] = {}
    texts = {"index.md": home(course, in_tab), "glossary.md": glossary(course)}
    intro = " ".join(readme()["intro"].split())
    told["index"] = intro.partition(". ")[0] + "."
    told["glossary"] = "The words of the course: each in one sentence, and in Korean."
    told["search"] = "Find a word in the course's lessons, exercises and reference."
    told["genindex"] = "All names of the package minigrad, from A to Z."
    for chapter in course:
        front, name = chapter.front, f"{chapter.slug}.ipynb"
        texts[f"notebooks/{name}"] = lesson(chapter, LESSONS / name, in_tab)
        goals = "; ".join(front["objectives"])
        about = f"{front['question']} After this chapter you can {goals}."
        told[f"notebooks/{chapter.slug}"] = about
        texts[f"exercises/{name}"] = exercises(chapter)
        titles = ", ".join(each.title for each in chapter.exercises.values())
        about = f"Exercises of chapter {chapter.number}, {front['title']}: {titles}."
        told[f"exercises/{chapter.slug}"] = about
    texts["reference/index.rst"] = reference.contents()
    told["reference/index"] = "The folders of the package minigrad, each in a sentence."
    for room in reference.ROOMS:
        texts[f"reference/{room}.rst"] = reference.page(room)
        told[f"reference/{room}"] = f"minigrad.{room}: names, signatures, docstrings."
    for path in (FILM, ESSENCE):
        texts[path] = (ROOT / path).read_text("utf-8")
    told["docs/essence"] = "The shortest path to an engine of your own: 21 hours."
    for name, text in texts.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(text, encoding="utf-8")
    return told


def readme() -> dict[str, str]:
    """Return the parts of the README that the first page repeats."""
    found = README.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if not found:
        raise Trouble(
            "README.md has not all that the site's first page repeats: the text up to "
            "the picture, the section `On your machine`, and the paths, which stand "
            "between <!-- with all chapters --> and <!-- with any -->."
        )
    return found.groupdict()


def home(course: list[Chapter], in_tab: bool) -> str:
    """Return the first page, in Markdown."""
    from classroom.knobs import draw_knob
    from minigrad.drawing.draw import draw_backward
    from minigrad.scalar.value import Value

    numbers = {"w": 2.0, "x": 3.0, "b": 1.0, "y": 5.0}
    leaves = {name: Value(x) for name, x in numbers.items()}
    film = draw_backward(squared_error(**leaves), **leaves)
    knob = draw_knob(squared_error, **numbers | {"w": [n / 2 for n in range(-2, 9)]})
    told = readme()
    told["paths"] = linked_numbers(told["paths"], stops(course))
    return rendered(
        "site/home.md",
        **told,
        film=film._repr_mimebundle_()["text/html"],
        knob=knob._repr_mimebundle_()["text/html"],
        picture=surprise(read_notebook(LESSONS / "01_nudge.ipynb")["cells"]),
        table=chapter_table(course),
        map=map_svg(stops(course), at="notebooks/"),
        parts=parts_of(course),
        rooms=reference.ROOMS,
        tab=tab.address(course[1]) if in_tab else "",
        repository=os.environ.get("GITHUB_REPOSITORY"),
    )


def squared_error(w, x, b, y):
    """Return the formula of the first page, as a graph that was walked back."""
    loss = (w * x + b - y) ** 2
    loss.backward()
    return loss


def surprise(cells: Iterable[Cell]) -> str:
    """Return the plot of chapter 1 in which a smaller nudge is worse, as HTML."""
    for cell in cells:
        for output in files.reference(cell) if "loglog" in cell["source"] else []:
            picture = "".join(output.get("data", {}).get("text/html", ""))
            if picture.startswith("<img alt="):
                return picture
    raise Trouble("Chapter 1 has no loglog plot any more, which the site begins with.")


def lesson(chapter: Chapter, path: Path, in_tab: bool) -> str:
    """Return a lesson as a notebook to read, with its exercises as the page below."""
    notebook = read_notebook(path)
    cells = notebook["cells"] = [c for c in notebook["cells"] if not is_setup(c)]
    at_home(cells)
    about = cells[0]["source"].replace(HOW_TO_RUN, "")
    cells[0]["source"] = about.replace(UNTIL_RUN, "unfold the answer below the cell.")
    words = ", ".join(f"{{term}}`{term}`" for term in chapter.front["terms"])
    cells[0]["source"] += f"\n\nNew words: {words}" if words else ""
    cells[0]["source"] += f"\n\n{sharing.links(chapter, in_tab)}"
    below = f":hidden:\n:titlesonly:\n\n../exercises/{chapter.slug}"
    cells.append(prose("below", f"```{{toctree}}\n{below}\n```"))
    for cell in filter(files.waits, cells):
        fold(cell)
    return json.dumps(notebook)


def at_home(cells: list[Cell]) -> None:
    """Let links to home.md lead to the site's first page, which also has the map."""
    for cell in (cells[0], cells[-1]):
        cell["source"] = cell["source"].replace("(../home.md)", "(../index.md)")


def is_setup(cell: Cell) -> bool:
    """Return whether a cell only prepares the kernel."""
    checks = "check" in cell["metadata"].get("tags", [])
    return "import classroom.live" in cell["source"] and not checks


def fold(cell: Cell) -> None:
    """Put the answer to a guess below its cell, hidden until somebody opens it."""
    cell["outputs"] = files.reference(cell)
    del cell["metadata"]["minigrad"]  # where it lay
    cell["metadata"].setdefault("tags", []).append("hide-output")


def exercises(chapter: Chapter) -> str:
    """Return the exercises as a notebook to read: no check, and no answer."""
    notebook = read_notebook(BLANKS / f"{chapter.slug}.ipynb")
    cells = [without_check(c) for c in notebook["cells"] if not is_setup(c)]
    at_home(cells)
    title = f"# {chapter.number} · {chapter.front['title']}: exercises\n\n"
    cells[0]["source"] = title + (TEMPLATES / "exercises.md").read_text("utf-8")
    return json.dumps({**notebook, "cells": cells})


def without_check(cell: Cell) -> Cell:
    """Return a cell; a check is replaced by the command that runs it."""
    name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
    kind, number = exercise_at(name)
    if kind != "check":
        return cell
    return prose(name, f"`python3 course.py check {number}` checks your answer.")


def glossary(course: list[Chapter]) -> str:
    """Return the glossary, where each word links to the chapter that introduces it."""
    heads = {
        str(chapter.number): f"[{chapter.number} · {chapter.front['title']}]"
        f"(notebooks/{chapter.slug}.ipynb)"
        for chapter in course
    }
    text = (ROOT / "glossary.md").read_text(encoding="utf-8")
    row = r"^\| ([^|]+) \| (\d+) \|(?: ([^|]+))? \| (.+) \| ([^|]+) \|$"
    words = [
        f"{term}\n  {meaning}\n  {f'Also called {also}. ' if also else ''}"
        f"{korean} · {heads[number]}\n"
        for term, number, also, meaning, korean in re.findall(row, text, re.M)
    ]
    intro = text.split("\n\n")[1]
    return "\n".join([f"# Glossary\n\n{intro}\n\n```{{glossary}}", *words, "```"])


def describe(descriptions: dict[str, str]):
    """Return a transform that gives each page its description, for search engines."""

    def add(app, pagename, templatename, context, doctree) -> None:
        text = re.sub("[`*$]", "", descriptions[pagename])
        title = context.get("title") or UNTITLED[pagename]
        title = html.unescape(re.sub("<.*?>", "", title))
        tags = sharing.preview(title, text, pagename)
        context["metatags"] = context.get("metatags", "") + tags
        tree = context.get("furo_navigation_tree", "")  # its headings lack a level
        tree = tree.replace('role="heading"', 'role="heading" aria-level="2"')
        context["furo_navigation_tree"] = tree

    return add
