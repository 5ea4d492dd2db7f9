"""Remember the results of the last checks, here and in the notebook."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from classroom.cell.asked import asked, core, mark_of
from classroom.cell.notes import TRIED, read_notes, write_note
from classroom.notebook.answers import Learner
from classroom.notebook.files import as_table, read_table, write_whole
from classroom.notebook.pristine import Chapter, id_of, parse_label
from classroom.run.verdict import Result


class Memory:
    """The results of the last checks, in `.minigrad/results.json`, by an answer's hash.

    For an answer that has changed since, there is no result.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / ".minigrad" / "results.json"
        self.root, self.notes = root, read_notes(root)
        known = read_table(self.path).items()
        self.known = {name: as_table(statuses) for name, statuses in known}

    def status(self, chapter: Chapter, name: str, cells: list[str]) -> str | None:
        """The result of exactly this answer, or None."""
        return self.known.get(name, {}).get(self._hash(chapter, name, cells))

    def passed_in_notebook(self, learner: Learner, name: str) -> float | None:
        """Return when exactly this answer passed the notebook's own check, if it did.

        The time is in seconds since 1970. The answer may still fail in a fresh kernel.
        """
        return self.notes.get(name, {}).get(self._mark(learner, name))

    def standing(self, learner: Learner, name: str, cells: list[str]) -> str:
        """Return what is known of exactly this answer, from all checks of it.

        It has "passed" in the terminal, or is "noted" as passed in the notebook; or it
        is "wrong", or "unchecked".
        """
        if status := self.status(learner.chapter, name, cells):
            return status if status in ("passed", "blank") else "wrong"
        if self.passed_in_notebook(learner, name):
            return "noted"
        refused = read_notes(self.root, TRIED).get(name, {})
        return "wrong" if self._mark(learner, name) in refused else "unchecked"

    def has_passed(self, name: str) -> bool:
        """Return whether some answer to an exercise has passed, here or there."""
        return name in self.notes or "passed" in self.known.get(name, {}).values()

    def tries(self, name: str) -> int:
        """Return how many different answers to an exercise were refused, here or there.

        Here is the terminal, there the notebook.
        """
        return len(read_notes(self.root, TRIED).get(name, {}))

    def note_try(self, learner: Learner, name: str) -> None:
        """Note that an answer was refused: see tries."""
        if mark := self._mark(learner, name):
            write_note(self.root, name, mark, TRIED)

    def _mark(self, learner: Learner, name: str) -> str | None:
        """Return the hash by which the notebook's check knows an answer, if it can."""
        about, label = asked(self.root, name), id_of("answer", name)
        both = zip(learner.labels, learner.cells)
        texts = [cell["source"] for each, cell in both if each == label]
        if about is None:
            return None
        # A blank may name nothing; then the cell with this label is the answer
        answer = core(texts, about.names) if about.names else {*texts}
        return mark_of(about, answer) if answer else None

    def refused(self, chapter: Chapter, answers: dict[str, list[str]]) -> set[str]:
        """Return the exercises of which exactly these answers were refused before."""
        known = {n: self.status(chapter, n, cells) for n, cells in answers.items()}
        return {n for n, s in known.items() if s not in (None, "passed", "blank")}

    def remember(
        self,
        chapter: Chapter,
        answers: dict[str, list[str]],
        results: dict[str, Result],
    ) -> dict[str, int]:
        """Note the results; return how many different answers to each were wrong."""
        tries = {}
        known = [name for name in answers if results[name].status != "ungraded"]
        for name, cells in ((name, answers[name]) for name in known):
            seen = self.known.setdefault(name, {})
            seen[self._hash(chapter, name, cells)] = results[name].status
            if results[name].status not in ("passed", "blank"):
                tries[name] = sum(s not in ("passed", "blank") for s in seen.values())
        return tries

    def save(self) -> None:
        """Write the results to the file, if the folder can be written to."""
        for name, statuses in Memory(self.path.parents[1]).known.items():
            self.known[name] = statuses | self.known.get(name, {})  # another check's
        with suppress(OSError):
            write_whole(self.path, json.dumps(self.known, indent=1))

    @staticmethod
    def _hash(chapter: Chapter, name: str, cells: list[str]) -> str:
        asked = [
            cell["source"]
            for label, cell in chapter.cells.items()
            if chapter.home[label] == name
            and parse_label(label)[0] in ("answer", "check")
        ]
        text = json.dumps([asked, cells])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
