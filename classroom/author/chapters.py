"""Read chapters/NN_slug/: lesson.md, and a file for each exercise.

Such a file begins with what a learner sees, up to the check. Then come the parts for
teachers and tests: the drawn inputs, wrong answers and right answers.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom import ROOT
from classroom.author.blanks import STUB, ChapterError, Exercise, marked
from classroom.author.quotes import quoted

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
BY_HAND = Path(__file__).with_name("by_hand.py")  # what drawn inputs may use
PARTS = "Drawn inputs|Wrong answers|Other messages|Right answers|In PyTorch"
PART = re.compile(rf"^## ({PARTS})\n", re.MULTILINE)
REFUSED = re.compile(r"^Refused with: `(.+?)`(?:, hint (\d))?$", re.MULTILINE)
TEXTS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
PAGE = re.compile(r"# minigrad/\S+\.py")
COLON = "A text with a colon in it has to stand in quotes."


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
        import yaml  # here, since `engine`, which learners run, does without

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
        """The packages that this chapter requires and this Python lacks, or ""."""
        names = [name for name in self.front["requires"] if not find_spec(name)]
        return ", ".join(names)

    @cached_property
    def lesson(self) -> list[NotebookNode]:
        text = re.sub(r"\A---\n.*?\n---\n", "", self.text("lesson.md"), flags=re.DOTALL)
        return read_cells(text)

    @cached_property
    def files(self) -> list[Path]:
        """The files of the exercises, in their order."""
        return sorted(self.folder.glob("[0-9]_*.md"))

    @cached_property
    def exercise_cells(self) -> list[NotebookNode]:
        """The cells of the exercises that a learner sees, after those given to all."""
        texts = [self.text("given.md"), *(split_file(file)[""] for file in self.files)]
        return read_cells("\n\n\n".join(text.strip("\n") for text in texts) + "\n")

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
                    f"{self.slug}: {name} needs one fence "
                    f'```python check="{name}", not {checks.count(name)}'
                )
        answers, faults = {name.split(".")[1]: found[name] for name in found}, []
        for file in self.files:
            if file.name[0] not in answers:
                name = f"{self.number}.{file.name[0]}"
                told = f'needs a fence ```python answer="{name}"'
                raise ChapterError(f"{self.slug}/{file.name} {told}")
            faults += read_parts(file, answers[file.name[0]])
        if faults:
            raise ChapterError("\n".join(faults))
        return found

    def _exercise(self, name: str, headings: dict, cell: NotebookNode) -> Exercise:
        """Return the exercise of an answer's cell, or raise ChapterError."""
        where = f"{self.slug}: the answer {name!r}"
        if name not in headings:
            raise ChapterError(f'{where} needs a heading above it, "## {name} Title"')
        points = cell.metadata.get("points", "0")
        if not points.isdecimal():
            raise ChapterError(f"{where}: its points are a number, not {points!r}")
        points = int(points)
        kind = "assignment" if points else "building"
        found = Exercise(name, headings[name], kind, points, cell.source)
        if STUB not in found.blank:
            raise ChapterError(
                f"{where} needs lines ### BEGIN SOLUTION and ### END SOLUTION: what "
                "stands between them is not handed out"
            )
        return found


@cache
def chapters() -> list[Chapter]:
    """Return the chapters in the order of their numbers, each time the same objects."""
    folders = (ROOT / "chapters").glob("[0-9][0-9]_*/")
    return [Chapter(folder) for folder in sorted(folders)]


def read_cells(text: str) -> list[NotebookNode]:
    """Turn Jupytext Markdown into cells that carry their fence's options."""
    import jupytext  # here, since `engine`, which learners run, does without

    cells = []
    for cell in jupytext.reads(text, fmt="md").cells:
        make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
        cells.append(make(cell.source, metadata=dict(cell.metadata)))
        if reference := cells[-1].metadata.pop("quote", None):
            left_out, text = cells[-1].source, quoted(reference)
            answer = cells[-1].metadata.get("answer")
            cells[-1].source = marked(text, left_out) if answer else text
    return cells


def split_file(file: Path) -> dict[str, str]:
    """Return the parts of an exercise's file by heading, the visible part first."""
    first, *others = PART.split(file.read_text(encoding="utf-8"))
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


