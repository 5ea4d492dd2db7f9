"""`course.py check` tells right from wrong, whatever an answer does to its kernel."""

import ast
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from classroom import ROOT
from classroom import __main__ as commands
from classroom.author.chapters import chapters, first_fence, sections
from classroom.cell import notes
from classroom.learner.check import check_command, next_hint
from classroom.learner.find import find, several
from classroom.learner.help import solution_command
from classroom.notebook.answers import Learner
from classroom.notebook.files import Unreadable, read_notebook, write_notebook
from classroom.notebook.pristine import Chapter, all_chapters
from classroom.notebook.source_code import imported
from classroom.run.judge import run_answers
from tests.course import sample
from tests.course.sample import (
    BLANK,
    RIGHT,
    cell_of,
    chapter,
    course,
    exercise,
    fill,
    learner,
    pristine,
    refused,
)

STUB = f"def f(x):\n    {BLANK}"
CHECK = """from classroom.checks import check, expect
with check({name!r}):
    expect("f(2)", f(2), 4)
"""


def troubles():
    """Yield each trouble: its name; the answer, its status, words told."""
    text = Path(__file__).with_name("troubles.md").read_text("utf-8")
    for heading, body in sections(text, "## "):
        name, _, status = heading.rpartition(": ")
        words = [line[2:] for line in body.splitlines() if line.startswith("> ")]
        yield name, (first_fence(body), status, "\n".join(words))


TROUBLES = dict(troubles())
NAMES = {case: f"90.{n}" for n, case in enumerate(TROUBLES, 1)}


