"""Submissions are found wherever they lie, with their owner; reading is limited."""

import csv
import io
import itertools
import json
import os
import shutil
import zipfile
from time import process_time

import pytest

from classroom import ROOT
from classroom.notebook.answers import Learner
from classroom.notebook.files import Unreadable, parse_notebook
from classroom.notebook.pristine import Chapter, id_of
from classroom.teacher import collect
from classroom.teacher.reading import TOLD
from classroom.teacher.report import harmless, write_report
from classroom.teacher.students import Student
from tests.course import hostile
from tests.course.tables import table

CHAPTER = Chapter(hostile.BLANK)
MADE = hostile.MADE
WRONG = json.dumps(hostile.notebook(hostile.SOLVED | {"4.3": hostile.WRONG})).encode()
pytestmark = pytest.mark.linux


def collected(place, *entries):
    """Return what is found in a folder or a zip; write the zip first, of `entries`."""
    if entries:
        place.write_bytes(hostile.zipped(entries))
    return collect.submissions(place, [CHAPTER])


def read(folder):
    """Return the students whose hand-ins lie at a place, by their names."""
    return {s.name: s for s in collected(folder)}


# --- whose it is --------------------------------------------------------------------


@pytest.mark.parametrize(("name", "who", "number"), table("whose_a_file_is"))
def test_whose_a_file_is(name, who, number):
    assert collect.owner(name) == (who, number)


LONG = [part * 10_000 for part in ("_1", "x_1_1234", "anon_", "x_attempt")]
LONG += ["x_1_assignsubmission_" + "a" * 50_000 + "\n"]


@pytest.mark.parametrize("name", LONG, ids=range(5))
def test_a_name_takes_time_that_grows_with_its_length_and_no_faster(name):
    begin = process_time()
    collect.owner(name)
    harmless(";" + " " * 50_000 + name)
    assert process_time() - begin < 1


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("{0}_{1}_assignsubmission_file_/a.ipynb", [("x", "0"), ("y", "1")]),
        ("hw/{0}/a.ipynb", [("x", ""), ("y", "")]),
        ("ada/{2}/a.ipynb", [("ada", "")]),
    ],
)
def test_one_zip_of_an_lms_has_many_students(tmp_path, form, found):
    own = "exercises", "notebooks"
    entries = [(form.format("xy"[n], n, own[n]), MADE) for n in (0, 1)]
    handed_in = collected(tmp_path / "lms.zip", *entries)
    assert [(s.name, s.id) for s in handed_in] == found
    assert all(s.hand_ins for s in handed_in)


def test_who_hands_in_no_notebook_has_a_row_in_a_zip_too(tmp_path):
    names = [f"ada_1_assignsubmission_file_/{name}" for name in ("a.ipynb", "x.md")]
    names += ["bo_2_assignsubmission_file_/blame.docx", "notes.txt"]
    ada, bo = collected(tmp_path / "lms.zip", *((name, MADE) for name in names))
    assert not ada.notes and len(ada.hand_ins) == 1
    assert (bo.name, bo.id, bo.hand_ins) == ("bo", "2", {})
    assert bo.notes == ["bo_2_assignsubmission_file_/blame.docx: it is not a notebook"]


def test_a_zip_that_was_broken_off_is_not_taken_for_the_one_in_it(tmp_path):
    inner = hostile.zipped([("x/a.ipynb", MADE)])
    names = [f"{who}_1_assignsubmission_file_/hw.zip" for who in ("ada", "bo")]
    whole = hostile.zipped([(name, inner) for name in names], zipfile.ZIP_STORED)
    hostile.written(tmp_path / "class", whole[:-150], "lms.zip")
    with pytest.raises(Unreadable, match=r"lms\.zip.*is it complete\?"):
        collected(tmp_path / "class" / "lms.zip")
    (found,) = collected(tmp_path / "class")
    assert not found.hand_ins and "is it complete?" in found.notes[0]


