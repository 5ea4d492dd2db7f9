"""`break` puts in a recorded mistake, which shows; and all of it comes back."""

import json
import signal
from contextlib import closing, suppress
from itertools import islice
from unittest.mock import Mock

import pytest

from classroom import ROOT
from classroom.author.build import PRISTINE
from classroom.author.chapters import chapters
from classroom.learner import breaking, broken
from classroom.learner.breaking import break_command, symptoms_of
from classroom.learner.broken import STATE, read_state
from classroom.learner.check import check_command
from classroom.learner.find import open_learner
from classroom.learner.help import hint_command
from classroom.learner.mistaken import lines_of, slips, with_mistake
from classroom.learner.progress import progress_command
from classroom.learner.results import Memory
from classroom.learner.symptoms import ERROR, outputs
from classroom.notebook.files import read_notebook, write_notebook
from classroom.notebook.pristine import Chapter, id_of
from classroom.run.verdict import Result
from tests.course.sample import cell_of, fill, refused

OFFERED = 230  # mistakes at least
PLACE = "exercises/05_diamonds.ipynb"


def code_of(source):
    return [line.text for line in lines_of(source)]


class Endless(BaseException):
    """The code of a symptom did not end, so `break` does not offer the mistake."""


def first_shown(chapter, answers, codes, before):
    """Return the number of the first symptom that shows, or None."""

    def stop(*words):
        raise Endless

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2)
    try:
        with closing(outputs(chapter, answers, codes)) as now:
            pairs = enumerate(zip(before, now))
            return next((n for n, (old, new) in pairs if old != new), None)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.posix
def test_mistakes_show_in_the_solution_and_in_other_right_answers():
    """A broken solution is the wrong answer that test_answers.py has refused."""
    offered = elsewhere = 0
    for chapter in chapters()[3:25]:
        built = Chapter(ROOT / PRISTINE / f"{chapter.slug}.ipynb")
        exercises = chapter.exercises
        for name, exercise in exercises.items():
            symptoms = symptoms_of(built.exercises[name])
            if not symptoms:
                continue
            above = [*exercises][: [*exercises].index(name)]
            earlier = {each: [exercises[each].solved] for each in above}
            codes = [symptom.code for symptom in symptoms]
            solved = exercise.solved
            before = [*outputs(built, {**earlier, name: [solved]}, codes)]
            good = [n for n, text in enumerate(before) if ERROR not in text]
            codes, before = ([each[n] for n in good] for each in (codes, before))
            assert codes, f"{name}: no symptom can be seen without an error"
            for title, wrong in exercise.wrong.items():
                worse = with_mistake(solved, solved, wrong)
                if worse is None:
                    continue
                assert code_of(worse.source) == code_of(wrong), f"{name} {title}"
                answers = {**earlier, name: [worse.source]}
                shown = first_shown(built, answers, codes, before)
                offered += shown is not None
                for right in exercise.right.values() if shown is not None else ():
                    if other := with_mistake(right, solved, wrong):
                        answers = {**earlier, name: [other.source]}
                        some = codes[: shown + 1], before[: shown + 1]
                        with suppress(Endless):
                            again = first_shown(built, answers, *some)
                            assert again is not None, f"{name} {title}"
                            elsewhere += 1
            answers = {**earlier, name: [solved]}
            assert [*outputs(built, answers, codes)] == before, f"{name} is spoilt"
    assert offered >= OFFERED and elsewhere >= 150


OURS = """\
def total(numbers, factor=1):
    \"\"\"Return a sum.\"\"\"
    result = 0
    for number in numbers:
        result += factor * number
    return result"""
WRONG = OURS.replace("result += factor * number", "result = factor * number")
THEIRS = """\
def total(xs: list, factor=1) -> float:
    # my own way
    s = 0

    for x in xs:
        s += factor * x  # add up
    return s"""


def test_a_mistake_comes_in_the_learners_names_and_leaves_the_rest():
    found = with_mistake(THEIRS, OURS, WRONG)
    line = "s += factor * x  # add up"
    assert found.source == THEIRS.replace(line, "s = factor * x")
    assert (found.place, found.line) == ("total", "s = factor * x")


@pytest.mark.parametrize(
    "answer",
    [
        "def total(xs, factor=1):\n    return factor * sum(xs)",
        THEIRS.replace("factor * x", "factor * s"),  # not the same variable
        THEIRS.replace("total", "sum_of"),
        THEIRS + "\n    return (",
        THEIRS.replace("for x in xs:\n        s", "for x in xs: s"),
    ],
)
def test_an_answer_that_is_too_different_gets_no_mistake(answer):
    assert with_mistake(answer, OURS, WRONG) is None


def test_what_is_left_out_is_told_by_the_line_before_it():
    wrong = OURS.replace("    result = 0\n", "")
    assert with_mistake(THEIRS, OURS, wrong).line == "# my own way"
    long = "def total(numbers, factor=1):\n" + "    print(numbers)\n" * 7
    assert with_mistake(OURS, OURS, long) is None


def test_an_answer_of_another_kind_gets_a_slip_into_one_of_its_lines():
    answer = THEIRS.replace("return s", "self.s = s - 1\n    return s")
    found = [(each.place, each.line) for each in slips(answer)]
    lines = "s = factor * x", "s += factor * x  # add up", "self.s = s + 1"
    assert found == [("total", line) for line in lines]  # the second leaves one out


# The command


