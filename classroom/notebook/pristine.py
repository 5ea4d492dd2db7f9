"""The untouched notebooks: their chapters and exercises; an id names each cell."""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from classroom import ROOT
from classroom.cell.asked import CHECKED, bound_names, exercise_at, id_of
from classroom.notebook.files import (
    Cell,
    Notebook,
    Unreadable,
    as_table,
    notebooks_of,
    read_notebook,
)
from classroom.notebook.source_code import (
    DEFINITIONS,
    code_lines,
    header_of,
    names_set,
    statements,
)

STATED = re.compile(r"(?<!#)#+ (\d+\.\d+)\b")  # from the first # on: linear
SLUG = re.compile(r"\d\d_\w+")
DAMAGED = (
    "classroom/pristine/{0} cannot be read. If the file belongs to the course, get it "
    "again: `git checkout classroom/pristine/{0}` does, or take it from a fresh copy "
    "of the course. If another program has put it there, delete it."
)
NOBODY: dict[str, str | None] = {}


@dataclass(frozen=True)
class Exercise:
    """One exercise in the untouched notebook."""

    name: str
    title: str
    stub: str
    hints: int
    points: int
    outgrown: tuple[str, ...] = ()  # definitions to which a later chapter adds
    by_symptom: bool = False  # each hint is named by what one sees, not by its turn
    helps: dict[str, int] = field(default_factory=dict)  # message -> hint

    def is_blank(self, source: str) -> bool:
        """Whether `source` is the stub, or nothing."""
        return code_lines(source) in ([], code_lines(self.stub))


class Chapter:
    """An untouched notebook of the course, its cells labelled by their ids."""

    def __init__(self, path: Path) -> None:
        self.path, self.slug, self.notebook = path, path.stem, read_notebook(path)
        self.number = int(self.slug.split("_")[0])
        self.cells = {cell["id"]: cell for cell in self.notebook["cells"]}
        self.about = self.notebook["metadata"].get("minigrad", {})
        self.title = self.about.get("title", "")
        texts = Counter(cell["source"] for cell in self.cells.values())
        self._by_text = {
            c["source"]: n for n, c in self.cells.items() if texts[c["source"]] == 1
        }
        self.home = self._homes()
        self.exercises = {n: self._exercise(n) for n in self.home.values() if n}
        found = [bound_names(e.stub) for e in self.exercises.values()]
        shared = Counter(name for names in found for name in names)
        self._names = {
            name: {n for n in names if shared[n] == 1}
            for name, names in zip(self.exercises, found, strict=True)
        }

    @cached_property
    def names(self) -> set[str]:
        """The names that the untouched notebook assigns."""
        code = [c["source"] for c in self.cells.values() if c["cell_type"] == "code"]
        values = (
            s for t in code for s in statements(t) if not isinstance(s, DEFINITIONS)
        )
        return set().union(*map(names_set, values))

    def _homes(self) -> dict[str, str | None]:
        home, here = {}, None
        for label in self.cells:
            kind, name = parse_label(label)
            here = name if kind == "exercise" else here
            home[label] = here
        return home

    def _exercise(self, name: str) -> Exercise:
        about = self.about.get("exercises", {}).get(name, {})
        statement = self.cells[id_of("exercise", name)]["source"]
        heading = statement.splitlines()[0].lstrip("# ").removeprefix(name).strip()
        text = "".join(
            self.cells[n]["source"] for n, h in self.home.items() if h == name
        )
        hints = len(re.findall(r"<summary>Hint \d", text))
        title, points = about.get("title") or heading, about.get("points", 0)
        stub = self.cells[id_of("answer", name)]["source"]
        outgrown = tuple(about.get("outgrown", ()))
        by_symptom = bool(re.search(r"<summary>Hint \d+:", text))
        helps = about.get("helps", {})
        return Exercise(name, title, stub, hints, points, outgrown, by_symptom, helps)

    def heirs(self, notebook: Notebook) -> dict[str, str | None]:
        """For each exercise of an older notebook of this chapter, the one it is now.

        That is the exercise with its title, or with its number, unless that is another
        old one now.
        """
        about = as_table(notebook["metadata"].get("minigrad"))
        before = as_table(about.get("exercises")).items()
        now = {exercise.title: name for name, exercise in self.exercises.items()}
        heir = {n: now.get(str(as_table(each).get("title"))) for n, each in before}
        free = self.exercises.keys() - set(heir.values())
        return {n: new or (n if n in free else None) for n, new in heir.items()}

    def label(self, cell: Cell, heir: dict[str, str | None] = NOBODY) -> str | None:
        """Which cell of this chapter `cell` is, or was: an id, or None.

        `heir` says which number an exercise has now that had another one.
        """
        metadata = cell["metadata"]
        grade_id = as_table(metadata.get("nbgrader")).get("grade_id")
        for name in (grade_id, cell.get("id"), metadata.get("id")):
            kind, number = parse_label(name if isinstance(name, str) else None)
            if number in heir:
                new = heir[number]
                return id_of(kind, new) if new else None
            if isinstance(name, str) and name in self.cells:
                return name
        return self._by_text.get(cell["source"]) or self._by_words(cell)

    def _by_words(self, cell: Cell) -> str | None:
        code = cell["cell_type"] == "code"
        found = (CHECKED if code else STATED).search(cell["source"])
        label = found and id_of("check" if code else "exercise", found[1])
        return label if label in self.cells else None

    def owner(self, source: str) -> str | None:
        """The exercise that `source` seems to answer, by the names that it binds.

        A page of the package does not answer an exercise on another page.
        """
        names, page = bound_names(source), header_of(source)
        found = [name for name, asked in self._names.items() if asked & names]
        pages = {name: header_of(self.exercises[name].stub) for name in found}
        return next((name for name in found if page in ("", pages[name])), None)