@pytest.mark.parametrize("around", ["", "class/"])
def test_a_folder_without_a_notebook_is_a_row_in_a_zip_too(tmp_path, around):
    entries = [(around, b"")] if around else []
    entries += [(f"{around}{who}/", b"") for who in ("ada", "bo")]
    entries += [(f"{around}{who}/{hostile.FILE}", MADE) for who in ("ada", "cy")]
    ada, bo, cy = collected(tmp_path / "hand-ins.zip", *entries)
    assert [ada.name, bo.name, cy.name] == ["ada", "bo", "cy"]
    assert bo.notes == ["bo: it contains no notebook"] and not ada.notes


# --- what is read ---------------------------------------------------------------------


def test_an_exercise_comes_before_lessons_blanks_and_solutions(tmp_path):
    lesson = (ROOT / "notebooks" / f"{hostile.CHAPTER.slug}.ipynb").read_bytes()
    contents = {"exercises": MADE, "notebooks": lesson}
    contents["classroom/pristine"] = CHAPTER.path.read_bytes()
    contents["solutions"] = MADE.replace(b"slope", b"slope_of")
    for folder, content in contents.items():
        hostile.written(tmp_path / "class" / "ada" / folder, content, "a.ipynb")
    ada = read(tmp_path / "class")["ada"]
    (hand_in,) = ada.hand_ins.values()
    assert hand_in.file == "ada/exercises/a.ipynb" and hand_in.answers
    assert not ada.notes
    shutil.rmtree(tmp_path / "class" / "ada" / "exercises")
    (hand_in,) = read(tmp_path / "class")["ada"].hand_ins.values()
    assert not hand_in.answers, "our solutions are nobody's points"
    hostile.written(tmp_path / "class" / "bob", lesson, "a.ipynb")
    bob = read(tmp_path / "class")["bob"]
    assert not bob.hand_ins and "is a lesson" in bob.notes[0]


ODD = [
    {"cells": [], "metadata": {"minigrad": "x"}},
    {"cells": [], "metadata": {"minigrad": {"chapter": [1]}}},
    {"cells": [{"cell_type": "code", "source": "x = 1" + "+1" * 50_000}]},
    {"cells": [{"cell_type": "code", "source": "-" * 50_000 + "1"}]},
    {"cells": [{"cell_type": "code", "metadata": {"nbgrader": "x"}}]},
]


def test_odd_notebooks_do_not_stop_the_others(tmp_path):
    for n, odd in enumerate(ODD):
        extra = hostile.honest()
        extra["cells"] += odd["cells"]
        extra["metadata"] |= odd.get("metadata", {})
        hostile.written(tmp_path / f"extra{n}", extra)
        hostile.written(tmp_path / f"odd{n}", odd)
    hostile.written(tmp_path / "ada", MADE)
    students = read(tmp_path)
    ada = students.pop("ada")
    assert ada.hand_ins and not ada.notes and len(students) == 2 * len(ODD)
    for name, student in students.items():
        assert not name.startswith("odd") or student.notes and not student.hand_ins


def test_an_answer_that_nothing_runs_is_a_note_for_the_teacher(tmp_path):
    """In cells of text, or in a check's cell, which ours stands in for."""
    notebook = parse_notebook(json.dumps(hostile.honest()).encode(), "a.ipynb")
    answered = Learner(notebook, CHAPTER).answers()
    moved, hidden, beside = answered
    cells = {CHAPTER.label(cell): cell for cell in notebook["cells"]}
    cells[id_of("answer", moved)]["cell_type"] = "markdown"
    answer, check = (cells[id_of(k, hidden)] for k in ("answer", "check"))
    check["source"] = answer["source"] + "\n" + check["source"]
    answer["source"] = ""
    answer = cells[id_of("answer", beside)]
    text = {**answer, "cell_type": "markdown", "id": "mine", "metadata": {}}
    notebook["cells"].insert(notebook["cells"].index(answer) + 1, text)
    cells[id_of("answer", beside)]["source"] = ""
    hostile.written(tmp_path / "ada", notebook)
    (hand_in,) = read(tmp_path)["ada"].hand_ins.values()
    assert not hand_in.answers
    assert hand_in.notes == [
        f"{moved}: an answer seems to be in a cell of text",
        f"{hidden}: an answer seems to be in the check's cell",
        f"{beside}: an answer seems to be in a cell of text",
    ]


