"""The submission of a student, and the points that it has earned."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field

from classroom.notebook.pristine import Exercise
from classroom.run.verdict import Result
from classroom.teacher.reading import HandIn


@dataclass
class Student:
    """One row of the grades: all of a student's submissions, and their results."""

    name: str
    id: str
    hand_ins: dict[str, HandIn] = field(default_factory=dict)  # by chapter
    results: dict[str, Result] = field(default_factory=dict)  # by exercise
    notes: list[str] = field(default_factory=list)
    points: dict[str, int | None] = field(default_factory=dict)  # None: not graded

    @property
    def total(self) -> int | None:
        """The points for all exercises, or None if one is not graded."""
        found = self.points.values()
        return None if None in found else sum(found)

    def earned(self, exercise: Exercise) -> int | None:
        """The points for an exercise, or None if it is not graded."""
        found = self.results.get(exercise.name)
        if found and found.status == "ungraded":
            return None
        return exercise.points if found and found.status == "passed" else 0

    @property
    def page(self) -> str:
        """The file name of the student's page, the same on every machine."""
        name = unicodedata.normalize("NFC", self.name).lower()
        words = re.sub(r"[\W_]+", "-", name)[:40].strip("-")
        whole = f"{self.name}\n{self.id}".encode("utf-8", "surrogatepass")
        return f"{words or 'student'}-{hashlib.sha256(whole).hexdigest()[:16]}.html"

    def remarks(self) -> list[str]:
        """All notes on the submission."""
        of_files = [f"{h.file}: {n}" for h in self.hand_ins.values() for n in h.notes]
        return self.notes + of_files
