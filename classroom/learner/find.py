"""Find the notebook, chapter or exercise that a learner means."""

from contextlib import suppress
from pathlib import Path

from classroom.notebook.answers import Learner, NotOurs, learner_in
from classroom.notebook.files import COURSE, Notebook, Unreadable, read_notebook
from classroom.notebook.pristine import Chapter

NO_NOTEBOOK = (
    f"There is no {{}} in exercises/. `{COURSE} reset {{}}` brings a blank one."
)


def open_learner(path: Path, chapters: list[Chapter]) -> Learner:
    """The learner's notebook at `path`; raises Unreadable."""
    return learner_in(read_notebook(path), path.name, chapters)


def exercises_in(root: Path) -> dict[Path, Notebook]:
    """The notebooks in exercises/ that can be read, each read once."""
    found = {}
    for path in sorted((root / "exercises").glob("*.ipynb")):
        with suppress(Unreadable):
            found[path] = read_notebook(path)
    return found


def copies(path: Path, chapter: Chapter, among: dict[Path, Notebook]) -> list[Path]:
    """Notebooks with answers to a chapter beside the one at `path`, which counts."""
    found = []
    for other, notebook in among.items():
        with suppress(NotOurs):
            if other != path and learner_in(notebook, other.name, [chapter]).answers():
                found.append(other)
    return found


def find(
    what: str, chapters: list[Chapter], root: Path
) -> tuple[Path, Chapter, str | None]:
    """What a learner means by "4", "4.2", "04_blame" or the path of a notebook."""
    what = what.strip()
    if what.endswith(".ipynb"):
        places = Path(what), root / what, root / "exercises" / what
        path = next((path for path in places if path.exists()), None)
        if path is None:
            raise Unreadable(f"There is no notebook {what}.")
        return path, open_learner(path, chapters).chapter, None
    number, _, exercise = what.partition(".")
    meant = int(number) if number.isdecimal() else None
    for chapter in chapters:
        if what == chapter.slug or chapter.number == meant:
            only = f"{chapter.number}.{exercise}" if exercise else None
            if only and only not in chapter.exercises:
                names = ", ".join(chapter.exercises)
                raise Unreadable(
                    f"There is no exercise {what}; chapter {number} has {names}."
                )
            return notebook_of(chapter, chapters, root), chapter, only
    known = ", ".join(str(chapter.number) for chapter in chapters) or "none"
    raise Unreadable(
        f"There is no chapter {what} with exercises. There are: {known}. "
        "Give a chapter (4), an exercise (4.2) or the path of a notebook."
    )


def notebook_of(chapter: Chapter, chapters: list[Chapter], root: Path) -> Path:
    """The learner's notebook of a chapter, also if it was renamed."""
    usual = root / "exercises" / f"{chapter.slug}.ipynb"
    if usual.exists():
        return usual
    for path in sorted(usual.parent.glob("*.ipynb")):
        try:
            if open_learner(path, chapters).chapter is chapter:
                return path
        except Unreadable:
            continue
    return usual