def live_exercise(name):
    cells = exercise(name, STUB)
    cells[-1]["source"] = CHECK.format(name=name)
    return cells


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One chapter in which every exercise does its worst, half of them at a time."""
    cells = {name: live_exercise(name) for name in NAMES.values()}
    cells["90.99"] = live_exercise("90.99")
    root = course(tmp_path_factory.mktemp("a course, 강의"), chapter(cells))
    answers = {NAMES[case]: [trouble[0]] for case, trouble in TROUBLES.items()}
    halves = [{n: answers[n] for n in list(answers)[half::2]} for half in (0, 1)]
    with ThreadPoolExecutor() as pool:
        one, two = pool.map(lambda half: run_answers(pristine(root), half, 2), halves)
    return one | {name: two[name] for name in halves[1]}


@pytest.mark.parametrize("case", TROUBLES)
def test_each_exercise_is_judged_by_itself(results, case):
    _, status, words = TROUBLES[case]
    result = results[NAMES[case]]
    assert result.status == status and words in result.message
    assert results["90.99"].status == "blank"  # there is no answer to this one
    assert "\x1b" not in result.message and len(result.message) < 1000


def test_a_notebook_has_an_end_however_many_cells_it_has(tmp_path, monkeypatch):
    names = ["90.1", "90.2", "90.3"]
    root = course(tmp_path, chapter({name: live_exercise(name) for name in names}))
    right = "def f(x): return x * x"
    slow = f"import time\ntime.sleep(4)\n{right}"
    monkeypatch.setattr("classroom.run.verdict.ALL_CELLS", 0.6)
    answers = {"90.1": [right], "90.2": [slow], "90.3": [right]}
    found = run_answers(pristine(root), answers, 5)
    assert [found[name].status for name in names] == ["passed", "slow", "slow"]
    assert "all cells before it took 3 s together" in found["90.3"].message


@pytest.fixture
def root(tmp_path, no_kernel):
    """A course whose answers run in this process."""
    return course(tmp_path)


def check(root, what, capsys):
    code = check_command(what, root)
    out = capsys.readouterr().out
    assert "Traceback" not in out
    assert max(map(len, out.splitlines())) <= 80
    return code, out


def test_right_answers_pass_and_the_notebook_is_left_alone(tmp_path, capsys):
    root = course(tmp_path)
    fill(learner(root), RIGHT)
    (root / ".minigrad").mkdir()  # odd results of earlier checks are forgotten
    (root / ".minigrad" / "results.json").write_text('{"90.1": []}')
    before = learner(root).read_bytes(), learner(root).stat().st_mtime_ns
    code, out = check(root, None, capsys)
    assert code == 0 and out.count("passed") == 3
    assert (learner(root).read_bytes(), learner(root).stat().st_mtime_ns) == before
    assert sorted(p.name for p in learner(root).parent.iterdir()) == ["90_sample.ipynb"]


def test_wrong_and_blank_say_what_and_where_help_is(root, capsys):
    """The check cells that the learner has edited or deleted do not matter."""
    notebook = fill(learner(root), {"90.1": "def double(x): return x"})
    sample.cell_of(notebook, "check-90-1")["source"] = "print('90.1 passed')"
    write_notebook(learner(root), notebook)
    code, out = check(root, "90", capsys)
    assert code == 1 and "double(4): your answer: 4" in out
    assert "Hint 1 of exercise 90.1" in out
    assert out.count("not yet filled in") == 2 and "save the notebook" in out
    fill(learner(root), {"90.1": "def double(x): return 3 * x"})
    code, out = check(root, "90.1", capsys)
    assert code == 1 and "Hint 2 of exercise 90.1" in out and "90.2" not in out
    assert "save the notebook" not in out
    assert "save the notebook" in check(root, "90.1", capsys)[1]  # nothing has changed


def test_a_syntax_error_is_pythons_own_message_without_a_hint(root, capsys):
    fill(learner(root), {"90.1": "def double(x)\n    return 2 * x"})
    code, out = check(root, "90.1", capsys)
    assert code == 1 and "SyntaxError: expected ':' (line 1)" in out
    assert "Hint" not in out and "Python" not in out


def test_hints_that_are_named_by_what_one_sees_are_not_counted_off(
    no_kernel, tmp_path, capsys
):
    seen = "<details><summary>Hint 1: it is too small</summary>"
    root = course(tmp_path, chapter({"90.1": exercise("90.1", statement=seen)}))
    for factor in ("1", "3"):
        fill(learner(root), {"90.1": f"def double(x): return {factor} * x"})
        _, out = check(root, "90.1", capsys)
        assert "Help: the hints of 90.1, below its text, are named after the" in out
        assert "Hint 1" not in out and "Hint 2" not in out
    exams = [
        each.exercises for each in all_chapters(ROOT) if each.number in (6, 10, 15)
    ]
    for each in [*exams[0].values(), *exams[1].values()]:
        assert "solution" not in next_hint(each, each.hints + 1), each.name


def test_a_mistake_that_is_known_names_the_hint_that_helps(no_kernel, tmp_path, capsys):
    notebook = chapter()
    about = notebook["metadata"]["minigrad"]["exercises"]
    about["90.1"]["helps"] = {"your answer: 4": 3}
    root = course(tmp_path, notebook)
    for factor, hint in ("1", "Hint 3"), ("3", "Hint 2"):
        fill(learner(root), {"90.1": f"def double(x): return {factor} * x"})
        assert f"Help: {hint} of exercise 90.1" in check(root, "90.1", capsys)[1]
    hints = {n: e.hints for c in all_chapters(ROOT) for n, e in c.exercises.items()}
    known = {n: e.helps for c in chapters() for n, e in c.exercises.items() if e.helps}
    assert len(known) > 9
    for name, helps in known.items():
        assert all(1 <= hint <= hints[name] for hint in helps.values()), name


def test_a_solution_is_shown_after_three_tries_or_the_learners_own(root, capsys):
    assert "of 90.1 is not in this course" in refused(solution_command, "90.1", root)
    notebook = fill(pristine(root), RIGHT)
    beside = {"90.1": {"Another way": "double = (2).__mul__"}}
    notebook["metadata"]["minigrad"]["beside"] = beside
    (root / "solutions").mkdir()
    write_notebook(root / "solutions" / pristine(root).name, notebook)
    write_notebook(pristine(root), chapter())
    for tries, factor in enumerate(["none", "1", "1", "3"]):
        if factor != "none":
            fill(learner(root), {"90.1": f"def double(x): return {factor} * x"})
            check(root, "90.1", capsys)
        assert solution_command("90.1", root) == 1
        told = " ".join(capsys.readouterr().out.split())
        judged = max(0, tries - (tries > 1))  # the same answer again is no other try
        had = f"You have made {judged or 'none'} so far, with {3 - judged} to go."
        assert had in told
        assert f"hint 90.1 {judged + 1}" in told and RIGHT["90.1"] not in told
    notes.write_note(root, "90.1", "as a notebook knows it", notes.TRIED)
    assert solution_command("90.1", root) == 0
    told = capsys.readouterr().out
    assert RIGHT["90.1"] in told and "# Another way\n\ndouble = (2)." in told
    fill(learner(root), RIGHT)
    check(root, "90.2", capsys)
    assert solution_command("90.2", root) == 0 and solution_command("90.3", root) == 1


def test_an_answer_in_the_checks_cell_is_told_so(root, capsys):
    notebook = fill(learner(root), {"90.2": RIGHT["90.2"]})
    check_cell = sample.cell_of(notebook, "check-90-1")
    check_cell["source"] = RIGHT["90.1"] + "\n" + check_cell["source"]
    sample.cell_of(notebook, "check-90-3")["source"] += "\nx = 1"
    write_notebook(learner(root), notebook)
    code, out = check(root, "90", capsys)
    assert code == 1 and out.count("not yet filled in") == 2
    assert out.count("seems to be in the check's cell") == 1


def test_an_answer_in_another_cell_or_a_lost_cell_is_told_so(root, capsys):
    notebook = fill(learner(root), {"90.2": RIGHT["90.2"]})
    sample.cell_of(notebook, "answer-90-2")["source"] += "\n\n" + RIGHT["90.1"]
    lost = sample.cell_of(notebook, "answer-90-3")
    notebook["cells"].remove(lost)
    write_notebook(learner(root), notebook)
    code, out = check(root, "90", capsys)
    assert code == 1 and out.count("not yet filled in") == 2
    assert out.count("seems to be in the cell of another exercise") == 1
    assert "Its answer cell is missing. `python3 course.py reset 90.3` puts it" in out


def test_an_answer_in_a_cell_of_text_is_told_so(root, capsys):
    """The key m makes one of a cell; so does a menu."""
    notebook = fill(learner(root), {"90.1": RIGHT["90.1"]})
    cell = sample.cell_of(notebook, "answer-90-1")
    cell["cell_type"] = "markdown"
    write_notebook(learner(root), notebook)
    for what in (None, "90", "90.1"):
        code, out = check(root, what, capsys)
        assert code == 1 and out.count("An answer seems to be in a text cell") == 1
    cell["cell_type"] = "code"
    write_notebook(learner(root), notebook)
    code, out = check(root, "90.1", capsys)
    assert code == 0 and "cell" not in out


def test_a_renamed_notebook_of_an_older_jupyter(root, capsys):
    notebook = sample.strip_labels(fill(learner(root), RIGHT))
    path = learner(root).rename(root / "exercises" / "내 답.ipynb")
    write_notebook(path, notebook)
    code, out = check(root, str(path), capsys)
    assert code == 0 and out.count("passed") == 3
    assert find("90.3", all_chapters(root), root)[0] == path


def test_a_name_that_no_cell_above_the_check_gives_is_told_of(root, capsys):
    notebook = fill(learner(root), {"90.1": "def f(x):\n    return two\nf(1)"})
    notebook["cells"].append(sample.code("my-two", "two = 2"))
    write_notebook(learner(root), notebook)
    code, out = check(root, "90.1", capsys)
    assert code == 1 and "No cell above the check gives `two` a value" in out


def test_a_magic_that_takes_the_whole_cell_is_told_of(root, capsys):
    magics = "%%timeit", "%%writefile a.py", "%%nope"
    fill(learner(root), {n: f"{m}\n{RIGHT[n]}" for n, m in zip(RIGHT, magics)})
    code, out = check(root, "90", capsys)
    for magic in magics:
        assert code == 1 and f"`{magic.split()[0]}` changes what the whole cell" in out


def test_a_magic_that_leaves_the_answer_as_it_is_is_passed_over(tmp_path):
    """Also in a page of the package, which is live then."""
    head = "# minigrad/rules/pointwise.py\ndef masked(g, mask):\n    "
    cells = {name: exercise(name) for name in RIGHT}
    cells["90.4"] = exercise("90.4", head + BLANK)
    cells["90.4"][-1]["source"] = (
        "from minigrad.rules import pointwise as ops\n"
        "from classroom.checks import check, expect\n"
        "with check('90.4'):\n    expect('masked(1, 2)', ops.masked(1, 2), 3)\n"
    )
    made = chapter(cells)
    made["cells"][1]["source"] += "\nimport classroom.live"
    magics = "%%time", "%%capture", "!echo hi\n%precision 3"
    answers = {n: [f"{m}\n{RIGHT[n]}"] for n, m in zip(RIGHT, magics)}
    answers["90.4"] = [f"{head}return g + mask\n%precision 3"]
    found = run_answers(pristine(course(tmp_path, made)), answers, 20)
    assert {n: found[n].message for n in found if found[n].status != "passed"} == {}


def cells_above():
    """Yield each case of cells_above.md: its name; a cell, and an answer to it."""
    text = Path(__file__).with_name("cells_above.md").read_text("utf-8")
    for heading, body in sections(text, "## "):
        above, answer = re.findall(r"```python\n(.*?)\n```", body, re.DOTALL)
        yield heading, (above, answer)


ALONG = dict(cells_above())


@pytest.mark.parametrize("case", ALONG)
@pytest.mark.parametrize("place", ["own", "setup"])
def test_what_an_answer_needs_of_cells_above_comes_along(root, case, place):
    above, answer = ALONG[case]
    notebook = fill(learner(root), {"90.1": answer})
    if place == "own":
        notebook["cells"].insert(0, sample.code("mine", above))
    else:
        setup = sample.cell_of(notebook, "setup")
        setup["source"] = f"{above}\n{setup['source']}"
    names = {"PI": 3}
    for source in Learner(notebook, Chapter(pristine(root))).answers()["90.1"]:
        exec(source, names)
    assert names["double"](4) == 8


def test_ctrl_c_ends_a_check_in_one_line(root, capsys, monkeypatch):
    fill(learner(root), RIGHT)
    interrupted = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("classroom.learner.check.report", interrupted)
    monkeypatch.setattr(commands, "run", lambda words: check_command("90", root))
    monkeypatch.setattr("signal.signal", Mock())  # or later tests would ignore Ctrl-C
    with pytest.raises(SystemExit) as ended:
        commands.main()
    said = capsys.readouterr().err.split("\n")
    assert ended.value.code == 130 and said == ["", commands.STOPPED, ""]


def test_a_line_of_the_blank_that_was_left_does_not_count_or_is_named(root, capsys):
    left = 'raise NotImplementedError("fill this in")\n'
    fill(learner(root), RIGHT | {"90.2": left + RIGHT["90.2"]})
    assert check(root, "90", capsys)[0] == 0
    fill(learner(root), {"90.2": f"if True:\n    {left}{RIGHT['90.2']}"})
    code, out = check(root, "90", capsys)
    assert code == 1 and "Remove this line" in " ".join(out.split())


def test_a_lesson_is_not_taken_for_exercises():
    lesson = Path(__file__).parents[2] / "notebooks" / "04_blame.ipynb"
    said = sample.refused(check_command, str(lesson))
    assert (
        "04_blame.ipynb is a lesson. Its exercises are in exercises/04_blame.ipynb"
        in said
    )


def test_a_cell_of_the_chapter_that_fails_is_not_called_an_answer(root, capsys):
    notebook = read_notebook(pristine(root))
    sample.cell_of(notebook, "setup")["source"] = "import no_such_module"
    write_notebook(pristine(root), notebook)
    fill(learner(root), RIGHT)
    code, out = check(root, "90", capsys)
    assert code == 1 and out.count("the chapter's own") == 3


def test_nothing_filled_in(root, capsys):
    code, out = check(root, None, capsys)
    assert code == 1 and out.startswith("Nothing is filled in yet. If you have written")
    code, out = check(root, "90", capsys)
    assert code == 1 and out.count("not yet filled in") == 3


@pytest.mark.parametrize(
    "what, words",
    [
        ("91", "There is no chapter 91"),
        ("90.7", "There is no exercise 90.7. Chapter 90 has 90.1, 90.2, 90.3."),
        ("banana", "There is no chapter banana"),
        ("exercises/x.ipynb", "There is no notebook"),
        ("exercises/other.ipynb", "contains no exercise that was asked for"),
        ("exercises/empty.ipynb", "is empty"),
    ],
)
def test_what_cannot_be_checked(root, what, words):
    (root / "exercises" / "empty.ipynb").touch()
    other = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write_notebook(root / "exercises" / "other.ipynb", other)
    assert words in sample.refused(check_command, what, root)


def test_an_unreadable_notebook_does_not_hide_the_others(no_kernel, tmp_path, capsys):
    other = chapter({"91.1": exercise("91.1", STUB)}, slug="91_other")
    root = course(tmp_path, chapter(), other)
    fill(learner(root), RIGHT)
    learner(root, "91_other").write_text("<<<<<<< HEAD\n{}\n")
    code, out = check(root, None, capsys)
    assert (
        code == 2
        and out.count("passed") == 3
        and "conflict markers of a git merge" in out
    )


def test_nbval_fails_where_a_check_is_blank_or_wrong_and_begins_with_what_it_says(root):
    wrong = {"90.1": "def double(x): return x", "90.3": RIGHT["90.3"]}
    notebook = fill(learner(root), wrong)
    check = cell_of(notebook, "check-90-1")
    check["metadata"]["tags"] = ["check"]
    check["source"] = f"# Check of 90.1\n{check['source']}\n" + "0\n" * 60
    write_notebook(learner(root), notebook)
    said = sample.nbval(learner(root), "-p classroom.run.references --nbval-lax")
    assert "2 failed, 5 passed" in said  # the check cells of 90.1 and 90.2
    report = said[said.index("Notebook cell execution failed") :]
    assert re.match(r".*\n.*Cell \d+: .*your answer: 4\n\n.*Input", report), said
    assert "0\n0\n" not in report


def test_what_people_type_names_chapters():
    known = all_chapters(ROOT)
    assert several(["4-6", "3,1", "4"], known) == ["4", "5", "6", "3", "1"]
    assert several(["my, 1-2.ipynb"], known) == ["my, 1-2.ipynb"]
    for word in "4", "04_blame", "04_blame.ipynb", "blame", "Blame":
        assert find(word, known, ROOT)[1].number == 4
    for word in "in-place", "In place":
        assert find(word, known, ROOT)[1].number == 13
    assert find(" 4.2 ", known, ROOT)[2] == "4.2"
    with pytest.raises(Unreadable, match="There are no chapters 90-95"):
        several(["90-95"], known)


def test_several_chapters_are_checked_at_once(root, capsys):
    fill(learner(root), RIGHT)
    assert check_command(["90", "90.1"], root) == 0
    out = capsys.readouterr().out
    assert out.count("90.1") == 2 and out.count("90.2") == 1


class Slow:
    """Garbage that lets another thread run while it is collected."""

    def __init__(self):
        self.me = self

    def __del__(self):
        sum(range(20_000))


def parsed(depth):
    """Parse some text, as deep in the stack as is said."""
    if depth:
        return parsed(depth - 1)
    for _ in range(20):
        garbage = [Slow() for _ in range(20)]
        del garbage
        ast.parse("f(a + b)\n" * 1000)


def test_two_threads_may_parse_at_once():
    """In Python 3.11.0 to 3.11.7 they disturb each other: a rare SystemError."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(parsed, (0, 20)))


def test_modules_that_an_answer_imports_are_found_wherever_it_does():
    text = "import os.path, mine\ndef f():\n    from .his import x, y\n"
    text += "    from ours.a import b"
    assert imported(text) == {"os", "mine", "his", "ours"}
    assert imported("import mine\n1 +") == set()