def read_parts(file: Path, exercise: Exercise) -> list[str]:
    """Read the parts of an exercise that are for teachers and tests.

    Return what is wrong with its answers: a new name may make many of them unfit.
    """
    parts, where = split_file(file), f"{file.parent.name}/{file.name}"
    if "Drawn inputs" not in parts:
        raise ChapterError(f"{where} needs a part ## Drawn inputs")
    source = first_fence(parts["Drawn inputs"])
    helper = BY_HAND.read_text("utf-8") if "by_hand(" in source else ""
    exercise.drawn = helper + source
    if "In PyTorch" in parts:
        exercise.pytorch = first_fence(parts["In PyTorch"])
    faults = []
    for kind in ("right", "wrong"):
        answers = getattr(exercise, kind)
        for title, body in sections(parts.get(f"{kind.title()} answers", "")):
            try:
                if title in exercise.right or title in exercise.wrong:
                    raise ChapterError("two answers have this title")
                answers[title] = answer_in(body, exercise.solved)
                if kind == "wrong":
                    read_refusal(title, body, exercise)
            except ChapterError as error:
                faults.append(f"{where}, {title!r}: {error}")
    others = re.findall(r"^- `(.+)`: hint (\d)$", parts.get("Other messages", ""), re.M)
    exercise.helps.update({words: int(number) for words, number in others})
    return faults


def read_refusal(title: str, body: str, exercise: Exercise) -> None:
    """Read which message refuses a wrong answer, and the hint that it leads to."""
    message = REFUSED.search(body)
    if not message:
        raise ChapterError("it lacks a line Refused with: `words of the message`")
    exercise.refusal[title] = message[1]
    number = int(message[2] or 0)
    if number and exercise.helps.setdefault(message[1], number) != number:
        raise ChapterError("these words are marked with another hint")


def answer_in(body: str, solved: str) -> str:
    """Return an answer, given as a change of the solution or as a whole."""
    if "```diff\n" not in body:
        return first_fence(body)
    return changed(solved, first_fence(body, "diff"))


def sections(text: str, mark: str = "### ") -> Iterator[tuple[str, str]]:
    """Split Markdown at its headings, into pairs of a heading and the text below it."""
    parts = re.split(rf"^{mark}(.+)$", text, flags=re.MULTILINE)
    return zip((heading.strip() for heading in parts[1::2]), parts[2::2], strict=True)


def first_fence(text: str, language: str = "python") -> str:
    fence = re.search(rf"^```{language}.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not fence:
        raise ChapterError(f"a {language} fence was expected in: {text.strip()[:80]!r}")
    return fence.group(1).rstrip("\n")


# --- a mistake as a change of the solution ------------------------------------------


def changed(solution: str, change: str) -> str:
    """Return the solution with a change, or raise ChapterError if it does not fit.

    In a change, as in a diff, a ` ` marks a line that stays, `-` a line that is
    removed, `+` a line that is added, and `@@` separates two places. Only these lines
    say where the place is, so they have to occur once in the solution. Comments,
    docstrings and blank lines of the solution do not count.
    """
    lines = [*plain(solution)]
    for place in re.split(r"^@@\n?", change, flags=re.MULTILINE):
        marked = [(line[:1], line[1:]) for line in place.splitlines()]
        before = [line for mark, line in marked if mark != "+"]
        after = [line for mark, line in marked if mark != "-"]
        starts = range(len(lines) - len(before) + 1)
        found = [n for n in starts if lines[n : n + len(before)] == before]
        if len(found) != 1:
            often = f"{len(found)} times" if found else "nowhere"
            told = "\n".join([line for line in before if line not in lines] or before)
            raise ChapterError(f"these lines stand {often} in the solution:\n{told}")
        lines[found[0] : found[0] + len(before)] = after
    return "\n".join(lines)


@cache
def plain(source: str) -> tuple[str, ...]:
    """Return the lines of some code without docstrings, comments and blank lines.

    A first line that names a file of the package stays. So does a docstring that is the
    whole body.
    """
    lines, texts = source.splitlines(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, TEXTS) and ast.get_docstring(node) and node.body[1:]:
            first = node.body[0]
            texts.update(range(first.lineno, first.end_lineno + 1))
    code = [line for n, line in enumerate(lines, 1) if n not in texts]
    return tuple(
        line for line in code if line.strip()[:1] not in ("", "#") or PAGE.match(line)
    )