# --- one student against another -----------------------------------------------------


def test_names_within_a_students_zip_are_nobody_elses(tmp_path):
    ada = "Ada King_77_assignsubmission_file_"
    false = [f"{ada}/x.ipynb", "kingada_12_3456_a.ipynb", f"{ada}hw.zip"]
    false += [f"Student {n}_{n}_assignsubmission_file_/a.ipynb" for n in range(60)]
    hw = hostile.zipped([(name, WRONG) for name in false])
    places = {f"{ada}/a.ipynb": MADE, "kingada_12_3456_04.ipynb": MADE}
    places |= {"mallory_99_777002_hw.zip": hw}
    for name, data in places.items():
        folder, _, file = name.rpartition("/")
        hostile.written(tmp_path / "class" / folder, data, file)
    (tmp_path / "lms.zip").write_bytes(hostile.zipped(list(places.items())))
    for where in "class", "lms.zip":
        found = collected(tmp_path / where)
        assert [one.name for one in found] == ["Ada King", "kingada", "mallory"]
        right = Learner(parse_notebook(MADE, "a"), CHAPTER).answers()
        hand_ins = [h for one in found[:2] for h in one.hand_ins.values()]
        assert [h.answers for h in hand_ins] == [right, right]
        assert found[2].hand_ins and len(found[2].notes) == 1


def test_invented_students_do_not_multiply_what_may_be_read(tmp_path):
    name = "Student {0}_{0}_assignsubmission_file_/a.ipynb"
    large = [(name.format(n), MADE + b" " * (3 << 20)) for n in range(60)]
    (tmp_path / "mallory.zip").write_bytes(hostile.zipped(large))
    (mallory,) = collected(tmp_path)
    assert "all files together have more than 100 MB" in mallory.notes[0]


# --- what cannot be read -------------------------------------------------------------


def broken_lzma():
    data = bytearray(hostile.zipped([("a.ipynb", MADE)], zipfile.ZIP_LZMA))
    data[30 + len("a.ipynb") + 4] = 0xFF  # its properties
    return bytes(data)


def nameless():
    return hostile.zipped([(zipfile.ZipInfo(""), MADE), (zipfile.ZipInfo("/"), b"")])


