"""A class: its roster, its deadlines, and what goes back to the learning platform."""

import csv
import io
import json
import re
import zipfile
from datetime import datetime, timedelta

import pytest

from classroom import ROOT
from classroom.notebook.files import Unreadable
from classroom.notebook.pristine import Chapter
from classroom.run.verdict import Result
from classroom.teacher import tasks
from classroom.teacher.grade import grade_command
from classroom.teacher.reading import form_of
from classroom.teacher.report import in_common, write_report
from classroom.teacher.roster import Roster, enrolled, write_back, write_feedback
from classroom.teacher.rules import EXAMPLE, Rules, read_comments, read_rules
from classroom.teacher.samples import samples_command
from classroom.teacher.students import HandIn, Student
from tests.course import hostile

SLUG = hostile.CHAPTER.slug
CHAPTER = Chapter(hostile.BLANK)
WORKSHEET = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,\
Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments
Participant 77,Ada King,s1,ada@x.org,Submitted,,"100,00",Yes,\
"Monday, 1 March 2027, 6:05 PM",-,
Participant 78,Bo Lee,s2,bo@x.org,Submitted,,"100,00",No,\
"Tuesday, 2 March 2027, 7:00 PM",-,
Participant 79,Cy Ng,s3,cy@x.org,No submission,,"100,00",Yes,-,-,
"""
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Chapter 4 (1234),Current Score
    Points Possible,,,,,6,(read only)
"King, Ada",12,s1,ada,Monday,,
"Lee, Bo",13,s2,bo,Monday,,
"Student, Test",99,,x,Monday,,
"""
TWO_NAMES = re.sub(r'(?m)^"?([\w ]+)(?:, (\w+)")?', r"\1,\2", GRADEBOOK)
TWO_NAMES = TWO_NAMES.replace("Student,", "LastName,FirstName", 1)
OWN = "first name;surname;id;e-mail;group;extension\nAda;King;s1;ada@x.org;Monday;3\n"


def sheet(tmp_path, text, name="class.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8-sig", newline="")
    return Roster(tmp_path / name)


def handed_in(name, number="", answer=hostile.WRONG, status="passed", message=""):
    """Return a student whose answer to 4.3 has some status; 4.2 is right."""
    student = Student(name, number)
    forms = {"4.3": form_of(answer)}
    hand_in = HandIn(SLUG, f"{name}/a.ipynb", {"4.2": ["2"], "4.3": [answer]})
    hand_in.forms, hand_in.changed = forms, 1.0
    student.attempts = {SLUG: [hand_in]}
    student.results = dict.fromkeys(("4.1", "4.2"), Result("passed"))
    student.results["4.3"] = Result(status, message)
    return student


# --- the roster -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (OWN, ("Ada King", "s1", "ada@x.org", "Monday", "")),
        (WORKSHEET, ("Ada King", "s1", "ada@x.org", "", "77")),
        (GRADEBOOK, ("Ada King", "s1", "", "Monday", "12")),
        (TWO_NAMES, ("Ada King", "s1", "", "Monday", "12")),
        ("Name\nAda King\n", ("Ada King", "", "", "", "")),
        ("Surname,First name\n김,철수\n", ("김철수", "", "", "", "")),
        ("Name\tGroups\nKing, Ada\tA, B\n", ("Ada King", "", "", "A, B", "")),
    ],
)
def test_a_roster_is_read_as_it_comes(tmp_path, text, about):
    found = sheet(tmp_path, text).students
    ada = found[0]
    number = ada.number if text in (WORKSHEET, GRADEBOOK, TWO_NAMES) else ""
    assert (ada.name, ada.id, ada.email, ada.group, number) == about
    assert not {"Test Student", "Points Possible"} & {each.name for each in found}


@pytest.mark.parametrize("compared", [4, 3])
def test_each_hand_in_goes_to_the_one_student_that_it_names(
    tmp_path, monkeypatch, compared
):
    monkeypatch.setattr("classroom.teacher.roster.COMPARED", compared)
    text = "name,id,email\nAda King,s1,ada@x.org\nBo Lee,s2,\nZoë Øst,s3,\nCy Ng,,\n"
    found = [handed_in(n) for n in ("King, Ada", "S2", "Zoe\u0308 øst", "Cy N")]
    ada, bo, zoe, cy, other = enrolled(found, sheet(tmp_path, text))
    assert [bool(each.attempts) for each in (ada, bo, zoe, cy)] == [1, 1, 1, 0]
    assert cy.notes == ["nothing was handed in"]
    near = " (near: Cy Ng)" if compared == 4 else ""  # pairs of names
    assert other.notes == [f"matches no single student of class.csv{near}"]


