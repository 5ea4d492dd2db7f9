"""Who handed in what: the two records that all of grading passes on."""

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Exercise
from classroom.run.verdict import Result

NAME = 200  # characters of a name that are shown
CODE = 20_000  # characters of an answer that are shown


@dataclass
class HandIn:
    """A student's notebook of one chapter, and remarks about it."""

    chapter: str
    file: str
    answers: dict[str, list[str]]
    notes: list[str] = field(default_factory=list)
    changed: float = 0.0  # when the file was last changed, in seconds
    forms: dict[str, list[str]] = field(default_factory=dict)  # of answers, nameless

    @property
    def inside(self) -> str:
        """The file's place in the student's folder or zip."""
        return self.file.partition("/")[2] or self.file

    @property
    def among_solutions(self) -> bool:
        """Whether the notebook lies where the course has its own solutions."""
        return "solutions" in self.file.split("/")


@dataclass(eq=False)
class Student:
    """One row of the grades: all of a student's submissions, and their results."""

    name: str
    id: str
    email: str = ""
    group: str = ""
    attempts: dict[str, list[HandIn]] = field(default_factory=dict)  # by chapter
    results: dict[str, Result] = field(default_factory=dict)  # by exercise
    notes: list[str] = field(default_factory=list)
    points: dict[str, float | None] = field(default_factory=dict)  # None: not graded
    # From the roster
    moodle: str = ""  # the number of the participant
    number: str = ""  # what the platform that made the roster calls the student
    names: set[str] = field(default_factory=set)  # other names, as `plain` has them
    row: dict[str, str] = field(default_factory=dict)
    highest: str = ""  # the grade for all points
    submitted: datetime | None = None
    # From the teacher
    late: dict[str, tuple] = field(default_factory=dict)  # days, share lost, by chapter
    comments: dict[str, str] = field(default_factory=dict)  # by exercise, or ""
    changed: dict[str, float] = field(default_factory=dict)  # points by exercise

    @property
    def who(self) -> tuple[str, str, str]:
        """What tells this student from all others."""
        return self.name, self.id, self.email

    @property
    def hand_ins(self) -> dict[str, HandIn]:
        """The notebook of each chapter that counts, which is the last."""
        return {chapter: found[-1] for chapter, found in self.attempts.items()}

    @property
    def total(self) -> float | None:
        """The points for all exercises, or None if one is not graded."""
        found = self.points.values()
        return None if None in found else neat(sum(found))

    def earned(self, exercise: Exercise) -> float | None:
        """The points for an exercise, or None if it is not graded."""
        found = self.results.get(exercise.name)
        if exercise.name in self.changed:
            return self.changed[exercise.name]
        if found and found.status == "ungraded":
            return None
        _, lost = self.late.get(exercise.name.partition(".")[0], (0, 0))
        return neat(exercise.points * found.share * (1 - lost)) if found else 0

    def answer(self, exercise: str) -> tuple[str, tuple[str, ...]]:
        """Return the code of an answer, as far as it is shown, and its form."""
        for found in [h for h in self.hand_ins.values() if exercise in h.answers]:
            text = "\n\n".join(found.answers[exercise])
            return text[:CODE], tuple(found.forms.get(exercise, ()))
        return "", ()

    def begun(self, slug: str) -> bool:
        """Return whether there is an answer in a chapter."""
        return slug in self.hand_ins and bool(self.hand_ins[slug].answers)

    @property
    def page(self) -> str:
        """The file name of the student's page, the same on every machine."""
        name = unicodedata.normalize("NFC", self.name).lower()
        words = re.sub(r"[\W_]+", "-", name)[:40].strip("-")
        whole = "\n".join(self.who).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(whole).hexdigest()
        return f"{words or 'student'}-{digest[:16]}.html"

    def called(self) -> set[str]:
        """Return all that names this student, as `plain` has it."""
        named = {*map(plain, (self.name, self.id, self.email)), *self.names}
        return named - {""}

    def take(self, found: "Student") -> None:
        """Take over what was handed in by somebody who is this student."""
        self.attempts, self.notes = found.attempts, found.notes
        self.moodle = self.moodle or found.moodle

    def said(self) -> str:
        """Return the teacher's comments, in a line each."""
        lines = [f"{name}: {text}" for name, text in self.comments.items() if name]
        return "\n".join(filter(None, [self.comments.get(""), *lines]))

    def remarks(self) -> list[str]:
        """All notes on the submission."""
        of_files = [f"{h.inside}: {n}" for h in self.hand_ins.values() for n in h.notes]
        of_files += [
            f"{other.inside}: {last.inside} counts instead, which has the same chapter"
            for *others, last in self.attempts.values()
            for other in others
            if other.answers and other.answers != last.answers
            if last.among_solutions or not other.among_solutions
        ]
        late = [
            f"chapter {n}: {days} day{'s'[: days - 1]} late, which costs {lost:.0%}"
            for n, (days, lost) in self.late.items()
            if days
        ]
        return self.notes + late + of_files


# --- names ---------------------------------------------------------------------------


def printable(text: str) -> str:
    """Return a name that can be shown and written, one line without odd characters."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


def shown(text: str, most: int = NAME) -> str:
    """Return a name or text from a submission, printable and cut to a length."""
    text, half = printable(text), most // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def plain(text: str) -> str:
    """Return a name without what capitals, spaces and encodings make different."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def nearest(name: str, students: Iterable[Student]) -> str:
    """Return words that tell which students have names like this one."""
    names = {each: student.name for student in students for each in student.called()}
    near = difflib.get_close_matches(plain(name), names, 3)
    told = " or ".join(dict.fromkeys(names[each] for each in near))
    return f" (near: {told})" if near else ""


def the_one(words: str, students: list[Student]) -> Student:
    """Return the student with this name, id or e-mail; raise Unreadable."""
    found = [student for student in students if plain(words) in student.called()]
    if len(found) == 1:
        return found[0]
    near = nearest(words, students)
    several = f"{len(found)} students are called {words}. Give an id or an e-mail."
    raise Unreadable(several if found else f"There is no student {words}{near}.")


def neat(points: float) -> float:
    """Return points with at most two decimals, and as a whole number if they are."""
    points = round(points, 2)
    return int(points) if points == int(points) else points
