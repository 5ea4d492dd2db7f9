"""One student or one exercise again, and what a new report changes."""

import json
import re
from contextlib import suppress
from pathlib import Path

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Exercise
from classroom.run.verdict import Result
from classroom.teacher.students import Student, the_one

SHOWN = 20  # changes


class Last:
    """The last report, of which one student or one exercise may be graded again."""

    def __init__(self, path: Path) -> None:
        self.results, self.words, self.student = {}, None, None
        with suppress(OSError, ValueError, LookupError):
            for e in json.loads(path.read_text("utf-8")):
                self.results[e["student"], e["id"], e["email"]] = e["exercises"]

    def again(self, words: str | None, students: list[Student]) -> None:
        """Note the student or the exercise that is graded again; raise Unreadable."""
        known = {name for exercises in self.results.values() for name in exercises}
        if words and (
            not known or re.fullmatch(r"\d+\.\d+", words) and words not in known
        ):
            raise Unreadable(
                f"--again {words} changes a report, and this folder has none, or none "
                f"with an exercise {words}. First grade without --again."
            )
        self.words = words
        if words and words not in known:
            self.student = the_one(words, students)

    def asks(self, student: Student, exercise: str) -> bool:
        """Return whether an exercise of a student is graded in this run."""
        return not self.words or student is self.student or exercise == self.words

    def kept(self, student: Student) -> dict[str, Result]:
        """Return the results of a student that stay as they are."""
        past = self.results.get(student.who, {}).items()
        left = {name: each for name, each in past if not self.asks(student, name)}
        return {name: Result(e["status"], e["message"]) for name, e in left.items()}

    def changes(self, students: list[Student], exercises: dict[str, Exercise]) -> int:
        """Print each change of points since this report; return how many they are."""
        found = []
        for student in students:
            past = self.results.get(student.who, {})
            for name in past.keys() & student.results.keys():
                points = past[name]["points"], student.earned(exercises[name])
                told = ("not graded" if p is None else f"{p:g}" for p in points)
                if points[0] != points[1]:
                    found.append(f"  {student.name}, {name}: {' → '.join(told)}\n")
        if self.results:
            print(f"Changes of points since the last report: {len(found)}")
            print("".join(sorted(found)[:SHOWN]), end="")
        return len(found)


def confirmed() -> bool:
    """Ask whether to write the report; without an answer, it is not written."""
    with suppress(EOFError):
        return input("Write the report with these changes? [y/N] ").lower() == "y"
    return False
