"""Find the notebook, chapter or exercise that a learner means."""

from collections.abc import Sequence
from pathlib import Path

from classroom.notebook.answers import Learner, learner_in
from classroom.notebook.files import COURSE, Unreadable, notebooks_of, read_notebook
from classroom.notebook.pristine import Chapter, all_chapters, numbers_in

NO_NOTEBOOK = (
    f"There is no {{}} in exercises/. `{COURSE} reset {{}}` makes a blank one."
)
Notebooks = dict[Path, Learner | Unreadable]


def open_learner(path: Path, chapters: list[Chapter]) -> Learner:
    """The learner's notebook at `path`; raises Unreadable."""
    return learner_in(read_notebook(path), path.name, chapters)


def notebooks_in(root: Path, chapters: list[Chapter]) -> Notebooks:
    """The notebooks in exercises/, or why one is not a learner's."""
    found: Notebooks = {}
    for path in notebooks_of(root / "exercises"):
        try:
            found[path] = open_learner(path, chapters)
        except Unreadable as error:
            found[path] = error
    return found


def those_of(chapter: Chapter, there: Notebooks) -> dict[Path, Learner]:
    """The notebooks that belong to a chapter."""
    learners = {p: each for p, each in there.items() if isinstance(each, Learner)}
    return {p: each for p, each in learners.items() if each.chapter is chapter}


def notebook_of(chapter: Chapter, root: Path, there: Notebooks) -> Path:
    """The learner's notebook of a chapter that counts, even if it was renamed."""
    usual = root / "exercises" / f"{chapter.slug}.ipynb"
    return usual if usual in there else next(iter(those_of(chapter, there)), usual)


def copies(path: Path, chapter: Chapter, there: Notebooks) -> list[str]:
    """Names of other notebooks with answers to a chapter than the one at `path`."""
    others = those_of(chapter, there).items()
    return [other.name for other, each in others if other != path and each.answers()]


def several(words: Sequence[str], chapters: list[Chapter]) -> list[str]:
    """Split what was typed: "4-6", "4,5" and "4 5" are several chapters.

    A range gives those chapters that exist; raises Unreadable if none does.
    """
    found: list[str] = []
    for word in words:
        for part in [word] if word.endswith(".ipynb") else word.split(","):
            numbers = numbers_in(part) if "-" in part else None
            if numbers is None:
                found += [part] if part.strip() else []
                continue
            within = [str(c.number) for c in chapters if c.number in numbers]
            if not within:
                raise Unreadable(f"There are no chapters {part} with exercises.")
            found += within
    return list(dict.fromkeys(found))


def find(
    what: str, chapters: list[Chapter], root: Path
) -> tuple[Path, Chapter, str | None]:
    """What a learner means by "4", "4.2", "blame", or the path of a notebook."""
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
        names = chapter.slug, chapter.slug.partition("_")[2], chapter.title
        named = what.lower().replace("-", "_") in map(str.lower, names)
        if named or chapter.number == meant:
            only = f"{chapter.number}.{exercise}" if exercise else None
            if only and only not in chapter.exercises:
                names = ", ".join(chapter.exercises)
                raise Unreadable(
                    f"There is no exercise {what}. Chapter {number} has {names}."
                )
            there = notebooks_in(root, chapters)
            return notebook_of(chapter, root, there), chapter, only
    known = ", ".join(str(chapter.number) for chapter in chapters) or "none"
    raise Unreadable(
        f"There is no chapter {what} with exercises. The chapters are: {known}. "
        "Give a chapter (4 or its name), an exercise (4.2) or a notebook's path."
    )


def find_exercise(
    what: str | None, root: Path, command: str
) -> tuple[Path, Chapter, str]:
    """What a learner means by "4.2"; raises Unreadable if it is no exercise."""
    path, chapter, name = find(what, all_chapters(root), root) if what else (None,) * 3
    if name is None:
        raise Unreadable(f"Name one exercise, as `{COURSE} {command} 4.2` does.")
    return path, chapter, name
