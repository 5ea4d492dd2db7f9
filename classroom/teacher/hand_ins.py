"""Which of the notebooks that were handed in count, and which of them are late."""

from collections import Counter
from datetime import datetime

from classroom.notebook.pristine import Chapter
from classroom.teacher.collect import Submission
from classroom.teacher.reading import HandIn
from classroom.teacher.report import Student


def read_students(
    handed_in: list[Submission], deadline: datetime | None
) -> list[Student]:
    """Return the students with one notebook of each chapter, and which are late."""
    students = []
    for submission in handed_in:
        student = Student(submission.student, submission.id)
        student.notes += submission.problems
        for hand_in in submission.hand_ins:
            note_time(hand_in, deadline)
            keep_best(student, hand_in)
        students.append(student)
    return students


def note_time(hand_in: HandIn, deadline: datetime | None) -> None:
    """Note if a notebook is late, and by whose clock, or that nobody knows."""
    if hand_in.late:
        hand_in.notes.append("handed in late, as the learning platform's name says")
    elif deadline and hand_in.when and hand_in.when > deadline:
        hand_in.late = True
        at = f"{hand_in.when:%Y-%m-%d %H:%M}, {hand_in.clock}"
        hand_in.notes.append(f"handed in late, at {at}")
    elif deadline and not hand_in.when and hand_in.clock:
        hand_in.notes.append(f"when it was handed in is not known: {hand_in.clock}")


def rank(hand_in: HandIn) -> tuple:
    """By what one of several hand-ins of a chapter is chosen: the largest counts."""
    when = hand_in.when or datetime.min
    filled = bool(hand_in.answers)
    return not among_solutions(hand_in), filled, not hand_in.late, when, hand_in.file


def among_solutions(hand_in: HandIn) -> bool:
    """Return whether a notebook lies where the course has its own solutions."""
    return "solutions" in hand_in.file.split("/")


def keep_best(student: Student, hand_in: HandIn) -> None:
    """Note a hand-in, or that there is another one of the same chapter.

    The latest counts that was on time. One of solutions/, which may be ours, comes
    last, and one without answers before it.
    """
    best, other = hand_in, student.hand_ins.get(hand_in.chapter)
    if other:
        worse, best = sorted((hand_in, other), key=rank)
        ours = among_solutions(worse) and not among_solutions(best)
        if worse.answers and best.answers != worse.answers and not ours:
            on_time = worse.late and not best.late
            why = "was on time" if on_time else "comes first"
            student.notes.append(
                f"{worse.file}: not graded, since {best.file} has the same chapter "
                f"and {why}. Are these two students in one folder?"
            )
    student.hand_ins[hand_in.chapter] = best


def leave_out(students: list[Student], counted: list[Chapter]) -> None:
    """Leave out hand-ins of other chapters; note those with answers."""
    slugs = [chapter.slug for chapter in counted]
    for student in students:
        for slug in [s for s in student.hand_ins if s not in slugs]:
            left = student.hand_ins.pop(slug)
            if left.answers:
                student.notes.append(
                    f"{left.file}: not graded, since few have handed in its chapter, "
                    "or it is not of this report; name all that count by --chapters"
                )


def what_counts(students: list[Student], chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters that most students have answers in.

    That is half as many as in the chapter with the most: so nobody's zeal makes all
    others lack points.
    """
    done = Counter(n for s in students for n, h in s.hand_ins.items() if h.answers)
    most = max(done.values(), default=0)
    return [chapter for chapter in chapters if 2 * done[chapter.slug] >= most]
