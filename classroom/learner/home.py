"""The place of this learner in the course, for the page home.md and for `lab`."""

from pathlib import Path
from urllib.parse import quote

from classroom import ROOT
from classroom.learner.find import find
from classroom.learner.progress import overview, stop
from classroom.notebook.course_map import Stop, stop_of
from classroom.notebook.files import notebooks_of
from classroom.notebook.home import HOME, exercise_link, home_text
from classroom.notebook.pristine import all_chapters


def stops(root: Path = ROOT) -> list[Stop]:
    """Return the chapters, each with what is known of its exercises."""
    return [stop(row.chapter, row.statuses) for row in overview(root).rows]


def home_page(root: Path = ROOT) -> str:
    """Return this learner's page, in Markdown."""
    return home_text(stops(root), root, whole=True)


def address(what: str = "", root: Path = ROOT) -> str:
    """Return where JupyterLab opens: home, the lesson of "4", the exercise "4.2".

    Raises Unreadable if there is no such chapter or exercise.
    """
    if not what:
        there = notebooks_of(root / "classroom" / "pristine")
        return f"/lab/tree/{HOME}" if there else "/lab"
    path, chapter, exercise = find(what, all_chapters(root), root)
    lesson = root / "notebooks" / f"{chapter.slug}.ipynb"
    if exercise is None and lesson.exists():
        path = lesson
    here = stop_of(chapter.number, chapter.slug, chapter.about)
    link = exercise_link(here, exercise) if exercise else ""
    heading = link.rstrip(")").partition("#")[2]
    place = quote(path.relative_to(root).as_posix())
    return f"/lab/tree/{place}" + (f"#{heading}" if heading else "")
