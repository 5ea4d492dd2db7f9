"""Find the answers in a learner's notebook, wherever the learner has put them."""

from classroom.cell.asked import bound_names, without_blanks
from classroom.notebook.files import Notebook, Unreadable
from classroom.notebook.pristine import (
    Chapter,
    Exercise,
    chapter_of,
    id_of,
    parse_label,
)
from classroom.notebook.source_code import (
    brought_along,
    code_lines,
    names_needed,
    statements,
    with_header,
)


class NotOurs(Unreadable):
    """A notebook contains none of the exercises asked for, or it is a lesson."""


def learner_in(notebook: Notebook, name: str, chapters: list[Chapter]) -> "Learner":
    """The learner's notebook in a file called `name`; raises NotOurs."""
    chapter = chapter_of(notebook, chapters)
    if chapter is None:
        raise NotOurs(f"{name} contains no exercise that was asked for.")
    if not any(parse_label(chapter.label(cell))[1] for cell in notebook["cells"]):
        raise NotOurs(
            f"{name} is a lesson. Its exercises are in exercises/{chapter.slug}.ipynb."
        )
    return Learner(notebook, chapter)


class Learner:
    """A learner's notebook, held against the chapter it belongs to."""

    def __init__(self, notebook: Notebook, chapter: Chapter) -> None:
        self.notebook, self.chapter = notebook, chapter
        self.cells = notebook["cells"]
        heir = chapter.heirs(notebook)
        self.labels = [chapter.label(cell, heir) for cell in self.cells]
        self.segments = self._segments()
        self._disown_copies()
        for exercise in chapter.exercises.values():
            self._adopt(exercise)

    def _segments(self) -> list[str | None]:
        """For each cell, the exercise whose statement and check surround it."""
        here, segments = None, []
        for label in self.labels:
            kind, name = parse_label(label)
            here = name if kind == "exercise" else None if kind == "check" else here
            segments.append(here)
        return segments

    def _disown_copies(self) -> None:
        """Remove the label from a copy of an answer in another exercise."""
        for i, label in enumerate(self.labels):
            kind, name = parse_label(label)
            elsewhere = kind == "answer" and self.segments[i] not in (name, None)
            if elsewhere and (label, name) in zip(self.labels, self.segments):
                self.labels[i] = None

    def _adopt(self, exercise: Exercise) -> None:
        """Label a cell that seems to answer an exercise without an answer."""
        label = id_of("answer", exercise.name)
        labelled = [i for i, name in enumerate(self.labels) if name == label]
        if any(not exercise.is_blank(self.cells[i]["source"]) for i in labelled):
            return
        own = [i for i in range(len(self.cells)) if self._is_own_code(i)]
        inside = [i for i in own if self.segments[i] == exercise.name]
        owner = self.chapter.owner
        owned = [i for i in own if owner(self.cells[i]["source"]) == exercise.name]
        both = [i for i in inside if i in owned]
        for i in both or owned or ([] if labelled else inside):
            self.labels[i] = label

    def _is_own_code(self, i: int) -> bool:
        code = self.cells[i]["cell_type"] == "code"
        return code and not self.labels[i] and bool(code_lines(self.cells[i]["source"]))

    def answers(self) -> dict[str, list[str]]:
        """The cells that answer each exercise which is filled in, in order.

        The learner's own cells between the statement and the check are included. So are
        imports, definitions and the values it reads, wherever they are above. A line of
        the blank that is left outside of functions is not.
        """
        found = {name: self._answer(e) for name, e in self.chapter.exercises.items()}
        return {name: cells for name, cells in found.items() if cells}

    def _answer(self, exercise: Exercise) -> list[str]:
        parts = self.parts(exercise)
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
        return [with_header(without_blanks(c), exercise.stub) for c in cells]

    def cells_of(self, name: str) -> list[int]:
        """Where the answer to an exercise is, and the own cells next to it."""
        answer = id_of("answer", name)
        own = (None, name)
        both = enumerate(zip(self.labels, self.segments))
        return [i for i, each in both if each[0] == answer or each == own]

    def astray(self) -> dict[str, str]:
        """The exercises that are blank because their answer is where nothing runs it.

        That is "the check's cell", "another exercise's cell", or "a cell of text",
        which any cell becomes with one keystroke. Or it is "no cell" of the notebook.
        """
        found, answers = {}, self.answers()
        for name, exercise in self.chapter.exercises.items():
            if name in answers:
                continue
            answer, check = (id_of(k, name) for k in ("answer", "check"))
            asked = bound_names(exercise.stub)
            asked -= bound_names(self.chapter.cells[check]["source"])
            for label, segment, cell in zip(self.labels, self.segments, self.cells):
                mine = segment == name and not label and bound_names(cell["source"])
                here = label == answer or (mine and mine & asked)
                if here and cell["cell_type"] != "code":
                    found[name] = "a cell of text"
                elif label == check and bound_names(cell["source"]) & asked:
                    found.setdefault(name, "the check's cell")
                elif self._answers_too(asked, label, cell["source"]):
                    found.setdefault(name, "another exercise's cell")
            if answer not in self.labels:
                found.setdefault(name, "no cell")
        return found

    def _answers_too(self, asked: set[str], label: str | None, source: str) -> bool:
        """Return whether another exercise's cell defines names that are asked for."""
        kind, other = parse_label(label)
        own = self.chapter.exercises[other].stub if kind == "answer" else source
        return bool(asked & (bound_names(source) - bound_names(own)))

    def _known(self, i: int) -> str | None:
        """The untouched notebook's version of a cell with code that is not an answer.

        It is None for a cell of another kind, and nothing of such a cell is included.
        """
        label = self.labels[i]
        if self._is_own_code(i):
            return ""
        code = self.cells[i]["cell_type"] == "code"
        if not code or label is None or parse_label(label)[0]:
            return None
        return self.chapter.cells[label]["source"]

    def parts(self, exercise: Exercise) -> list[int]:
        """Where the cells are that answer an exercise: above its check, if any are."""
        answer, check = (id_of(k, exercise.name) for k in ("answer", "check"))
        parts = [
            i
            for i, cell in enumerate(self.cells)
            if self.labels[i] == answer
            and cell["cell_type"] == "code"
            and not exercise.is_blank(cell["source"])
        ]
        end = self.labels.index(check) if check in self.labels else len(self.cells)
        return [i for i in parts if i < end] or parts
