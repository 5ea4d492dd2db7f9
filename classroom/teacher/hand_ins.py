"""Which of the notebooks that a student has handed in count."""

from classroom.teacher.collect import Submission
from classroom.teacher.points import Student
from classroom.teacher.reading import HandIn


def read_student(submission: Submission) -> Student:
    """Return a student with one notebook of each chapter.

    Of several the one whose name comes last counts, which is the last attempt where the
    learning platform names these by their time.
    """
    student = Student(submission.student, submission.id, notes=submission.problems)
    for hand_in in sorted(submission.hand_ins, key=rank):
        other = student.hand_ins.get(hand_in.chapter, hand_in)
        student.hand_ins[hand_in.chapter] = hand_in
        ours = among_solutions(other) and not among_solutions(hand_in)
        if other.answers and other.answers != hand_in.answers and not ours:
            student.notes.append(
                f"{other.file}: not graded, since {hand_in.file} has the same chapter. "
                "Are these two students in one folder?"
            )
    return student


def rank(hand_in: HandIn) -> tuple:
    """By what one of several hand-ins of a chapter is chosen: the largest counts.

    One of solutions/, which may be ours, comes first, then one without answers.
    """
    return not among_solutions(hand_in), bool(hand_in.answers), hand_in.file


def among_solutions(hand_in: HandIn) -> bool:
    """Return whether a notebook lies where the course has its own solutions."""
    return "solutions" in hand_in.file.split("/")