def test_nobody_takes_a_students_place_by_a_name(tmp_path):
    """Not with another number, and not where two have the name."""
    liar, ada = handed_in("Ada King", "99"), handed_in("Anybody", "77")
    found = enrolled([liar, ada], sheet(tmp_path, WORKSHEET))
    assert found[0].attempts is ada.attempts and found[3] is liar
    both = [handed_in("Ada King", "98"), handed_in("Ada King", "99")]
    assert not enrolled(both, sheet(tmp_path, OWN))[0].attempts


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff\xfen\x00", "Expected is a CSV file in UTF-8"),
        (b"grade,of\n1,2", "has the columns grade, of. A roster needs"),
        (b"name\nAda\nAda", "line 3: Ada stands there twice"),
    ],
)
def test_what_is_no_roster_is_told_of(tmp_path, data, told):
    (tmp_path / "class.csv").write_bytes(data)
    with pytest.raises(Unreadable, match=told):
        Roster(tmp_path / "class.csv")


# --- back into the platform -----------------------------------------------------------


def graded_class(tmp_path, text, *students):
    """Return the rows of the sheet that is written back, after a report."""
    roster = sheet(tmp_path, text)
    found = enrolled(list(students), roster)
    results = {id(each.attempts): each.results for each in students}
    for student in found:
        student.results = results.get(id(student.attempts), {})
    found[0].comments = {"": "Well done <3", "4.3": "=see me"}
    most = write_report(tmp_path, found, [CHAPTER])
    told = write_back(tmp_path, roster, found, most)
    path = tmp_path / f"{roster.kind}-class.csv"
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8"), newline="")))
    before = list(csv.reader(io.StringIO(text, newline="")))
    return found, told, before, rows


def test_a_worksheet_of_moodle_comes_back_with_grades_and_nothing_else_changed(
    tmp_path,
):
    ada, bo = handed_in("Ada", "77", status="wrong"), handed_in("Bo", "78")
    students, told, before, rows = graded_class(tmp_path, WORKSHEET, ada, bo)
    assert told.endswith("class.csv: 1 (3 points are a grade of 100)")
    header = rows[0]
    grade, comments = header.index("Grade"), header.index("Feedback comments")
    assert rows[1][grade] == "66,67"  # 2 of 3
    assert rows[1][comments] == "Well done &lt;3<br>4.3: =see me"
    before[1][grade], before[1][comments] = rows[1][grade], rows[1][comments]
    assert rows == before  # Bo's cannot be changed, and Cy handed in nothing
    assert write_feedback(tmp_path, students)
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    parts = [name.split("_", 4) for name in pages]  # as Moodle takes them apart
    assert [each[1:4] for each in parts] == [
        ["77", "assignfeedback", "file"],
        ["78", "assignfeedback", "file"],
    ]
    page = next(iter(pages.values()))
    assert "Ada King" in page and "Well done &lt;3" in page and "2 of 3 points" in page
    assert "return [1.0, 1.0, 1.0]" in page


def test_a_gradebook_of_canvas_comes_back_with_its_header(tmp_path):
    ada = handed_in("kingada", "12", status="wrong")
    _, told, before, rows = graded_class(tmp_path, GRADEBOOK, ada)
    assert told.endswith("class.csv: 1 (3 points are a grade of 6)")
    before[2][5] = "4"
    assert rows == before
    more = GRADEBOOK.replace("\n", ",\n").replace("Score,", "Score,Extension 4")
    assert graded_class(tmp_path, more, handed_in("x", "12"))[3][0] == before[0]
    two = GRADEBOOK.replace("Current Score", "Chapter 5 (77)")
    none = GRADEBOOK.replace("(1234)", "")
    for text, told in ((two, r"4 \(1234\), Chapter 5 \(77\)"), (none, "none")):
        with pytest.raises(Unreadable, match=f"{told}. Expected is the one"):
            sheet(tmp_path, text)


# --- deadlines, and what counts -------------------------------------------------------


