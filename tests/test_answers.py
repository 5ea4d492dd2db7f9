"""Every blank fails, every wrong answer is refused, every right one passes.

The k-th variant of all exercises of a chapter runs in one kernel, as a learner's
notebook would.
"""

from copy import deepcopy

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from classroom.build import PRISTINE, SETUP
from classroom.chapters import ROOT, chapters
from classroom.check import run_answers

CHAPTERS = chapters()
CELL_TIMEOUT = 20  # seconds


def variants(kind):
    """Yield (chapter, {exercise: (title, answer)}) for each k-th wrong or right one."""
    for chapter in CHAPTERS:
        lists = {
            n: list(getattr(ex, kind).items()) for n, ex in chapter.exercises.items()
        }
        for k in range(max(map(len, lists.values()))):
            chosen = {
                name: answers[k % len(answers)] for name, answers in lists.items()
            }
            yield pytest.param(chapter, chosen, id=f"{chapter.slug}-{k + 1}")


def judge(chapter, answers):
    pristine = ROOT / PRISTINE / f"{chapter.slug}.ipynb"
    return run_answers(pristine, answers, CELL_TIMEOUT)


@pytest.mark.parametrize(("chapter", "chosen"), variants("wrong"))
def test_wrong_answers_are_refused_with_their_message(chapter, chosen):
    results = judge(chapter, {name: [answer] for name, (_, answer) in chosen.items()})
    for name, (title, _) in chosen.items():
        message = chapter.exercises[name].refusal[title]
        assert results[name].status != "passed", f"{name} '{title}' passed"
        assert message in results[name].message, f"{name} '{title}'"


@pytest.mark.parametrize(("chapter", "chosen"), variants("right"))
def test_answers_written_differently_pass(chapter, chosen):
    results = judge(chapter, {name: [answer] for name, (_, answer) in chosen.items()})
    for name, (title, _) in chosen.items():
        assert results[name].status == "passed", f"'{title}': {results[name].message}"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_blanks_fail_and_solutions_pass(chapter):
    exercises = chapter.exercises.values()
    blank = judge(chapter, {ex.name: [ex.blank] for ex in exercises})
    assert "passed" not in {result.status for result in blank.values()}
    solved = judge(chapter, {ex.name: [ex.solved] for ex in exercises})
    assert {result.status for result in solved.values()} == {"passed"}, solved


def hidden_outputs(chapter, answers, seed=20):
    """Return what the hidden check of each exercise prints for the given answers."""
    cells = [SETUP, f"import random\n\nrng = random.Random({seed})"]
    setup = [c for c in chapter.exercise_cells if c.cell_type == "code"]
    cells += [c.source for c in setup if not {"answer", "check"} & set(c.metadata)]
    first = len(cells)
    for name, exercise in chapter.exercises.items():
        cells += [answers[name], f"rng.seed({seed})\n{exercise.hidden}"]
        cells.append("classroom.live.restore()")
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, timeout=CELL_TIMEOUT, allow_errors=True).execute(
        cwd=str(ROOT / "exercises")
    )
    shown = [deepcopy(cell.outputs) for cell in notebook.cells[first:]]
    return {
        name: "".join(o.get("text", o.get("ename", "")) for o in shown[3 * k + 1])
        for k, name in enumerate(chapter.exercises)
    }


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_hidden_checks_tell_right_from_wrong(chapter):
    exercises = chapter.exercises
    solved = {name: ex.solved for name, ex in exercises.items()}
    expected = hidden_outputs(chapter, solved)
    assert all(len(text) > 10 and "Error" not in text for text in expected.values())
    assert hidden_outputs(chapter, solved, seed=21) != expected
    for k in range(max(len(ex.right) for ex in exercises.values())):
        right = {
            n: list(ex.right.values())[k % len(ex.right)] for n, ex in exercises.items()
        }
        assert hidden_outputs(chapter, right) == expected
    for k in range(max(len(ex.wrong) for ex in exercises.values())):
        wrong = {
            n: list(ex.wrong.values())[k % len(ex.wrong)] for n, ex in exercises.items()
        }
        outputs = hidden_outputs(chapter, wrong)
        same = [name for name in exercises if outputs[name] == expected[name]]
        assert not same, f"wrong answer {k + 1} of {same} is not noticed"