def parse_label(label: str | None) -> tuple[str, str | None]:
    """The opposite of `id_of`, or ("", None) for any other cell's id."""
    kind, exercise = exercise_at(label)
    return kind, exercise or None


def all_chapters(root: Path = ROOT) -> list[Chapter]:
    """The chapters of the course, in order, without copies by other programs.

    Raises Unreadable for a notebook there that cannot be read: if it is the course's,
    nothing works without it, and `reset` has nothing to bring back.
    """
    paths = notebooks_of(root / "classroom" / "pristine")
    found = []
    for path in (path for path in paths if SLUG.fullmatch(path.stem)):
        try:
            found.append(Chapter(path))
        except (Unreadable, LookupError, TypeError, AttributeError):
            raise Unreadable(DAMAGED.format(path.name)) from None
    return [each for each in found if each.about.get("chapter") in (None, each.slug)]


def numbers_in(part: str) -> range | None:
    """The chapter numbers that "4" or "7-9" names, or None if it is no such thing."""
    ends = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
    return range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else None


def chosen_chapters(what: str | None, everything: list) -> list:
    """The chapters that "7-9" or "4,6" names, or all; raises Unreadable."""
    there, wanted = {chapter.number for chapter in everything}, set()
    for part in what.split(",") if what else ():
        numbers = numbers_in(part)
        if numbers is None:
            raise Unreadable(f"Chapters {what}: give numbers, such as 4, 7-9 or 4,6.")
        for number in numbers or [part]:  # 9-7 is empty
            if number not in there:
                raise Unreadable(f"Chapters {what}: there is no chapter {number}.")
            wanted.add(number)
    return [c for c in everything if not what or c.number in wanted]


def chapter_of(notebook: Notebook, chapters: list[Chapter]) -> Chapter | None:
    """The chapter of a notebook, by its metadata or else by its cells."""
    slug = as_table(notebook["metadata"].get("minigrad")).get("chapter")
    score = {
        c: (
            c.slug == slug,
            c.slug[3:] == str(slug)[3:],
            sum(bool(parse_label(c.label(cell))[1]) for cell in notebook["cells"]),
        )
        for c in chapters
    }
    best = max(score, key=score.__getitem__, default=None)
    return best if best and any(score[best]) else None
