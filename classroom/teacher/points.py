"""What a student has handed in, and the points that it has earned."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field

from classroom.notebook.pristine import Chapter, Exercise
from classroom.run.verdict import Result
from classroom.teacher.reading import HandIn


@dataclass
class Student:
    """One row of the grades: all that a student has handed in, and how it went."""

    name: str
    id: str
    hand_ins: dict[str, HandIn] = field(default_factory=dict)  # by chapter
    results: dict[str, Result] = field(default_factory=dict)  # by exercise
    notes: list[str] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The file name of the student's page, the same on every machine."""
        name = unicodedata.normalize("NFC", self.name).lower()
        words = re.sub(r"[\W_]+", "-", name)[:40].strip("-")
        whole = f"{self.name}\n{self.id}".encode("utf-8", "surrogatepass")
        return f"{words or 'student'}-{hashlib.sha256(whole).hexdigest()[:16]}.html"

    def remarks(self) -> list[str]:
        """All notes on what was handed in."""
        of_files = [f"{h.file}: {n}" for h in self.hand_ins.values() for n in h.notes]
        return self.notes + of_files


@dataclass(frozen=True)
class Course:
    """What was graded: the exercises, and the points that they carry."""

    chapters: list[Chapter]

    @property
    def exercises(self) -> dict[str, Exercise]:
        return {n: e for chapter in self.chapters for n, e in chapter.exercises.items()}

    def earned(self, student: Student, name: str) -> int | None:
        """The points that a student has for an exercise; None if it is not graded."""
        found = student.results.get(name)
        if found and found.status == "ungraded":
            return None
        return self.exercises[name].points if found and found.status == "passed" else 0

    def total(self, student: Student) -> int | None:
        """The points that a student has for all of them; None if one is not graded."""
        points = [self.earned(student, name) for name in self.exercises]
        return None if None in points else sum(points)

    @property
    def most(self) -> int:
        return sum(exercise.points for exercise in self.exercises.values())
