"""Previews of the site on other pages, and other places where its notebooks run.

A preview has a title, a description and a picture. Colab opens notebooks of a public
repository. So the copies for Colab, whose first cell installs the course, have to be
published as the repository's branch `colab`.
"""

import json
import os
from pathlib import Path

from classroom.author import tab
from classroom.author.chapters import Chapter
from classroom.author.front_matter import rendered
from classroom.notebook.files import Cell, code_cell, read_notebook

BRANCH = "colab"


def links(chapter: Chapter, in_tab: bool) -> str:
    """Return links to where a lesson can be run, in HTML."""
    file = f"{chapter.slug}.ipynb"
    found = [f'<a class="download" href="{file}" download>Download this notebook</a>']
    places = {}
    if in_tab and tab.runs_here(chapter):
        places["Run it in this browser"] = tab.address(chapter)
        places["Its exercises in this browser"] = tab.address(chapter, "exercises")
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        place = f"github/{repository}/blob/{BRANCH}/notebooks/{file}"
        places["Open in Colab"] = f"https://colab.research.google.com/{place}"
    for words, address in places.items():
        found.append(f'<a class="download" href="{address}">{words}</a>')
    return " · ".join(found)


def write_for_colab(out: Path, course: list[Chapter]) -> None:
    """Write lessons and exercises for Colab, if the course's repository is known."""
    repository = os.environ.get("GITHUB_REPOSITORY")
    for folder, source in tab.FOLDERS.items() if repository else ():
        (out / folder).mkdir(parents=True)
        for chapter in course:
            notebook = read_notebook(source / f"{chapter.slug}.ipynb")
            notebook["cells"].insert(0, installs(repository))
            path = out / folder / f"{chapter.slug}.ipynb"
            path.write_text(json.dumps(notebook), encoding="utf-8")


def installs(repository: str) -> Cell:
    """Return a cell that installs the course in the state in which the site is made."""
    commit = os.environ.get("GITHUB_SHA", "main")
    source = f"git+https://github.com/{repository}@{commit}"
    install = f'%pip install --quiet "minigrad[course] @ {source}"'
    return code_cell("installs", install, {"outputs": []})


def preview(title: str, about: str, page: str) -> str:
    """Return the tags from which a preview of a page is made, and its description.

    A picture needs a full address. So the address of the site has to be known, which
    SITE_ADDRESS contains.
    """
    address = os.environ.get("SITE_ADDRESS", "").rstrip("/")
    told = {"title": title, "about": about, "page": page, "address": address}
    return rendered("site/preview.html", **told)
