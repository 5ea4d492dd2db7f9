"""What a class has in common: numbers, mistakes by name, and answers to discuss."""

import statistics
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from classroom.author.blanks import Exercise
from classroom.author.chapters import chapters
from classroom.notebook.pristine import Chapter
from classroom.teacher.reading import form_of
from classroom.teacher.students import Student

LINES = 4  # of an answer that two students seldom write alike, by chance
DISCUSSED = 2


@dataclass
class Wrong:
    """A wrong answer to an exercise, and who gave it, with names of their own."""

    exercise: str
    code: str
    form: tuple[str, ...]
    message: str
    students: list[Student] = field(default_factory=list)
    mistake: str = ""  # its name, if it is a recorded one


class Summary:
    """What the teacher's page tells about a class and its results."""

    def __init__(self, students: list[Student], chapters: list[Chapter]) -> None:
        exercises = [name for chapter in chapters for name in chapter.exercises]
        totals = [s.total for s in students if s.attempts and s.total is not None]
        self.graded = len(totals)
        self.mean = statistics.fmean(totals) if totals else 0
        self.spread = statistics.pstdev(totals) if totals else 0
        every = (student.total for student in students if student.total is not None)
        self.points = sorted(Counter(every).items(), reverse=True)
        self.tallies = {name: Counter() for name in exercises}
        for student in students:
            for name, result in student.results.items():
                self.tallies[name][result.status] += 1
        found = wrong_answers(students)
        self.mistakes: dict[str, Counter] = {name: Counter() for name in exercises}
        for wrong in found:
            told = wrong.mistake or (wrong.message or "no message").splitlines()[0]
            self.mistakes[wrong.exercise][told] += len(wrong.students)
        several = [wrong for wrong in found if len(wrong.students) > 1]
        several.sort(key=lambda wrong: -len(wrong.students))
        self.discuss = several[:DISCUSSED]
        long = [wrong for wrong in several if len(wrong.form) >= LINES]
        self.alike = [wrong for wrong in long if not wrong.mistake]


def wrong_answers(students: list[Student]) -> list[Wrong]:
    """Return the wrong answers of a class, each once, whatever its names."""
    found: dict[tuple, Wrong] = {}
    for student in students:
        for name, result in student.results.items():
            if result.status in ("wrong", "error", "slow", "died"):
                code, form = student.answer(name)
                wrong = Wrong(name, code, form, result.message)
                found.setdefault((name, form), wrong).students.append(student)
    for wrong in found.values():
        wrong.mistake = mistake_in(wrong)
    return list(found.values())


@cache
def sources_of(number: int) -> dict[str, Exercise]:
    """Return a chapter's exercises from chapters/, with their recorded mistakes."""
    return next(c.exercises for c in chapters() if c.number == number)


def mistake_in(wrong: Wrong) -> str:
    """Return the name of the recorded mistake in an answer, or "".

    It is the one with the same code, or else the only one with such a message.
    """
    source = sources_of(int(wrong.exercise.partition(".")[0]))[wrong.exercise]
    by_form = {tuple(form_of(code)): title for title, code in source.wrong.items()}
    said = [title for title, words in source.refusal.items() if words in wrong.message]
    return by_form.get(wrong.form, said[0] if len(said) == 1 else "")
