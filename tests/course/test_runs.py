"""What a kernel knows about its cells: which failed, are given, or have passed."""

import shutil
import textwrap

import pytest
from jupyter_client.manager import start_new_kernel

from classroom import ROOT
from classroom.cell import notes, runs
from classroom.cell.asked import asked, core, course_of, hint_about, id_of
from classroom.cell.solutions import solution_of
from classroom.learner.check import check_command
from classroom.learner.help import report_command
from classroom.learner.results import Memory
from classroom.notebook.answers import Learner
from classroom.notebook.files import read_notebook
from classroom.notebook.pristine import Chapter as Pristine
from tests.course.sample import fill
from tests.course.tables import table

SLUG = "05_diamonds"
SOLVED = read_notebook(ROOT / "solutions" / f"{SLUG}.ipynb")["cells"]
RIGHT = next(cell["source"] for cell in SOLVED if cell["id"] == "answer-5-1")
BROKEN = RIGHT.replace("(parents):", "(parents)", 1)
CHECK = asked(ROOT, "5.1").check


@pytest.fixture
def course(tmp_path):
    """A folder with the notebooks of one chapter, and nothing else of the course."""
    for folder in "classroom/pristine", "exercises":
        (tmp_path / folder).mkdir(parents=True)
        pristine = ROOT / "classroom" / "pristine" / f"{SLUG}.ipynb"
        shutil.copy(pristine, tmp_path / folder)
    return tmp_path


@pytest.fixture
def kernel(course):
    """Return a function that runs a cell as JupyterLab does, and returns what came."""
    manager, client = start_new_kernel(cwd=str(course / "exercises"))

    def run(source, cell="mine"):
        content = {"code": source, "silent": False, "store_history": True}
        content |= {"allow_stdin": False, "stop_on_error": True}
        about = {"cellId": cell} if cell else {}
        message = client.session.msg("execute_request", content, metadata=about)
        client.shell_channel.send(message)
        said = ""
        while True:
            answer = client.get_iopub_msg(timeout=60)
            if answer["parent_header"].get("msg_id") != message["msg_id"]:
                continue
            content = answer["content"]
            if content.get("execution_state") == "idle":
                return said
            told = content.get("evalue") or "".join(content.get("traceback", ()))
            said += content.get("text", told)
            said += content.get("data", {}).get("text/markdown", "")

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def judge(kernel):
    """Return a function that runs an answer, if one is given, and then its check."""

    def run(answer=None, name="5.1"):
        if answer is not None:
            kernel(answer, id_of("answer", name))
        return kernel(asked(ROOT, name).check, id_of("check", name))

    return run


def passed(course, answer):
    """Tell whether a notebook with this answer to 5.1 counts as passed in there."""
    notebook = fill(course / "exercises" / f"{SLUG}.ipynb", {"5.1": answer})
    learner = Learner(notebook, Pristine(course / f"classroom/pristine/{SLUG}.ipynb"))
    return Memory(course).passed_in_notebook(learner, "5.1") is not None


def test_a_check_judges_what_stands_there_and_notes_what_passes(course, kernel, judge):
    said = judge()
    assert said.startswith("The given cells were run first.\n5.1: No cell that was run")
    assert kernel(RIGHT, "answer-5-1") == ""
    assert judge() == "5.1 passed\n"
    assert passed(course, RIGHT) and not passed(course, RIGHT + "\n")
    for source in BROKEN, f"{RIGHT}\n1 / 0":
        said = judge(source)
        assert "stopped with an error when it last ran" in said and "pass" not in said
    assert not kernel(RIGHT, "another") and judge() == "5.1 passed\n"
    kernel("def helper(", "helpers")  # of which the answer knows nothing
    assert judge() == "5.1 passed\n"
    kernel(RIGHT.replace("parents.values()", "mine(parents)"), "answer-5-1")
    kernel("def mine(parents): return parents.values()", "helpers")
    assert judge() == "5.1 passed\n"
    kernel("def mine(parents) return None", "helpers")
    assert "Your cell `def mine(parents) return None`" in judge()