def rules(tmp_path, text):
    (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
    return read_rules(tmp_path / "rules.toml")


BERLIN = 'zone = "Europe/Berlin"\n[deadlines]\n4 = '
SIX = BERLIN + "2027-03-01T18:00:00"
LATE = [  # the rules, when it was handed in (UTC), an extension, and days late
    (SIX, "2027-03-01T16:59", "", 0),
    (SIX, "2027-03-01T17:01", "", 1),
    (SIX, "2027-03-02T17:01", "", 2),
    ("grace = 15\n" + SIX, "2027-03-01T17:14", "", 0),
    (SIX, "2027-03-04T16:59", "3", 0),
    (SIX, "2027-03-04T17:01", "3", 1),
    (SIX, "2027-03-05T22:00", "2027-03-05", 0),
    (SIX, "2027-03-05T17:01", "2027-03-05 18:00", 1),
    (SIX, "2027-03-01T16:59", "2027-02-01", 0),  # no extension is a shorter deadline
    (BERLIN + "2027-03-01", "2027-03-01T22:59", "", 0),
    ("[deadlines]\n5 = 2027-03-01", "2027-03-09T12:00", "", 0),
]


@pytest.mark.parametrize(("text", "when", "extension", "days"), LATE)
def test_days_late_begin_after_grace_and_extension(
    tmp_path, text, when, extension, days
):
    student = handed_in("ada")
    (hand_in,) = student.attempts[SLUG]
    hand_in.changed = datetime.fromisoformat(f"{when}:00+00:00").timestamp()
    student.row = {"extension": extension}
    assert rules(tmp_path, text).late(student, hand_in)[0] == days


def test_the_platforms_time_goes_before_the_files(tmp_path):
    law, student = rules(tmp_path, SIX), handed_in("ada")
    (hand_in,) = student.attempts[SLUG]
    student.submitted = datetime(2027, 3, 1, 18, 1)
    assert law.late(student, hand_in)[0] == 1
    name = "HW_ada_attempt_2027-03-01-17-59-00_a.ipynb"
    for mine in f"ada/{name}", f"{name}_77_assignsubmission_file_/a.ipynb":
        hand_in.file = mine
        assert law.late(student, hand_in)[0] == 1, "the student has chosen this name"
    hand_in.file = name
    assert law.late(student, hand_in)[0] == 0
    (ada, bo, _) = sheet(tmp_path, WORKSHEET).students
    assert ada.submitted == datetime(2027, 3, 1, 18, 5)


def test_the_time_of_one_download_makes_nobody_late(tmp_path):
    law, found = rules(tmp_path, SIX), [handed_in(name) for name in "abc"]
    assert law.only_downloaded(found)
    found[0].hand_ins[SLUG].changed = 3_000.0
    assert not law.only_downloaded(found)


@pytest.mark.parametrize(
    ("count", "file", "points"),
    [("last", "3", 0.75), ("best", "2", 1.5), ("last on time", "1", 1)],
)
def test_of_several_the_last_the_best_or_the_last_on_time_counts(count, file, points):
    due = datetime(2027, 3, 1, 18).astimezone()
    law = Rules(penalty=25, count=count, deadlines={"4": due})
    student, got = Student("ada", ""), {"1": 1, "2": 2, "3": 1}
    for n, days in enumerate((-1, 1, 1), 1):
        hand_in = HandIn(SLUG, str(n), {"4.2": [str(n)]})
        hand_in.changed = (due + timedelta(days=days, seconds=-60)).timestamp()
        student.attempts.setdefault(SLUG, []).append(hand_in)
    law.arrange(student, lambda hand_in: got[hand_in.file])
    assert student.hand_ins[SLUG].file == file
    assert got[file] * (1 - student.late["4"][1]) == points


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("deadline = 3", "there is no rule deadline"),
        ("[deadlines]\nx = 2027-03-01", "invalid literal for int"),
        ("[deadlines]\n4 = 3", "3 is no date"),
        ('zone = "Berlin"', "No time zone found with key Berlin"),
        ('count = "first"', "count is another word"),
        ("penalty 3", "cannot be used as rules"),
    ],
)
def test_rules_that_cannot_be_read_are_told_of_with_an_example(tmp_path, text, told):
    with pytest.raises(Unreadable, match=told) as raised:
        rules(tmp_path, text)
    assert 'zone = "Europe/Berlin"' in str(raised.value)


