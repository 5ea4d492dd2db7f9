"""What a teacher decides: deadlines and what counts, comments and changed points."""

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Exercise
from classroom.teacher.collect import TOGETHER, attempt
from classroom.teacher.roster import Sheet
from classroom.teacher.students import HandIn, Student, neat, plain, the_one

COUNTS = "last", "best", "last on time"
EXAMPLE = Path(__file__).with_suffix(".toml").read_text("utf-8")
COMMENTS = ["student", "exercise", "points", "comment"]
DAY = timedelta(days=1)


@dataclass
class Rules:
    """What a file of rules says; `deadlines` are by the number of a chapter."""

    zone: str = ""
    grace: float = 0
    penalty: float = 0
    count: str = "last"
    parts: bool = True
    deadlines: dict[str, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise an error if these cannot be rules."""
        if self.count not in COUNTS or min(self.grace, self.penalty) < 0:
            raise ValueError("count is another word than these, or a number is below 0")
        self.moment("2027-01-01")  # is there such a zone?
        due = self.deadlines.items()
        self.deadlines = {str(int(n)): self.moment(when) for n, when in due}

    def moment(self, when: object) -> datetime:
        """Return a time with its zone; a date alone is the end of that day."""
        text = str(when)
        only_date = len(text) == len("2027-03-05")
        try:
            when = datetime.fromisoformat(f"{text} 23:59:59" if only_date else text)
        except ValueError:
            raise ValueError(f"{text} is no date") from None
        zone = ZoneInfo(self.zone) if self.zone and not when.tzinfo else None
        return when.replace(tzinfo=zone) if zone else when.astimezone()

    def late(self, student: Student, hand_in: HandIn) -> tuple[int, float]:
        """Return how many days late something is, and the share that this costs.

        A day counts when it begins.
        """
        chapter = number_of(hand_in.chapter)
        if not (due := self.deadlines.get(chapter)):
            return 0, 0
        for head in "extension", f"extension {chapter}":
            if words := student.row.get(head, "").strip():
                due = max(due, self.extended(due, words, student))
        told = attempt(hand_in.file) or student.submitted
        when = self.moment(told or datetime.fromtimestamp(hand_in.changed, UTC))
        over = (when - due - timedelta(minutes=self.grace)) / DAY
        days = max(0, math.ceil(over))
        return days, min(1.0, days * self.penalty / 100)

    def extended(self, due: datetime, words: str, student: Student) -> datetime:
        """Return a deadline moved by days, or to a date; raise Unreadable."""
        try:
            if words.isdecimal():
                return due + int(words) * DAY
            return self.moment(words)
        except (ValueError, OverflowError):
            raise Unreadable(
                f"{student.name} has the extension {words!r}. Write days, such as 3, "
                "or a date, such as 2027-03-05 or 2027-03-05 18:00."
            ) from None

    def only_downloaded(self, students: list[Student]) -> bool:
        """Return whether the times of all files can only be that of one download."""
        unknown = [s for s in students if not s.submitted]
        found = [h for s in unknown for h in s.hand_ins.values()]
        times = [hand_in.changed for hand_in in found if not attempt(hand_in.file)]
        return len(times) > 2 and max(times) - min(times) <= TOGETHER

    def arrange(self, student: Student, points: Callable[[HandIn], float]) -> None:
        """Put that notebook of each chapter last which counts; note what is lost."""

        def rank(hand_in: HandIn) -> tuple:
            days, lost = self.late(student, hand_in)
            by = {"best": points(hand_in) * (1 - lost), "last on time": not days}
            theirs = not hand_in.among_solutions
            return theirs, bool(hand_in.answers), by.get(self.count, 0)

        for chapter, found in student.attempts.items():
            found.sort(key=rank)
            if found[-1].answers:
                student.late[number_of(chapter)] = self.late(student, found[-1])


def read_rules(path: Path | None) -> Rules:
    """Return the rules in a file; raise Unreadable and say what was expected."""
    try:
        found = tomllib.loads(path.read_text("utf-8-sig")) if path else {}
        if unknown := found.keys() - Rules.__annotations__:
            raise ValueError(f"there is no rule {' or '.join(sorted(unknown))}")
        return Rules(**found)
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise Unreadable(
            f"{path} cannot be used as rules: {error}. Expected are "
            f"lines such as these:\n{EXAMPLE}"
        ) from None


def number_of(chapter: str) -> str:
    """Return the number of a chapter: "4" for 04_blame."""
    return str(int(chapter.partition("_")[0]))


def read_comments(
    path: Path, students: list[Student], exercises: dict[str, Exercise]
) -> None:
    """Give students the comments and points in a file; raise Unreadable.

    If there is no file, write one with nothing but its header.
    """
    if not path.exists():
        path.write_text(",".join(COMMENTS) + "\n", encoding="utf-8-sig")
    sheet = Sheet(path)
    if [plain(head) for head in sheet.heads[:4]] != COMMENTS:
        raise Unreadable(f"{path}: the first line has to be {','.join(COMMENTS)}")
    for n, row in enumerate(sheet.rows, 2):
        name, exercise, points, comment = (row[head].strip() for head in COMMENTS)
        try:
            student = the_one(name, students)
            if (exercise or points) and exercise not in exercises:
                raise ValueError(f"{exercise!r} is no exercise of these chapters")
            if exercise in student.comments or points and exercise in student.changed:
                told = f"{student.name}, {exercise or 'all exercises'}"
                raise ValueError(f"an earlier line is about {told}, too")
            if points:
                number, most = points.replace(",", "."), exercises[exercise].points
                digits = number.replace(".", "", 1)
                if not digits.isdecimal() or not float(number) <= most:
                    told = f"{exercise} earns 0 to {most} points"
                    raise ValueError(f"{told}, and not {points!r}")
                student.changed[exercise] = neat(float(number))
            if comment:
                student.comments[exercise] = comment
        except (Unreadable, ValueError) as error:
            why = str(error).rstrip(".")
            raise Unreadable(
                f"{path}, line {n}: {why}. Expected: a student; an exercise such as "
                "4.2, or nothing; points such as 1.5, or nothing; a comment."
            ) from None