def test_what_nobody_looks_at_is_not_noted(course, kernel):
    kernel("import classroom.live", None)
    for _, source, _ in asked(course, "5.1").given:
        kernel(source, None)
    kernel(RIGHT, None)
    assert kernel(CHECK, None) == "5.1 passed\n" and not passed(course, RIGHT)
    edited = CHECK.replace("graphs.items()", "[]")
    assert kernel(edited, "check-5-1") == "5.1 passed\n" and not passed(course, RIGHT)


def test_what_passes_has_our_solution_below_it_where_somebody_looks(
    course, kernel, judge
):
    shutil.copytree(ROOT / "solutions", course / "solutions")
    judge()
    said = judge(RIGHT)
    assert said.startswith("5.1 passed\n<details><summary>Our solution")
    assert RIGHT in said and "Another way:" in said and said.endswith("</details>")
    assert kernel(CHECK, None) == "5.1 passed\n"  # as nbval and `check` run it
    wrong = RIGHT.replace("in parents[name]:", "in set(parents[name]):")
    assert "Our solution" not in judge(wrong)
    assert len(notes.read_notes(course, notes.TRIED)["5.1"]) == 1


def test_a_hint_is_named_at_once_but_in_no_terminal(kernel, judge):
    judge()
    said = judge(RIGHT.replace("in parents[name]:", "in set(parents[name]):"))
    assert "found:       'a is listed 0 times'" in said
    assert said.endswith("Help: Hint 3, above your answer, is about this mistake.")
    assert "Help" not in kernel(CHECK, None)


def test_what_an_answer_was_before_is_not_judged(course, kernel, judge):
    judge()
    for before in RIGHT.replace("+= 1", "+= 2"), asked(ROOT, "5.1").stub:
        kernel(before, "answer-5-1")
        said = judge(RIGHT.replace("any_order", "an_order"))
        assert said.startswith(
            "5.1: Your answer lacks `any_order`, which the blank has"
        )
    _, ours = chapter_and_solution(course, "03_value", "3.1")
    judge(None, "3.1")
    wrong = ours.replace("1.0, other, -1.0", "1.0, other, 1.0")
    assert "the edges of a - b" in judge(wrong, "3.1")
    lacks = "3.1: Your cell lacks its first line, `# minigrad/scalar/value.py`."
    for end in "", "\n1 / 0":
        assert lacks in judge(ours.partition("\n")[2] + end, "3.1")
    _, second = chapter_and_solution(course, "03_value", "3.2")
    kernel(second, "answer-3-1")
    said = judge(None, "3.2")
    assert "3.2: Your answer stands in the cell of 3.1, where it does not" in said
    assert judge(ours, "3.1").startswith("3.1 passed")


def test_a_method_beside_its_class_and_a_glued_product_are_told(course, kernel, judge):
    _, ours = chapter_and_solution(course, "00_warm_up", "0.2")
    judge(None, "0.2")
    before, start, method = ours.partition("    def __add__")
    said = judge(before + textwrap.dedent(start + method), "0.2")
    assert "The blank has `Money.__add__`, and your answer has not. (What belo" in said
    kernel(ours.replace("100 * ", "100"), "answer-0-2")
    said = judge(ours.replace("100 * (", "2euros * ("), "0.2")
    assert said.endswith("a sign between factors: `2 * h`, and not `2h`.")


def test_a_line_of_the_blank_that_is_left_is_told_also_inside_a_loop(course, judge):
    about, ours = chapter_and_solution(course, "08_arrays", "8.3")
    judge(None, "8.3")
    line = " " * 16 + 'raise NotImplementedError("fill this in")\n'
    left = ours.replace("        node.free()", f"{line}        node.free()")
    for answer in about.stub, left:
        said = judge(answer, "8.3")
        assert said.startswith("8.3: `walk` is not filled in yet.")
        told = "Remove this line where you have filled in." in said
        assert told == (answer == left)


