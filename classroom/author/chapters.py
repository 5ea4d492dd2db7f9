"""Read chapters/NN_slug/*.md: front matter, cells, exercises and their answers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import jupytext
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author.blanks import STUB, Exercise
from classroom.notebook.files import digest_of

FRONT_MATTER = {
    "title": str,
    "question": str,
    "objectives": list,
    "needs": list,
    "minutes": int,
    "difficulty": int,
    "track": str,
    "terms": list,
    "requires": list,  # what has to be installed besides the course; mostly nothing
}
BY_HAND = Path(__file__).with_name("by_hand.py")  # what a hidden check may use
COLON = "A text with a colon in it has to stand in quotes."


class ChapterError(Trouble):
    """A source of a chapter is not as it should be; the text says where and why."""


@dataclass(frozen=True)
class Chapter:
    """One folder of chapters/."""

    folder: Path

    @property
    def slug(self) -> str:
        return self.folder.name

    @property
    def number(self) -> int:
        return int(self.slug.split("_")[0])

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    @cached_property
    def front(self) -> dict:
        matter = re.match(r"---\n(.*?)\n---\n", self.text("lesson.md"), re.DOTALL)
        where = f"{self.folder / 'lesson.md'}: the front matter"
        try:
            read = yaml.safe_load(matter.group(1)) if matter else {}
        except yaml.YAMLError as error:
            raise ChapterError(f"{where} is no YAML. {COLON} {error}") from None
        front = {"requires": []} | (read if isinstance(read, dict) else {})
        for key, kind in FRONT_MATTER.items():
            if not isinstance(front.get(key), kind):
                raise ChapterError(f"{where} needs `{key}`, which is a {kind.__name__}")
        return front

    @property
    def missing(self) -> str:
        """What this chapter requires and this Python lacks; "" if nothing."""
        names = [name for name in self.front["requires"] if not find_spec(name)]
        return ", ".join(names)

    @cached_property
    def lesson(self) -> list[NotebookNode]:
        text = re.sub(r"\A---\n.*?\n---\n", "", self.text("lesson.md"), flags=re.DOTALL)
        return read_cells(text)

    @cached_property
    def exercise_cells(self) -> list[NotebookNode]:
        return read_cells(self.text("exercises.md"))

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        found, headings, checks = {}, {}, []
        for cell in self.exercise_cells:
            headings.update(re.findall(r"^## (\d+\.\d+) (.+)", cell.source, re.M))
            if name := cell.metadata.get("answer"):
                found[name] = self._exercise(name, headings, cell)
            checks.append(cell.metadata.get("check"))
        for name in found:
            if checks.count(name) != 1:
                raise ChapterError(
                    f"{self.slug}/exercises.md: {name} needs one fence "
                    f'```python check="{name}", not {checks.count(name)}'
                )
        self._read_answers(found)
        self._read_hidden(found)
        return found

    def _exercise(self, name: str, headings: dict, cell: NotebookNode) -> Exercise:
        """Return the exercise of an answer's cell; raise ChapterError if it is none."""
        where = f"{self.slug}/exercises.md: the answer {name!r}"
        if name not in headings:
            raise ChapterError(f'{where} needs a heading above it, "## {name} Title"')
        points = int(cell.metadata.get("points", 0))
        kind = "assignment" if points else "building"
        found = Exercise(name, headings[name], kind, points, cell.source)
        if STUB not in found.blank:
            raise ChapterError(
                f"{where} needs lines ### BEGIN SOLUTION and ### END SOLUTION: what "
                "stands between them is not handed out"
            )
        return found

    def _read_answers(self, found: dict[str, Exercise]) -> None:
        for name, section in sections(self.text("answers.md"), "## "):
            exercise = self._named(found, name, "answers.md")
            for heading, body in sections(section, "### "):
                self._read_answer(exercise, heading, body)

    def _read_answer(self, exercise: Exercise, heading: str, body: str) -> None:
        where = f"{self.slug}/answers.md {exercise.name} '### {heading}'"
        kind, _, title = heading.partition(": ")
        message = re.search(r"^Refused with: `(.+)`$", body, re.MULTILINE)
        hint = re.search(r"^Hint: (\d)$", body, re.MULTILINE)
        if title in exercise.right or title in exercise.wrong:
            raise ChapterError(f"{where}: two answers have this title")
        if kind == "Right":
            exercise.right[title] = first_fence(body)
        elif kind != "Wrong":
            raise ChapterError(f"{where} should be Wrong: or Right:, and what")
        elif not message:
            raise ChapterError(f"{where} lacks a line Refused with: `words of it`")
        else:
            exercise.wrong[title] = first_fence(body)
            exercise.refusal[title] = message[1]
            number = int(hint[1]) if hint else 0
            if hint and exercise.helps.setdefault(message[1], number) != number:
                raise ChapterError(f"{where}: these words are marked with another hint")

    def _read_hidden(self, found: dict[str, Exercise]) -> None:
        for name, section in sections(self.text("hidden.md"), "## "):
            source = first_fence(section)
            helper = BY_HAND.read_text("utf-8") if "by_hand(" in source else ""
            self._named(found, name, "hidden.md").hidden = helper + source
        for name, exercise in found.items():
            if not exercise.hidden:
                raise ChapterError(f"{self.slug}/hidden.md has no check of {name}")

    def _named(self, found: dict[str, Exercise], name: str, where: str) -> Exercise:
        if name not in found:
            raise ChapterError(f"{self.slug}/{where}: there is no exercise {name}")
        return found[name]

    def digest(self, source: str) -> str:
        """Hash what the outputs of the notebooks built from `source` depend on."""
        parts = [self.folder / source, *sorted((ROOT / "minigrad").rglob("*.py"))]
        parts += sorted((ROOT / "classroom" / "cell").glob("*.py"))
        return digest_of(parts)


def chapters() -> list[Chapter]:
    """Return the chapters in the order of their numbers."""
    folders = (ROOT / "chapters").glob("[0-9][0-9]_*/")
    return [Chapter(folder) for folder in sorted(folders)]


def read_cells(text: str) -> list[NotebookNode]:
    """Turn Jupytext Markdown into cells that carry their fence's options."""
    cells = []
    for cell in jupytext.reads(text, fmt="md").cells:
        make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
        cells.append(make(cell.source, metadata=dict(cell.metadata)))
    return cells


def sections(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """Split Markdown at its headings: pairs of a heading and what stands below."""
    parts = re.split(rf"^{mark}(.+)$", text, flags=re.MULTILINE)
    return zip((heading.strip() for heading in parts[1::2]), parts[2::2], strict=True)


def first_fence(text: str) -> str:
    fence = re.search(r"^```python.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not fence:
        raise ChapterError(f"a python fence was expected in: {text.strip()[:80]!r}")
    return fence.group(1).rstrip("\n")
