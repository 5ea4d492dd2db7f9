"""Read learners' notebooks, find the answers in them, and put answers into ours.

Notebooks are plain dictionaries here, as JSON has them, each cell's source one string:
importing nbformat would take longer than reading every notebook of the course.
"""

import ast
import difflib
import json
import os
import re
import symtable
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from classroom.journal import put_in_place

ROOT = Path(__file__).resolve().parent.parent
COURSE = "py course.py" if os.name == "nt" else "python3 course.py"
Cell = dict[str, Any]
Notebook = dict[str, Any]

HEADER = re.compile(r"# minigrad/[\w/]+\.py\s*$")
NAMES = re.compile(
    r"^[ \t]*(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.M
)
CHECKED = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")
STATED = re.compile(r"(?<!#)#+ (\d+\.\d+)\b")  # from the first # on: linear
LABEL = re.compile(r"(exercise|answer|check)-(\d+)-(\d+)$")
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
NO_CELLS: dict[str, Cell] = {}
ALIKE = 0.6  # below this likeness, two texts are not versions of one answer


class Unreadable(Exception):
    """A notebook cannot be read; the text says why and what to do."""


def read_notebook(path: Path) -> Notebook:
    """The notebook at `path`, however it was saved; raises Unreadable."""
    try:
        return parse_notebook(path.read_bytes(), path.name)
    except OSError as error:
        raise Unreadable(f"{path.name}: {error.strerror}.") from None