def test_a_blank_that_names_nothing_fails_and_counts_as_any_other(
    course, kernel, judge
):
    about, ours = chapter_and_solution(course, "08_arrays", "8.1")
    assert not about.names
    judge(None, "8.1")
    assert judge(about.stub, "8.1") == "8.1: It is not filled in yet."
    assert judge(ours, "8.1").startswith("8.1 passed")
    assert runs.mark_of(about, [ours]) in notes.read_notes(course)["8.1"]
    said = judge(ours.replace("x=lambda", "z=lambda"), "8.1")
    assert "there is no 'z'\nFix that cell" in said
    kernel(ours, "another")
    assert judge(None, "8.1").startswith("8.1 passed")


def test_a_slip_is_told_with_what_came_also_in_a_terminal(course, kernel, judge):
    shutil.copytree(ROOT / "solutions", course / "solutions")
    judge()
    for old, new, told in table("slips_that_a_check_meets"):
        said = judge(RIGHT.replace(old, new))
        assert told in said, new
        assert kernel(CHECK, None) == said.partition("\nHelp: ")[0]


def chapter_and_solution(course, slug, name):
    """Put a chapter into a course; return what an exercise asks, and its solution."""
    shutil.copytree(ROOT / "solutions", course / "solutions", dirs_exist_ok=True)
    pristine = ROOT / "classroom" / "pristine" / f"{slug}.ipynb"
    shutil.copy(pristine, course / "classroom" / "pristine")
    return asked(ROOT, name), solution_of(ROOT, name).ours


def test_a_class_that_has_no_solutions_is_told_what_came_and_what_was_given(
    course, kernel
):
    about, ours = chapter_and_solution(course, "03_value", "3.1")
    shutil.rmtree(course / "solutions")
    for check, cell in (about.check, "check-3-1"), (CHECK, "check-5-1"):
        kernel(check, cell)
    kernel(RIGHT.replace("return order", "order"), "answer-5-1")
    said = kernel(CHECK, "check-5-1")
    assert "'loss': ['b']})\n    your answer: None\nThe check cannot use that" in said
    wrong = ours.replace("self.data + other.data", "self.data - other.data")
    for old, new, told in (
        (
            "return Value(self.data *",
            "Value(self.data *",
            "None\n    expected:    a Va",
        ),
        ("", "", "`Value.__add__` was given, and you have changed it."),
    ):
        kernel(wrong.replace(old, new, 1), "answer-3-1")
        assert told in kernel(about.check, "check-3-1")


def test_beside_a_line_of_the_blank_the_rest_is_judged(course, kernel, judge):
    about, ours = chapter_and_solution(course, "04_blame", "4.1")
    left = '\n    raise NotImplementedError("fill this in")'
    judge(None, "4.1")
    half = "\n".join(line for line in ours.splitlines() if " log = " not in line)
    lacks = "lacks\n    found:       ['log']\n    expected:    []\nAll else"
    assert lacks in judge(half + left, "4.1")
    said = judge(half.replace("1 - y", "1 + y") + left, "4.1")
    assert "4.1: the slope of tanh at -1.2" in said
    said = judge(about.stub + "\n    log = unary('Log', 1, 2)", "4.1")
    assert "4.1: `unary` is not filled in" in said
    said = judge(about.stub.replace("    raise", "    y = f\n    raise", 1), "4.1")
    assert "Remove this line whe" in said
    assert kernel(ours + left, "answer-4-1") == "fill this in"
    assert judge(None, "4.1").startswith("4.1 passed")