def test_the_example_of_rules_is_the_one_in_the_page_for_teachers(tmp_path):
    assert EXAMPLE in (ROOT / "classroom" / "README.md").read_text("utf-8")
    assert rules(tmp_path, EXAMPLE).deadlines.keys() == {"4", "5"}


def test_an_extension_that_is_none_is_told_of(tmp_path):
    student = handed_in("ada")
    student.row = {"extension 4": "5.3.27"}
    with pytest.raises(Unreadable, match="ada has the extension '5.3.27'. Write days"):
        rules(tmp_path, SIX).late(student, student.hand_ins[SLUG])


# --- comments, changed points, and again ----------------------------------------------


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Add,4.2,1,", r"line 2: There is no student Add \(near: Ada\)\. Exp"),
        ("Ada,9.99,1,", "line 2: '9.99' is no exercise"),
        ("Ada,,1,", "line 2: '' is no exercise"),
        ("Ada,4.2,15,", r"line 2: 4.2 earns 0 to 2 points, and not '15'"),
        ("Ada,4.2,1,\nAda,4.2,2,", r"line 3: an earlier line is about Ada, 4\.2, too"),
        ("Ada,4.2,one,", r"line 2: 4.2 earns 0 to 2 points, and not 'one'"),
    ],
)
def test_a_comment_that_fits_nobody_is_told_of(tmp_path, line, told):
    path = tmp_path / "comments.csv"
    path.write_text(f"student,exercise,points,comment\n{line}\n", encoding="utf-8")
    with pytest.raises(Unreadable, match=told):
        read_comments(path, [Student("Ada", "1")], CHAPTER.exercises)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return what grades a class of two, quickly; it returns points by exercise."""
    for name in "ada", "bo":
        hostile.written(tmp_path / "class" / name, hostile.MADE)
    verdicts = {"4.1": "passed", "4.2": "passed", "4.3": "wrong"}

    def grade(again=None, answer="n", **changed):
        verdicts.update({name.replace("_", "."): v for name, v in changed.items()})
        quick = {name: (status, "") for name, status in verdicts.items()}
        monkeypatch.setattr(tasks, "grade_answers", lambda *words: quick)
        monkeypatch.setattr("builtins.input", lambda question: answer)
        out = tmp_path / "out"
        grade_command(tmp_path / "class", out, "4", unsafe=True, again=again)
        found = json.loads((out / "grades.json").read_text("utf-8"))
        return [
            [each["exercises"][name]["points"] for name in ("4.2", "4.3")]
            for each in found
        ]

    return grade


def test_comments_and_changed_points_survive_every_run(run, tmp_path):
    assert run() == [[2, 0], [2, 0]]
    written = "student,exercise,points,comment\nbo,4.3,0.5,almost\n"
    (tmp_path / "out" / "comments.csv").write_text(written, encoding="utf-8")
    assert run() == run() == [[2, 0], [2, 0.5]]
    assert (tmp_path / "out" / "comments.csv").read_text("utf-8") == written
    page = next((tmp_path / "out" / "students").glob("bo-*")).read_text("utf-8")
    assert "almost" in page and "2.5 of 3 points" in page


def test_one_student_or_one_exercise_again_and_only_after_a_yes(run, capsys):
    run()
    assert run("ada", "n", **{"4_3": "passed", "4_2": "wrong"}) == [[2, 0], [2, 0]]
    told = capsys.readouterr().out
    assert "ada, 4.3: 0 → 1" in told and "bo" not in told
    assert run(None) == [[2, 0], [2, 0]], "what was not confirmed is nowhere"
    assert run("ada", "y") == [[0, 1], [2, 0]]
    assert run("4.3", "y") == [[0, 1], [2, 1]]
    for words in "7.1", "nobody":
        with pytest.raises(Unreadable, match=f"an exercise {words}|no student"):
            run(words)


# --- what the class has in common -----------------------------------------------------


def test_a_teacher_sees_mistakes_by_name_and_answers_to_discuss(tmp_path):
    renamed = "def predict_blame(p, q, r):\n    # mine\n    return [q, p, 1.0]\n"
    told = "the blame at a, b, c = -2.0, 3.0, 5.0"
    swap = "the blame at a, b, c = 2.0, 3.0, 5.0"
    gate = renamed.replace("p, q, r", "a, b, c").replace("q, p", "b, a")
    own = "def predict_blame(a, b, c):\n    x = a\n    y = b\n    return [x, y, 2]\n"
    other = own.replace("x", "u").replace("y", "w").replace("a", "o")
    other = other.replace("predict_blome", "predict_blame")
    students = [handed_in(n, "", gate, "wrong", told) for n in ("ada", "bo")]
    students += [handed_in("cy", "", renamed, "wrong", told)]
    students += [handed_in("di", "", code, "error", "odd") for code in (own, other)]
    students += [handed_in("ed"), handed_in("fi", "", hostile.WRONG, "wrong", swap)]
    write_report(tmp_path, students, [CHAPTER])
    found = in_common(students, CHAPTER.exercises)
    named = "lets the blame through although 0 has won"
    assert found["mistakes"] == {
        ("4.3", named): 3,
        ("4.3", "odd"): 2,
        ("4.3", "perhaps: forgets to swap the factors"): 1,
    }
    assert [len(each.students) for each in found["discuss"]] == [3, 2]
    assert [each.form for each in found["alike"]] == [tuple(form_of(own))]
    assert found["totals"] == [2, 2, 2, 2, 2, 3, 2]
    index = (tmp_path / "index.html").read_text("utf-8")
    assert f"<small>3 students · {named}</small>" in index
    question = index.partition("A question to ask")[2].partition("</ul>")[0]
    assert re.findall(r">(\w+)</a>", question) == ["di", "di"]


# --- parts, and what to talk about ----------------------------------------------------


def test_parts_earn_points_and_both_pages_show_them(tmp_path):
    named = hostile.WRONG.replace("return ", "answer = ") + "    return answer\n"
    ada = handed_in("Ada", answer=named, status="wrong")
    parts = {"slope_table": 1.0, "neuron_blame": 0.0}
    ada.results["4.2"] = Result("wrong", "", parts)
    write_report(tmp_path, [ada], [CHAPTER])
    page = (tmp_path / "students" / ada.page).read_text("utf-8")
    assert "slope_table: 1 of 1" in page and "neuron_blame: 0 of 1" in page
    assert "1 of 3 points" in page
    index = (tmp_path / "index.html").read_text("utf-8")
    row = r'4.2 · {}</td><td class="number">{} %'
    assert re.search(row.format("slope_table", 100), index)
    assert re.search(row.format("neuron_blame", 0), index)
    line = "4.3: answer = [1.0, 1.0, 1.0]"  # in which the student decided something
    assert f"<code>{line}</code>" in index
    others = [handed_in("Bo"), handed_in("Cy"), Student("Di", "")]
    write_report(tmp_path, [ada, *others], [CHAPTER])
    index = (tmp_path / "index.html").read_text("utf-8")
    assert re.search(r'4.2 By hand.*</td>\s*<td class="number">67 %', index)
    spread = index.partition("How the points are spread")[2].partition("</table>")[0]
    assert "2.33\nof 3 points on average, with a standard deviation of 0.94" in index
    assert "3 of 3" in spread and "0 of 3" not in spread  # Di handed in nothing


def test_without_parts_an_exercise_earns_all_or_nothing(tmp_path):
    (hand_in,) = handed_in("Ada").attempts[SLUG]
    law = rules(tmp_path, "parts = false")
    for by_part, share in (law.parts, 0), (Rules().parts, 0.5):
        ledger = tasks.Ledger(tmp_path / "x", ("s", 1, True), False, by_part)
        grades = {"4.2": ("wrong", "", {"a": 1.0, "b": 0.0})}
        ledger.add(ledger.key_of(hand_in), grades)
        assert ledger.results(hand_in, ["4.2"])["4.2"].share == share


def test_samples_are_an_excellent_a_good_and_a_barely_right_answer(capsys):
    assert samples_command("4") == 0
    told = capsys.readouterr().out.partition("## 4.3")[2]
    scores = re.findall(r"### (\w+): (\d+) of 12 results", told)
    assert [word for word, _ in scores] == ["Excellent", "Good", "Barely"]
    best, good, barely = (int(score) for _, score in scores)
    assert best == 12 > good > barely > 0
    assert "The mistake: asks for both factors to be positive." in told
    assert "return [b, a, 1.0] if a > 0 and b > 0 else [0.0, 0.0, 1.0]" in told