def parse_notebook(data: bytes, name: str) -> Notebook:
    """The notebook in a file called `name`; raises Unreadable."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(_why_not_json(data, name, error)) from None
    try:
        notebook["cells"] = [_clean(cell) for cell in notebook["cells"]]
        notebook["metadata"] = dict(notebook.get("metadata") or {})
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Unreadable(
            f"{name} is JSON, but not a notebook (or one from before 2015). "
            "Open it in JupyterLab and save it, or take a fresh copy with reset."
        ) from None
    return notebook


def _why_not_json(data: bytes, name: str, error: Exception) -> str:
    text = data.decode("utf-8", "replace")
    if not text.strip("\ufeff \r\n\t"):
        return f"{name} is empty. Take a fresh copy of it with reset."
    lines = text.splitlines()
    marks = [n for n, line in enumerate(lines, 1) if line.startswith("<<<<<<< ")]
    if marks:
        return (
            f"{name} has the marks of a git merge in it (line {marks[0]}: "
            f"{lines[marks[0] - 1][:30]}). `{COURSE} update` ends the merge, "
            "and keeps your side."
        )
    if isinstance(error, UnicodeDecodeError):
        return f"{name} is not UTF-8 text. Save it again in JupyterLab."
    where = f" at line {error.lineno}" if hasattr(error, "lineno") else ""
    return (
        f"{name} is not a notebook: its JSON breaks off or goes wrong{where}. "
        "Was it edited as text? Take a fresh copy with reset."
    )


def _clean(cell: Cell) -> Cell:
    source = cell.get("source", "")
    source = source if isinstance(source, str) else "".join(source)
    source = source.replace("\r\n", "\n")
    source = source.encode("utf-8", "replace").decode()  # half characters: none such
    metadata = dict(cell.get("metadata") or {})
    return {
        **cell,
        "source": source,
        "metadata": metadata,
        "cell_type": cell["cell_type"],
    }


def write_notebook(path: Path, notebook: Notebook) -> None:
    """Write `notebook` as Jupyter does; the old file stays until it is complete."""
    cells = [{**c, "source": c["source"].splitlines(True)} for c in notebook["cells"]]
    text = json.dumps(
        {**notebook, "cells": cells}, indent=1, ensure_ascii=False, sort_keys=True
    )
    write_whole(path, text + "\n")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file; the old one stays until the new one is complete."""
    unfinished = path.with_suffix(".unfinished")
    data = content.encode() if isinstance(content, str) else content
    try:
        unfinished.write_bytes(data)
        put_in_place(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def code_lines(source: str) -> list[str]:
    """The lines of `source` that are neither empty nor comments."""
    lines = [line.rstrip() for line in source.splitlines()]
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def bound_names(source: str) -> set[str]:
    """Names that `source` defines or assigns; it need not be valid Python."""
    return {a or b for a, b in NAMES.findall(source)}


def statements(source: str) -> list[ast.stmt]:
    """The statements of `source`; none if it is no valid Python."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def names_set(statement: ast.stmt) -> set[str]:
    """The names that a definition or a value gets: of two = sqrt(4), two."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    targets = getattr(statement, "targets", None) or [statement.target]
    inside = [node for target in targets for node in ast.walk(target)]
    if any(isinstance(node, ast.Attribute | ast.Subscript) for node in inside):
        return set()  # it writes into something that is there already
    return {node.id for node in inside if isinstance(node, ast.Name)}


def scopes(source: str) -> list[symtable.SymbolTable]:
    """The scopes of `source`, the outermost first; none if it is no valid Python."""
    try:
        found = [symtable.symtable(source, "a cell", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    for scope in found:
        found += scope.get_children()
    return found


def names_read(source: str) -> set[str]:
    """The names that `source` reads, less those that only its functions have."""
    return {
        symbol.get_name()
        for scope in scopes(source)
        for symbol in scope.get_symbols()
        if symbol.is_referenced()
        and (symbol.is_global() or scope.get_type() == "module")
    }


def names_needed(sources: Iterable[str], above: list[ast.stmt]) -> set[str]:
    """The names that `sources` read, and what is read to make them in `above`."""
    needed, found = set().union(*map(names_read, sources)), above
    while found:
        found = [s for s in above if names_set(s) & needed]
        above = [s for s in above if s not in found]
        needed = needed.union(*(names_read(ast.unparse(s)) for s in found))
    return needed


def brought_along(source: str, known: str, needed: set[str]) -> str:
    """What an answer needs of a cell above it: imports, definitions and values.

    Values only if all their names are `needed`; and nothing that stands in the text
    `known`, too. The rest of the cell stays out.
    """
    body, have = statements(source), set(map(ast.dump, statements(known)))
    if has_header(source):
        return ""
    kept = [
        s
        for s in body
        if ast.dump(s) not in have
        and (isinstance(s, DEFINITIONS) or names_set(s) and names_set(s) <= needed)
    ]
    whole = len(kept) == len(body)
    return source if kept and whole else "\n".join(map(ast.unparse, kept))


def has_header(source: str) -> bool:
    """Whether `source` is a page of the package, and so live once it ran."""
    return bool(HEADER.match(source.split("\n", 1)[0]))


@dataclass(frozen=True)
class Exercise:
    """One exercise as the untouched notebook has it."""

    name: str
    title: str
    stub: str
    hints: int

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
        """The names that the untouched notebook gives a value."""
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
        about = self.about.get("exercises", {})
        statement = self.cells[make_label("exercise", name)]["source"]
        heading = statement.splitlines()[0].lstrip("# ").removeprefix(name).strip()
        text = "".join(
            self.cells[n]["source"] for n, h in self.home.items() if h == name
        )
        hints = len(re.findall(r"<summary>Hint \d", text))
        title = about.get(name, {}).get("title") or heading
        stub = self.cells[make_label("answer", name)]["source"]
        return Exercise(name, title, stub, hints)

    def label(self, cell: Cell) -> str | None:
        """Which cell of this chapter `cell` is, or was: an id, or None."""
        metadata = cell["metadata"]
        grade_id = as_table(metadata.get("nbgrader")).get("grade_id")
        for name in (grade_id, cell.get("id"), metadata.get("id")):
            if isinstance(name, str) and name in self.cells:
                return name
        return self._by_text.get(cell["source"]) or self._by_words(cell)

    def _by_words(self, cell: Cell) -> str | None:
        code = cell["cell_type"] == "code"
        found = (CHECKED if code else STATED).search(cell["source"])
        label = found and make_label("check" if code else "exercise", found[1])
        return label if label in self.cells else None

    def owner(self, source: str) -> str | None:
        """The exercise that `source` seems to answer, by its names, else its look."""
        names = bound_names(source)
        for name in self.exercises:
            if self._names[name] & names:
                return name
        likeness = {n: alike(source, e.stub) for n, e in self.exercises.items()}
        best = max(likeness, key=likeness.__getitem__, default=None)
        return best if best and likeness[best] > ALIKE else None


def alike(source: str, stub: str) -> float:
    """How alike two texts are, from 0 to 1; 0 if their lengths say enough."""
    match = difflib.SequenceMatcher(None, source, stub)
    return match.ratio() if match.real_quick_ratio() > ALIKE else 0


def keep(path: Path, root: Path) -> Path:
    """Copy a notebook to exercises/kept/, named by the time; return the copy."""
    copy = place_to_keep(root, f"{path.stem}-", path.suffix)
    copy.parent.mkdir(parents=True, exist_ok=True)
    write_whole(copy, path.read_bytes())
    return copy


def place_to_keep(root: Path, before: str, after: str) -> Path:
    """A free place in exercises/kept/, with the time in the middle of its name."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    for more in ("", *(f"-{n}" for n in range(2, 100))):
        place = root / "exercises" / "kept" / f"{before}{stamp}{more}{after}"
        if not place.exists():
            break
    return place


def as_table(value: Any) -> dict:
    """`value` if it is a table; an empty one for anything else that a file may hold."""
    return value if isinstance(value, dict) else {}


def make_label(kind: str, exercise: str) -> str:
    """The id of an exercise's cell: ("answer", "4.1") is "answer-4-1"."""
    return f"{kind}-{exercise.replace('.', '-')}"


def parse_label(label: str | None) -> tuple[str, str | None]:
    """The opposite of `make_label`; ("", None) for any other cell's id."""
    match = LABEL.match(label or "")
    return (match[1], f"{match[2]}.{match[3]}") if match else ("", None)


def all_chapters(root: Path = ROOT) -> list[Chapter]:
    """The chapters of the course, in order."""
    return [Chapter(p) for p in sorted((root / "classroom/pristine").glob("*.ipynb"))]


def chapter_of(notebook: Notebook, chapters: list[Chapter]) -> Chapter | None:
    """The chapter a notebook belongs to: by its metadata, else by its cells."""
    slug = as_table(notebook["metadata"].get("minigrad")).get("chapter")
    score = {
        c: (
            c.slug == slug,
            sum(bool(parse_label(c.label(cell))[1]) for cell in notebook["cells"]),
        )
        for c in chapters
    }
    best = max(score, key=score.__getitem__, default=None)
    return best if best and any(score[best]) else None


def is_lesson(notebook: Notebook, chapter: Chapter) -> bool:
    """Whether a notebook of the chapter has none of its exercises in it."""
    labels = map(chapter.label, notebook["cells"])
    return not any(parse_label(label)[1] for label in labels)


class Learner:
    """A learner's notebook, held against the chapter it belongs to."""

    def __init__(self, notebook: Notebook, chapter: Chapter) -> None:
        self.notebook, self.chapter = notebook, chapter
        self.cells = notebook["cells"]
        self.labels = [chapter.label(cell) for cell in self.cells]
        self.segments = self._segments()
        self._disown_copies()
        for exercise in chapter.exercises.values():
            self._adopt(exercise)

    def _segments(self) -> list[str | None]:
        """For each cell, the exercise between whose statement and check it stands."""
        here, segments = None, []
        for label in self.labels:
            kind, name = parse_label(label)
            here = name if kind == "exercise" else None if kind == "check" else here
            segments.append(here)
        return segments

    def _disown_copies(self) -> None:
        """Take the label off a copy of an answer, pasted into another exercise."""
        for i, label in enumerate(self.labels):
            kind, name = parse_label(label)
            elsewhere = kind == "answer" and self.segments[i] not in (name, None)
            if elsewhere and (label, name) in zip(self.labels, self.segments):
                self.labels[i] = None

    def _adopt(self, exercise: Exercise) -> None:
        """Label as answer what seems to answer an exercise that has none."""
        label = make_label("answer", exercise.name)
        labelled = [i for i, name in enumerate(self.labels) if name == label]
        if any(not exercise.is_blank(self.cells[i]["source"]) for i in labelled):
            return
        own = [i for i in range(len(self.cells)) if self._is_own_code(i)]
        inside = [i for i in own if self.segments[i] == exercise.name]
        owned = [i for i in own if self._owner(i) == exercise.name]
        both = [i for i in inside if i in owned]
        for i in both or owned or ([] if labelled else inside):
            self.labels[i] = label

    def _owner(self, i: int) -> str | None:
        return self.chapter.owner(self.cells[i]["source"])

    def _is_own_code(self, i: int) -> bool:
        code = self.cells[i]["cell_type"] == "code"
        return code and not self.labels[i] and bool(code_lines(self.cells[i]["source"]))

    def answers(self) -> dict[str, list[str]]:
        """The cells that answer each exercise which is filled in, in order.

        The learner's own cells between statement and check come along, and so do
        imports, definitions and the values it reads that stand anywhere above.
        """
        found = {name: self._answer(e) for name, e in self.chapter.exercises.items()}
        return {name: cells for name, cells in found.items() if cells}

    def _answer(self, exercise: Exercise) -> list[str]:
        parts = self._parts(exercise)
        if not parts:
            return []
        texts = [cell["source"] for cell in self.cells]
        own = {i for i in range(len(texts)) if self._is_own_code(i)}
        whole = {i for i in own if self.segments[i] == exercise.name} | {*parts}
        above = {i: self._known(i) for i in range(parts[0]) if i not in whole}
        there = [s for i in above if above[i] is not None for s in statements(texts[i])]
        needed = names_needed([texts[i] for i in whole], there) - self.chapter.names
        cells: list[str] = []
        for i, source in enumerate(texts):
            if i in parts and i - 1 in parts:  # split in two: one cell again
                cells[-1] += "\n" + source
            elif i in whole:
                cells.append(source)
            elif (known := above.get(i)) is not None:
                cells += filter(None, [brought_along(source, known, needed)])
        return [with_header(source, exercise.stub) for source in cells]

    def cells_of(self, name: str) -> list[int]:
        """Where the answer to an exercise stands, and the own cells beside it."""
        answer = make_label("answer", name)
        own = (None, name)
        both = enumerate(zip(self.labels, self.segments))
        return [i for i, each in both if each[0] == answer or each == own]

    def astray(self) -> dict[str, str]:
        """The exercises that are blank since nothing runs the answer where it stands.

        That is "the check's cell", or "a cell of text", which one keystroke makes of
        the answer's.
        """
        found, answers = {}, self.answers()
        for name, exercise in self.chapter.exercises.items():
            if name in answers:
                continue
            answer, check = (make_label(k, name) for k in ("answer", "check"))
            asked = bound_names(exercise.stub)
            asked -= bound_names(self.chapter.cells[check]["source"])
            for label, cell in zip(self.labels, self.cells):
                if label == answer and cell["cell_type"] != "code":
                    found[name] = "a cell of text"
                elif label == check and bound_names(cell["source"]) & asked:
                    found.setdefault(name, "the check's cell")
        return found

    def _known(self, i: int) -> str | None:
        """What the untouched notebook has of a cell with code that is no answer.

        None for a cell of another kind: nothing of it comes along.
        """
        label = self.labels[i]
        if self._is_own_code(i):
            return ""
        code = self.cells[i]["cell_type"] == "code"
        if not code or label is None or parse_label(label)[0]:
            return None
        return self.chapter.cells[label]["source"]

    def _parts(self, exercise: Exercise) -> list[int]:
        answer, check = (make_label(k, exercise.name) for k in ("answer", "check"))
        parts = [
            i
            for i, cell in enumerate(self.cells)
            if self.labels[i] == answer
            and cell["cell_type"] == "code"
            and not exercise.is_blank(cell["source"])
        ]
        end = self.labels.index(check) if check in self.labels else len(self.cells)
        return [i for i in parts if i < end] or parts


def with_header(source: str, stub: str) -> str:
    """`source`, with the stub's `# minigrad/...` line in front if that is missing."""
    if not has_header(stub) or has_header(source):
        return source
    header = stub.split("\n", 1)[0]
    return f"{header}\n{source}" if bound_names(source) & bound_names(stub) else source


def graft(
    chapter: Chapter, answers: dict[str, list[str]], hidden: dict[str, Cell] = NO_CELLS
) -> Notebook:
    """The chapter's code cells with `answers` in their places, ready for nbval.

    What comes after a blank is left out with it; a hidden check comes after the check
    of its exercise. Each cell's metadata says, under `minigrad`, which exercise it
    belongs to and what part it plays there.
    """
    cells, answered = [], ""
    for label, cell in chapter.cells.items():
        kind, home = parse_label(label)[0], chapter.home[label]
        if kind == "answer":
            answered = home
            parts, asked = answers.get(home, []), bound_names(cell["source"])
            core = {source for source in parts if bound_names(source) & asked}
            for n, source in enumerate(parts):
                role = "answer" if source in core or not core else "extra"
                place = {"exercise": home, "role": role}
                cells.append(_code_cell(f"{label}-{n}", source, place))
        elif cell["cell_type"] == "code" and (home != answered or home in answers):
            place = {
                "exercise": home,
                "role": kind or ("after" if home == answered else ""),
            }
            tags = cell["metadata"].get("tags", [])
            cells.append({**cell, "execution_count": 1})
            cells[-1]["metadata"] = {"tags": tags, "minigrad": place}
            if kind == "check" and home in hidden:
                cells.append(hidden[home])
    return {**chapter.notebook, "cells": cells}


def _code_cell(name: str, source: str, place: dict[str, str]) -> Cell:
    return {
        "cell_type": "code",
        "id": name,
        "source": source,
        "metadata": {"minigrad": place},
        "execution_count": None,
        "outputs": [],
    }


@dataclass
class Carried:
    """What became of a learner's cells: `edited` counts changed cells of the course."""

    notebook: Notebook
    homeless: list[Cell]
    edited: int


def carry_over(
    learner: Learner, new: Chapter, without: frozenset[str] = frozenset()
) -> Carried:
    """`new` with the learner's answers and own cells in it, but for some exercises.

    A cell of the learner's own comes after the same cell of the course as before; what
    belongs to an exercise that `new` does not have is `homeless`.
    """
    old, homeless, edited = learner.chapter, [], 0
    after: dict[str | None, list[Cell]] = defaultdict(list)
    answers: dict[str, list[Cell]] = defaultdict(list)
    anchor, here = None, None
    for cell, label in zip(learner.cells, learner.labels, strict=True):
        kind, name = parse_label(label)
        here = old.home[label] if label else here
        gone = here is not None and here not in new.exercises
        blank = kind == "answer" and old.exercises[name].is_blank(cell["source"])
        anchor = label if label in new.cells else anchor
        if kind == "answer" and not blank and not gone and name not in without:
            course = {k: new.cells[label][k] for k in ("id", "metadata")}
            answers[label] += after.pop(label, []) + [{**cell, **course}]
        elif (kind == "answer" and not blank and gone) or (not label and gone):
            homeless.append(cell)
        elif not label and cell["source"].strip():
            after[anchor].append(cell)
        elif (
            kind != "answer" and label and cell["source"] != old.cells[label]["source"]
        ):
            edited += 1
    cells = list(after[None])
    for label, cell in new.cells.items():
        cells += answers[label] or [cell]
        cells += after[label]
    return Carried({**new.notebook, "cells": _own_ids(cells)}, homeless, edited)


def bring_back(learner: Learner, other: Learner, name: str) -> Notebook:
    """`learner`'s notebook with the answer to an exercise taken from `other`.

    That is the answer's cells and the learner's own among them.
    """
    label, new = make_label("answer", name), learner.chapter
    course = {key: new.cells[label][key] for key in ("id", "metadata")}
    taken = [
        {**other.cells[i], **course} if other.labels[i] == label else other.cells[i]
        for i in other.cells_of(name)
    ]
    replaced, labels = learner.cells_of(name), learner.labels
    check = make_label("check", name)
    end = labels.index(check) if check in labels else len(labels)
    place = min([*replaced, end])
    left = [c for i, c in enumerate(learner.cells) if i not in replaced]
    cells = left[:place] + taken + left[place:]
    return {**learner.notebook, "cells": _own_ids(cells)}


def _own_ids(cells: list[Cell]) -> list[Cell]:
    seen: set[str] = set()
    result = []
    for cell in cells:
        name = cell.get("id")
        name = name if name and name not in seen else uuid.uuid4().hex[:8]
        seen.add(name)
        result.append({**cell, "id": name})
    return result