def test_beside_a_blank_the_other_parts_are_judged(course, judge):
    about, ours = chapter_and_solution(course, "03_value", "3.1")
    stub = about.stub
    start, end = "    def __truediv__", "    def __rtruediv__"
    blank = start + stub.partition(start)[2].partition(end)[0]
    half = ours.partition(start)[0] + blank + end + ours.partition(end)[2]
    said = judge(None, "3.1")
    assert "3.1: No cell that was run since this notebook's kernel" in said
    said = judge(half, "3.1")
    assert "`Value.__truediv__` is not filled in yet.\n`Value.__mul__`, " in said
    assert "`Value.__sub__` and `Value.__pow__` are right: 3 of 4 parts." in said
    said = judge(half.replace("(n - 1)", "n"), "3.1")
    assert "Another part is wrong: the edges of a ** 3" in said
    assert "`Value.__mul__` is not filled in yet." in judge(stub, "3.1")
    said = judge(ours.replace("1.0, other, -1.0", "1.0, other, 1.0"), "3.1")
    assert "`Value.__truediv__` and `Value.__pow__` are right: 3 of 4 parts." in said
    assert judge(ours, "3.1").startswith("3.1 passed")


def test_what_passes_is_filled_in_also_with_a_line_of_the_blank(course, kernel, judge):
    left = f'{RIGHT}\nraise NotImplementedError("fill this in")'
    judge()
    assert kernel(left, "answer-5-1") == "fill this in"
    assert judge() == "5.1 passed\n" and passed(course, left)
    assert check_command("5.1", course) == 0


def test_a_note_that_cannot_be_written_breaks_nothing(course, judge):
    (course / ".minigrad").touch()  # where a folder should be
    judge()
    assert judge(RIGHT) == "5.1 passed\n"


def test_a_cell_of_a_lesson_that_runs_too_early_says_what_to_run(course, kernel):
    (course / "notebooks").mkdir()
    lesson = ROOT / "notebooks" / "04_blame.ipynb"
    shutil.copy(lesson, course / "notebooks")
    cells = {"".join(c["source"]): c["id"] for c in read_notebook(lesson)["cells"]}
    [(source, name)] = [(s, c) for s, c in cells.items() if s.startswith("big, small")]
    kernel("import classroom.live")
    said = kernel(source, name)
    assert said.endswith(
        "kernel was started. Choose Run > Run All Above Selected Cell.\n"
    )
    assert "`Value` gets its value in a cell above" in said
    kernel("from minigrad.value import Value")
    assert "`share_blame` gets its value in a cell above" in kernel(source, name)
    assert "in a cell above" not in kernel("nowhere", name)
    assert "in a cell above" not in kernel(source, "mine")


def test_notes_that_are_spoilt_or_doubled_cost_no_others(tmp_path):
    path = tmp_path / notes.PASSED
    path.parent.mkdir()
    path.write_text('[]\n{"exercise": "1.1"}\n{"exer\n\0\n7\n', encoding="utf-8")
    for answer in "abc", "abc", "def":
        notes.write_note(tmp_path, "1.1", answer)
    assert notes.read_notes(tmp_path)["1.1"].keys() == {"abc", "def"}
    assert path.read_text("utf-8").count("abc") == 1


def test_what_is_asked_is_known_only_where_it_can_be_read(course, tmp_path):
    assert asked(course, "5.1").names == {"any_order"}
    assert asked(course, "5.9") is asked(course, "6.1") is asked(tmp_path, "") is None
    assert course_of(course / "exercises") == course
    assert core(["f = 1", "g = 2", "f = 3"], {"f", "h"}) == {"f = 3"}
    assert hint_about({"a": 1, "a b": 2}, "it is a b") == 2
    assert hint_about({"a": 1}, "it\n    What was right just before: a") is None


def test_a_report_says_what_passed_in_the_notebook(course, monkeypatch, capsys):
    passed(course, RIGHT)
    about = asked(course, "5.1")
    notes.write_note(course, "5.1", runs.mark_of(about, [RIGHT]))
    report_command("5.1", root=course)
    assert "(This answer passed in the notebook on 20" in capsys.readouterr().out
