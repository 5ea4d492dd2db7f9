"""What comes out of grading: grades.csv, grades.json, a page for each student, and one
for the teacher.

A student's page shows the code, what was wrong, on which input, and which hint to read;
nothing in it comes from a hidden check but that there was one.
"""

import csv
import json
import random
import re
import statistics
from collections import Counter, defaultdict, namedtuple
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jinja2

from classroom import ROOT
from classroom.cell.asked import hint_about
from classroom.notebook.files import write_whole
from classroom.notebook.pristine import Chapter, Exercise
from classroom.run.verdict import WORDS
from classroom.teacher.points import source_of
from classroom.teacher.reading import form_of
from classroom.teacher.students import Student, neat

TEMPLATES = jinja2.FileSystemLoader(ROOT / "classroom" / "templates")
FORMULA = re.compile(r"((?:^|[;,|\t\r\n]) *)(?=[=+\-@＝＋－＠])")
Exercises = dict[str, Exercise]
LINES = 4  # of an answer that two students seldom write alike, by chance
DISCUSSED = 2  # wrong answers
TELLING = 12  # characters of a line that one can ask about
DOCSTRING = re.compile(r'("""|\'\'\').*?\1', re.S)
# A line that only names something decides nothing, such as `return table`
DECIDES = re.compile(r"(?!def |class |@)[^#]*([^\w\s.,:=\[\]{}#]|==|[\[{][^\]}])")
CELL = 32_000  # characters of a cell; a spreadsheet's most is 32,767


def write_report(out: Path, students: list[Student], chapters: list[Chapter]) -> float:
    """Write all files of the report into the folder `out`; return the most points."""
    exercises = {n: e for chapter in chapters for n, e in chapter.exercises.items()}
    for student in students:
        student.points = {n: student.earned(e) for n, e in exercises.items()}
    pages = jinja2.Environment(
        loader=TEMPLATES, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    most = neat(sum(exercise.points for exercise in exercises.values()))
    pages.globals |= {"chapters": chapters, "exercises": exercises, "most": most}
    pages.globals |= {"words": WORDS, "hint_about": hint_about, "neat": neat}
    pages.globals |= {"mean": statistics.fmean, "deviation": statistics.pstdev}
    (out / "students").mkdir(parents=True, exist_ok=True)
    for old in (out / "students").glob("*.html"):
        old.unlink()
    for student in students:
        page = pages.get_template("student.html").stream(student=student)
        page.dump(str(out / "students" / student.page), "utf-8", "backslashreplace")
    to_explain = partial(line_to_explain, exercises)
    about = in_common(students, exercises) | {"to_explain": to_explain}
    page = pages.get_template("class.html").stream(about, students=students)
    page.dump(str(out / "index.html"), "utf-8", "backslashreplace")
    found = [record(student, exercises, most) for student in students]
    write_csv(out / "grades.csv", found, students, exercises)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    write_whole(out / "grades.json", text.encode("utf-8", "backslashreplace"))
    return most


def write_csv(
    path: Path, found: list[dict], students: list[Student], exercises: Exercises
) -> None:
    """Write a row per student: points, or how an exercise without points went."""
    safe = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}
    heads = "student", "id", "email", "group", *exercises, "points", "of", "remarks"
    with path.open("w", **safe) as file:
        sheet = csv.DictWriter(file, heads, extrasaction="ignore")
        sheet.writeheader()
        for row, student in zip(found, students):
            went = {n: WORDS[each.status][0] for n, each in student.results.items()}
            earned = {n: p for n, p in student.points.items() if exercises[n].points}
            row = row | went | earned | {"remarks": "; ".join(row["remarks"])}
            sheet.writerow({head: harmless(value) for head, value in row.items()})


def harmless(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula.

    This includes spreadsheets that split a row at semicolons or tabs, or that accept
    full-width signs.
    """
    if not isinstance(value, str):
        return value
    value = FORMULA.sub(r"\1'", value)
    return value if len(value) <= CELL else f"{value[: CELL - 2]} …"


def record(student: Student, exercises: Exercises, of: float) -> dict[str, Any]:
    """Return all about a student, for other programs."""
    about = {"student": student.name, "id": student.id, "email": student.email}
    about |= {"group": student.group, "of": of, "points": student.total}
    about |= {"remarks": student.remarks(), "comments": student.comments}
    results = {name: asdict(each) for name, each in student.results.items()}
    for name, each in results.items():
        each |= {"points": student.points[name], "of": exercises[name].points}
    return about | {"exercises": results}


def line_to_explain(exercises: Exercises, student: Student) -> str:
    """Return a line of a student's own answers for points, always the same, or ""."""
    found = []
    for exercise in filter(lambda each: each.points, exercises.values()):
        given = {line.strip() for line in exercise.stub.splitlines()}
        own = DOCSTRING.sub("", student.answer(exercise.name)[0]).splitlines()
        own = [line for line in map(str.strip, own) if line not in given]
        own = [x for x in own if len(x) >= TELLING and DECIDES.match(x)]
        found += [f"{exercise.name}: {line}" for line in own]
    return random.Random("\n".join(student.who)).choice(found or [""])


# --- what the class has in common -----------------------------------------------------


# A wrong answer with names of its own, who gave it, and what to call the mistake
Wrong = namedtuple("Wrong", "exercise form students called")


def in_common(students: list[Student], exercises: Exercises) -> dict[str, Any]:
    """Return what the teacher's page tells about a class and its results."""
    results = {n: [s.results[n] for s in students if n in s.results] for n in exercises}
    right = {
        name: Counter(part for r in some for part, share in r.parts.items() if share)
        for name, some in results.items()
    }
    totals = [s.total for s in students if s.attempts and s.total is not None]
    wrong = wrong_answers(students)
    mistakes = Counter((w.exercise, w.called) for w in wrong for _ in w.students)
    several = [w for w in wrong if len(w.students) > 1]
    several.sort(key=lambda w: -len(w.students))
    unknown = [w for w in several if w.called not in source_of(w.exercise).wrong]
    alike = [w for w in unknown if len(w.form) >= LINES]
    about = {"results": results, "right": right, "mistakes": mistakes, "alike": alike}
    return about | {"totals": totals, "discuss": several[:DISCUSSED]}


def wrong_answers(students: list[Student]) -> list[Wrong]:
    """Return the wrong answers of a class, each once, whatever its names."""
    found: dict[tuple, list[Student]] = defaultdict(list)
    for student in students:
        for name, result in student.results.items():
            if result.status in ("wrong", "error", "slow", "died"):
                found[name, student.answer(name)[1]].append(student)
    return [Wrong(*key, some, called(*key, some[0])) for key, some in found.items()]


def called(exercise: str, form: tuple[str, ...], student: Student) -> str:
    """Return the name of a recorded mistake, or of one with its message, or that."""
    source, told = source_of(exercise), student.results[exercise].message
    forms = {tuple(form_of(text)): name for name, text in source.wrong.items()}
    like = [name for name, words in source.refusal.items() if words in told]
    perhaps = f"perhaps: {like[0]}" if len(like) == 1 else told or "no message"
    return forms.get(form, perhaps).splitlines()[0]