def overlapping(entries):
    """Return a zip whose entries all are the same megabyte."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ipynb", bytes(1 << 20))
        archive.filelist *= entries
    return file.getvalue()


def endless():
    """Return a notebook that our reader needs quadratic time for."""
    made = hostile.notebook(hostile.SOLVED | {"4.3": hostile.WRONG + "_ = a29999"})
    lines = ["a0 = 1", *(f"a{n} = a{n - 1}" for n in range(1, 30_000))]
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": []}
    made["cells"].insert(1, {**cell, "source": "\n".join(lines)})
    return json.dumps(made).encode()


BROKEN = {  # by name: what it is called, its bytes, what is told of it
    "a broken byte": ("hw.zip", broken_lzma, "it cannot be unpacked"),
    "no name": ("hw.zip", nameless, "it contains no notebook"),
    "one megabyte, often": ("hw.zip", lambda: overlapping(20_000), "a.ipynb: "),
    "slow": ("a.ipynb", endless, "it takes more than 10 seconds"),
    "many lists": ("a.ipynb", lambda: b"[" + b"[]," * 6_000_000 + b"[]]", "a notebook"),
}


def test_whatever_cannot_be_read_is_a_row_and_costs_nobody_else(tmp_path):
    for name, (file, make, _) in BROKEN.items():
        hostile.written(tmp_path / name, make(), file)
    hostile.written(tmp_path / "ada", MADE)
    found = {s.name: s for s in collected(tmp_path)}
    assert found.keys() == {"ada", *BROKEN}
    assert len(found["ada"].hand_ins) == 1 and not found["ada"].notes
    for name, (*_, told) in BROKEN.items():
        assert told in found[name].notes[0] and not found[name].hand_ins, name


def test_what_cannot_be_read_hides_nothing_beside_it(tmp_path):
    hostile.written(tmp_path / "ada", MADE)
    (tmp_path / "ada" / "/".join("d" * 200)).mkdir(parents=True)
    (ada,) = collected(tmp_path)
    assert len(ada.hand_ins) == len(ada.notes) == 1
    assert "folders are nested more than 100 deep" in ada.notes[0]


@pytest.mark.parametrize("name", ["a broken byte", "no name"])
def test_a_zip_alone_that_cannot_be_read_is_no_traceback(tmp_path, name):
    _, make, told = BROKEN[name]
    (tmp_path / "hw.zip").write_bytes(make())
    found = collected(tmp_path / "hw.zip")
    assert [told in one.notes[0] for one in found] == [True] * (name == "a broken byte")


def test_reading_is_bounded_by_memory_too(tmp_path):
    hungry = b'{"cells":[' + b'{"cell_type":""},' * 1_100_000 + b'{"cell_type":0}]}'
    hostile.written(tmp_path / "ada", hungry)
    (found,) = collected(tmp_path)
    assert not found.hand_ins
    assert "MemoryError" in found.notes[0] or "512 MB" in found.notes[0]


# --- what spreadsheets take ----------------------------------------------------------


def test_no_cell_is_a_formula_in_any_spreadsheet(tmp_path):
    names = "=1", "＝1", "＋1", "－1", "＠A1", " =1", "a;=1", "a\t=1", "a,+1", "a; ＝1"
    students = [Student(name, "x;=2", notes=[f"{name}: no file"]) for name in names]
    write_report(tmp_path, students, [CHAPTER])
    text = (tmp_path / "grades.csv").read_text("utf-8-sig")
    for mark in ",;\t":
        cells = itertools.chain(*csv.reader(io.StringIO(text), delimiter=mark))
        assert not [c for c in cells if c.strip()[:1] in tuple("=+-@＝＋－＠")]


def test_many_things_to_tell_are_told_in_a_cell_that_can_be_read(tmp_path):
    hw = hostile.zipped([(f"{'n' * 200}{n}.ipynb", b"{") for n in range(4_000)])
    hostile.written(tmp_path / "class" / "ada", hw, "hw.zip")
    students = list(read(tmp_path / "class").values())
    assert len(students[0].notes) == TOLD + 1
    assert students[0].notes[-1] == "3,980 more files or folders cannot be read"
    students[0].notes *= 100
    write_report(tmp_path, students, [CHAPTER])
    with (tmp_path / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert 30_000 < len(row["remarks"]) <= 32_767


# --- Korean classes ------------------------------------------------------------------


def test_a_page_is_called_as_the_student_and_no_two_are_one(tmp_path):
    names = [f"김{chr(0xAC00 + n)}{chr(0xAC00 + n // 7)}" for n in range(10_000)]
    students = [Student(name, "") for name in names]
    assert len({student.page for student in students}) == len(names)
    assert all(name in student.page for name, student in zip(names, students))
    write_report(tmp_path, students[:50], [CHAPTER])
    assert len(list((tmp_path / "students").iterdir())) == 50
    assert Student("Zo\u00eb A", "").page.startswith("zo\u00eb-a-")
    assert Student("Ada", "1").page != Student("Ada", "2").page


def older_zip(path, names, letters):
    """Write a zip whose entries are named as older programs wrote them."""
    with zipfile.ZipFile(path, "w") as archive:
        for n, name in enumerate(names):
            archive.writestr(f"{n:@>{len(name.encode(letters))}}/a.ipynb", MADE)
    data = path.read_bytes()
    for n, name in enumerate(names):
        kept = f"{n:@>{len(name.encode(letters))}}/".encode()
        data = data.replace(kept, name.encode(letters) + b"/")
    path.write_bytes(data)


OF_MOODLE = [f"{name}_{n}_assignsubmission_file_" for n, name in enumerate("똠믜뷁")]


@pytest.mark.parametrize(
    ("letters", "names"),
    [
        ("cp949", ["김똠똠", "김믜믜", "똠방각하", "홍철", "김철수", "박믜 2반"]),
        ("cp949", OF_MOODLE),
        ("cp437", ["Müller", "Ökan Gülören", "Zoë", "Ådne Bjornsen"]),
        ("utf-8", ["김똠", "믜", "Zoë", "Øst", "Müller"]),
    ],
)
def test_names_of_any_program_are_read_as_they_were_written(tmp_path, letters, names):
    older_zip(tmp_path / "class.zip", names, letters)
    found = collected(tmp_path / "class.zip")
    assert {one.name for one in found} == {n.partition("_")[0] for n in names}
    assert len(found) == len(names) and all(one.hand_ins for one in found)


def test_the_last_attempt_counts_and_the_other_is_told_of(tmp_path):
    for name, data in ("17-59-00", WRONG), ("18-00-01", MADE):
        name = f"HW_ada_attempt_2027-03-01-{name}_a.ipynb"
        hostile.written(tmp_path / "class", data, name)
    ada = read(tmp_path / "class")["ada"]
    (hand_in,) = ada.hand_ins.values()
    assert "18-00-01" in hand_in.file
    (told,) = ada.remarks()
    assert "17-59-00_a.ipynb: HW_ada_attempt_2027-03-01-18-00-01_a.ipynb counts" in told


def test_remarks_go_by_chapter_and_do_not_name_the_students_folder(tmp_path):
    three = Chapter(ROOT / "classroom" / "pristine" / "03_value.ipynb")
    blank = three.path.read_bytes()
    folder = tmp_path / "class" / "ada_1_assignsubmission_file"
    for name, data in ("a", WRONG), ("a (1)", MADE), ("b", blank):
        hostile.written(folder, data, f"{name}.ipynb")
    (ada,) = collect.submissions(tmp_path / "class", [three, CHAPTER])
    assert list(ada.attempts) == [three.slug, CHAPTER.slug]
    (told,) = ada.remarks()
    assert told == "a.ipynb: a (1).ipynb counts instead, which has the same chapter"


NEWEST = ["blame", "blame (1)"], ["blame", "blame-Copy1"], ["blame v9", "blame v10"]
NEWEST += ["blame", "blame-1"], ["blame", "blame copy"], ["blame", "blame_final"]


@pytest.mark.parametrize("names", NEWEST, ids=lambda names: names[1])
def test_the_newest_counts_whatever_it_is_called(tmp_path, names):
    first, last = (f"{name}.ipynb" for name in names)
    ada = tmp_path / "class" / "ada"
    hostile.written(ada, WRONG, first)
    hostile.written(ada, MADE, last)
    (hand_in,) = read(tmp_path / "class")["ada"].hand_ins.values()
    assert hand_in.file == f"ada/{last}"  # both come from one zip, at one time
    os.utime(ada / last, (1_800_000_000, 1_800_000_000))
    os.utime(ada / first, (1_800_009_000, 1_800_009_000))
    (hand_in,) = read(tmp_path / "class")["ada"].hand_ins.values()
    assert hand_in.file == f"ada/{first}"
    when = (2027, 3, 1, 18, 0, 0), (2027, 3, 1, 17, 0, 0)
    infos = [zipfile.ZipInfo(f"ada/{n}", at) for n, at in zip((first, last), when)]
    made = hostile.zipped(zip(infos, (WRONG, MADE)))
    hostile.written(tmp_path / "zipped", made, "ada.zip")
    (hand_in,) = read(tmp_path / "zipped")["ada"].hand_ins.values()
    assert hand_in.file.endswith(first)


# --- a class -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "who", "files"),
    [
        ("HW_{}_attempt_2027-03-01-17-59-00{}", ("ada", "bo"), (".ipynb", ".txt")),
        ("anon_{}_345{}.ipynb", ("x7Kq2", "y7Kq2"), ("6_a", "7_b")),
        ("Participant {0}_{0}_assignsubmission_file_{1}", "12", ("a.ipynb", "b.txt")),
    ],
)
def test_files_of_one_student_are_one_row(tmp_path, form, who, files):
    for file in files:
        hostile.written(tmp_path / "class", MADE, form.format(who[0], file))
    hostile.written(tmp_path / "class", b"", form.format(who[1], files[1]))
    one, two = collected(tmp_path / "class")
    assert one.hand_ins and not two.hand_ins
