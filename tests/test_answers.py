"""Every blank fails, every wrong answer is refused, every right one passes.

The k-th variant of all exercises of a chapter runs in one kernel, as a learner's
notebook would.
"""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from classroom.build import PRISTINE, SETUP
from classroom.chapters import ROOT, chapters
from classroom.check import run_answers

CHAPTERS = chapters()
CELL_TIMEOUT = 20  # seconds


def variants(kind):
    """List (chapter, {exercise: (title, answer)}) for each k-th wrong or right one."""
    found = []
    for chapter in CHAPTERS:
        lists = {
            n: list(getattr(e, kind).items()) for n, e in chapter.exercises.items()
        }
        for k in range(max(map(len, lists.values()))):
            chosen = {
                name: answers[k % len(answers)] for name, answers in lists.items()
            }
            found.append(pytest.param(chapter, chosen, id=f"{chapter.slug}-{k + 1}"))
    return found


def skip_without(required):
    if required:
        pytest.skip(f"{required} is not installed")


def judge(chapter, answers):
    skip_without(chapter.missing)
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


def hidden_outputs(chapter, tries):
    """Return what the hidden checks print for each try, a pair (seed, answers).

    All tries run in one kernel, each on the package's own definitions.
    """
    setup = [c for c in chapter.exercise_cells if c.cell_type == "code"]
    cells = [SETUP, "import random"]
    cells += [c.source for c in setup if not {"answer", "check"} & set(c.metadata)]
    first = len(cells)
    for seed, answers in tries:
        for name, exercise in chapter.exercises.items():
            cells += [answers[name], f"rng = random.Random({seed})\n{exercise.hidden}"]
            cells.append("classroom.live.restore()")
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    client = NotebookClient(notebook, timeout=CELL_TIMEOUT, allow_errors=True)
    client.execute(cwd=str(ROOT / "exercises"))
    printed = [
        "".join(output.get("text", output.get("ename", "")) for output in cell.outputs)
        for cell in notebook.cells[first + 1 :: 3]
    ]
    size = len(chapter.exercises)
    return [printed[k : k + size] for k in range(0, len(printed), size)]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_hidden_checks_tell_right_from_wrong(chapter):
    skip_without(chapter.missing)
    exercises = chapter.exercises

    def tries(kind):
        lists = {n: list(getattr(ex, kind).values()) for n, ex in exercises.items()}
        for k in range(max(map(len, lists.values()))):
            yield (
                20,
                {name: answers[k % len(answers)] for name, answers in lists.items()},
            )

    solved = {name: ex.solved for name, ex in exercises.items()}
    right, wrong = list(tries("right")), list(tries("wrong"))
    plan = [(20, solved), (21, solved), *right, *wrong]
    expected, other, *outputs = hidden_outputs(chapter, plan)
    assert all(len(text) > 5 for text in expected) and expected != other
    for k, printed in enumerate(outputs[: len(right)]):
        assert printed == expected, f"right answers, variant {k + 1}"
    for k, printed in enumerate(outputs[len(right) :]):
        for name, text, reference in zip(exercises, printed, expected, strict=True):
            assert text != reference, f"{name}: wrong answer {k + 1} is not noticed"