@pytest.fixture
def root(course):
    """A course in which the answers of chapter 5 are known to pass."""
    (course / "solutions").symlink_to(ROOT / "solutions")
    solved = chapters()[5].exercises
    place = course / PLACE
    write_notebook(place, read_notebook(ROOT / PRISTINE / place.name))
    fill_ids = {id_of("answer", n): e.solved for n, e in solved.items()}
    notebook = read_notebook(place)
    for label, source in fill_ids.items():
        cell_of(notebook, label)["source"] = source
    place.write_text(json.dumps(notebook))  # not as Jupyter writes it
    chapter, memory = Chapter(ROOT / PRISTINE / place.name), Memory(course)
    answers = open_learner(place, [chapter]).answers()
    memory.remember(chapter, answers, dict.fromkeys(answers, Result("passed")))
    memory.save()
    return course


def test_break_hint_fix_check(root, capsys):
    assert break_command(["5.3"], "a seed", root=root) == 0
    said = capsys.readouterr().out
    assert "Symptom: " in said and "5.3" not in said and "Backward(" not in said
    found = read_state(root)["active"]["5.3"]
    assert found["before"] != found["now"]
    for number in (1, 2, 3):
        assert hint_command(None, root=root) == 0
        assert capsys.readouterr().out.count("Hint ") == number
    assert break_command(["9.1"], root=root) == 0
    assert "already" in capsys.readouterr().out
    progress_command(root)
    said = capsys.readouterr().out
    assert "+ + +" in said and broken.BROKEN in said
    assert check_command("5.3", root=root) == 1
    assert "Well done" not in capsys.readouterr().out
    label = id_of("answer", "5.3")
    fixed = chapters()[5].exercises["5.3"].solved + "\n# fixed"
    notebook = read_notebook(root / PLACE)
    cell_of(notebook, label)["source"] = fixed
    write_notebook(root / PLACE, notebook)
    assert check_command("5.3", root=root) == 0
    assert "Well done!" in capsys.readouterr().out
    assert break_command(stop_it=True, root=root) == 0
    assert "No answer is broken." in capsys.readouterr().out
    assert fixed in [cell["source"] for cell in read_notebook(root / PLACE)["cells"]]


@pytest.fixture
def refuses(monkeypatch):
    """Believe that the check refuses each mistake, and that one symptom shows."""
    told = [("Words", "code", "before", "now")]
    monkeypatch.setattr(breaking, "seen", lambda *tasks: told)
    wrong = {f"5.{n}": Result("wrong") for n in (1, 2, 3)}
    monkeypatch.setattr(breaking.Task, "run", lambda task: wrong)


def test_stop_puts_back_each_byte_or_else_the_answer_alone(root, refuses, capsys):
    before = (root / PLACE).read_bytes()
    break_command(["5.2", "5.3"], "a seed", root=root)
    first = read_state(root)
    assert (root / PLACE).read_bytes() != before and len(first["active"]) == 2
    break_command(stop_it=True, root=root)
    assert (root / PLACE).read_bytes() == before
    break_command(["5.2", "5.3"], "a seed", root=root)
    again = read_state(root)["active"]
    assert [each["source"] for each in again.values()] == [
        each["source"] for each in first["active"].values()
    ]
    notebook = read_notebook(root / PLACE)
    cell_of(notebook, id_of("answer", "5.1"))["source"] += "\n# better"
    cell_of(notebook, id_of("answer", "5.3"))["source"] = "def tried(): ..."
    cell_of(notebook, id_of("check", "5.3"))["source"] += "\n# looked at"
    write_notebook(root / PLACE, notebook)
    capsys.readouterr()
    break_command(stop_it=True, root=root)
    said = capsys.readouterr().out
    assert "5.2 and 5.3 is as it was" in said and "had changed or deleted: 1." in said
    old, new = json.loads(before), read_notebook(root / PLACE)
    both = zip(old["cells"], new["cells"], strict=True)
    changed = [a["id"] for a, b in both if a["source"] != b["source"]]
    assert changed == [id_of("answer", "5.1")]
    kept = [path.read_text() for path in (root / "exercises/kept").iterdir()]
    assert any("def tried()" in text for text in kept)
    break_command(["5.3"], root=root)
    (root / PLACE).write_text("{")
    break_command(stop_it=True, root=root)
    assert read_notebook(root / PLACE) == new


def test_a_break_that_was_killed_can_be_stopped(root, refuses, monkeypatch):
    before = (root / PLACE).read_bytes()
    for step, active in {"write_state": False, "write_notebook": True}.items():
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(broken, step, Mock(side_effect=KeyboardInterrupt))
            break_command(["5.3"], root=root)
        assert (root / PLACE).read_bytes() == before
        assert bool(read_state(root)["active"]) == active
    break_command(stop_it=True, root=root)
    assert (root / PLACE).read_bytes() == before


def test_another_exercise_comes_next(root, refuses):
    seen = []
    for _ in range(4):
        break_command(root=root)
        seen += read_state(root)["active"]
        break_command(stop_it=True, root=root)
    assert all(one != other for one, other in zip(seen, islice(seen, 1, None)))
    assert {*seen} <= {"5.2", "5.3"}


def test_what_cannot_be_broken(root, refuses, capsys):
    before = (root / PLACE).read_bytes()
    assert "no exercise 5.9" in refused(break_command, ["5.9"], root=root)
    assert "Name another" in refused(break_command, ["5.1"], root=root)
    assert "check 9.1" in refused(break_command, ["9.1"], root=root)
    assert "has passed yet" in refused(break_command, ["9"], root=root)
    fill(root / PLACE, {"5.3": "x = 1"})
    assert "check 5.3" in refused(break_command, ["5.3"], root=root)
    (root / PLACE).write_bytes(before)
    (root / "chapters").unlink()
    assert "get a clone" in refused(break_command, ["5.3"], root=root)
    assert "Name one exercise" in refused(hint_command, None, root=root)
    assert not (root / STATE).exists() and (root / PLACE).read_bytes() == before
