"""Remember what the last checks found."""

import hashlib
import json
from pathlib import Path

from classroom.notebook.files import as_table, write_whole
from classroom.notebook.pristine import Chapter, parse_label
from classroom.run.verdict import Result


class Memory:
    """What the last checks found, in `.minigrad/results.json`, by the answer's hash.

    An answer that has changed since is not found any more: nothing is claimed of it.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / ".minigrad" / "results.json"
        try:
            known = as_table(json.loads(self.path.read_text("utf-8")))
        except (OSError, ValueError):
            known = {}
        self.known = {name: as_table(statuses) for name, statuses in known.items()}

    def status(self, chapter: Chapter, name: str, cells: list[str]) -> str | None:
        """What was found of this very answer, or None."""
        return self.known.get(name, {}).get(self._hash(chapter, name, cells))

    def remember(
        self,
        chapter: Chapter,
        answers: dict[str, list[str]],
        results: dict[str, Result],
    ) -> dict[str, int]:
        """Note the results; return how many different answers to each were wrong."""
        tries = {}
        for name, cells in answers.items():
            seen = self.known.setdefault(name, {})
            seen[self._hash(chapter, name, cells)] = results[name].status
            if results[name].status not in ("passed", "blank"):
                tries[name] = sum(s not in ("passed", "blank") for s in seen.values())
        return tries

    def save(self) -> None:
        """Write it down; a folder that cannot be written to is no reason to stop."""
        for name, statuses in Memory(self.path.parents[1]).known.items():
            self.known[name] = statuses | self.known.get(name, {})  # another check's
        try:
            self.path.parent.mkdir(exist_ok=True)
            write_whole(self.path, json.dumps(self.known, indent=1))
        except OSError:
            pass

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
