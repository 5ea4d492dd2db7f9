"""Every blank fails, every wrong answer is refused, every right one passes.

The k-th variant of all exercises of a chapter is judged as a learner's notebook would
be. The variants follow each other in one kernel, each on the package's own definitions.
"""

import builtins
import json
import keyword
import re
from collections import defaultdict

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom import ROOT
from classroom.author.build import DRAWN, PRISTINE
from classroom.author.chapters import chapters
from classroom.author.compose import SETUP
from classroom.cell.asked import names_read
from classroom.cell.drawn import PUBLIC, same_numbers
from classroom.cell.namespaces import GIVEN, assigned
from classroom.learner.check import next_hint
from classroom.notebook.pristine import Chapter
from classroom.run.judge import drawn_cells, run_answers, run_notebook
from classroom.run.kernels import Runner
from classroom.run.roles import notebook_to_run
from classroom.run.verdict import result

CELL_TIMEOUT = 20  # seconds
SEEDS = PUBLIC, "one", "two", "three"
RESTORE = f"""\
{GIVEN}
import classroom.cell.pages as live
live._on_trial[:0], live._kept[:] = live._kept, []
live.restore()"""
NEXT_CELL = "\n# %%\n"
CROSS = "\N{BALLOT X}"


def skip_without(required):
    if required:
        pytest.skip(f"{required} is not installed")


def variants(chapter, kind):
    """List {exercise: (title, answer)} for each k-th wrong or right answer."""
    lists = {n: list(getattr(ex, kind).items()) for n, ex in chapter.exercises.items()}
    most = range(max(map(len, lists.values())))
    return [{n: all_[k] for n, all_ in lists.items() if k < len(all_)} for k in most]


def shadowed(chapter):
    """Return the solutions, each followed by a cell that spoils the checks' names."""
    code = [c for c in chapter.exercise_cells if c.cell_type == "code"]
    course = [c.source for c in code if not c.metadata.get("answer")]
    solved = {name: ex.solved for name, ex in chapter.exercises.items()}
    names = set().union(*map(assigned, course), vars(builtins), ["__name__"])
    names -= {name for name in names if name.startswith("_")} | set(keyword.kwlist)
    names -= set().union(*map(names_read, solved.values()))
    names -= set().union(*map(assigned, solved.values()))
    assert "check" in names and names & {"expect", "examine"}
    spoilt = f"{NEXT_CELL}{' = '.join(sorted(names))} = None"
    return {name: answer + spoilt for name, answer in solved.items()}


def judge(slug, sets, solved):
    """Return {exercise: Result} for each set of answers, as `check` would find it.

    Only the set at the place `solved` meets the drawn inputs as well.
    """
    chapter = Chapter(path := ROOT / PRISTINE / f"{slug}.ipynb")
    cells = []
    for k, answers in enumerate(sets):
        parts = {n: answer.split(NEXT_CELL) for n, answer in answers.items()}
        chosen = notebook_to_run(
            chapter, parts, drawn_cells(path) if k == solved else {}
        )
        for cell in chosen["cells"]:
            place = cell["metadata"]["minigrad"]
            name = f"{k} {place['exercise'] or ''}"
            metadata = {**cell["metadata"], "minigrad": {**place, "exercise": name}}
            cells.append({**cell, "id": f"{k}-{cell['id']}", "metadata": metadata})
        after = new_code_cell(RESTORE, id=f"{k}-restore")
        after.metadata.minigrad = {"exercise": f"{k} ", "role": ""}
        cells.append(after)
    notebook = {**chapter.notebook, "cells": cells}
    events, said = run_notebook(notebook, CELL_TIMEOUT, ROOT / PRISTINE)
    found = defaultdict(list)
    for event in events:
        k, name = event["exercise"].split(" ")
        found[int(k)].append({**event, "exercise": name or None})
    return [
        {name: result(name, found[k], CELL_TIMEOUT, said) for name in answers}
        for k, answers in enumerate(sets)
    ]


def test_what_is_right_passes_and_what_is_wrong_is_refused_with_its_message(chapter):
    skip_without(chapter.missing)
    exercises = chapter.exercises
    built = Chapter(ROOT / PRISTINE / f"{chapter.slug}.ipynb").exercises
    right, wrong = variants(chapter, "right"), variants(chapter, "wrong")
    sets = [{name: ex.blank for name, ex in exercises.items()}]
    sets += [{name: ex.solved for name, ex in exercises.items()}]
    sets += [{n: answer for n, (_, answer) in v.items()} for v in right + wrong]
    sets += [shadowed(chapter)]
    blank, solved, *judged, spoilt = judge(chapter.slug, sets, solved=1)
    for name in exercises:
        assert blank[name].status == "blank", f"the blank of {name}: {blank[name]}"
        found = solved[name]
        assert found.status == "passed", f"the solution of {name}: {found}"
        found = spoilt[name]
        assert found.status == "passed", f"{name}, names of the check spoilt: {found}"
    for variant, results in zip(right, judged):
        for name, (title, _) in variant.items():
            found = results[name]
            assert found.status == "passed", f"{name} '{title}': {found.message}"
    for variant, results in zip(wrong, judged[len(right) :]):
        for name, (title, _) in variant.items():
            message = exercises[name].refusal[title]
            assert results[name].status != "passed", f"{name} '{title}' passed"
            assert message in results[name].message, f"{name} '{title}'"
            if hint := exercises[name].helps.get(message):
                told = next_hint(built[name], 1, results[name].message)
                assert f"Hint {hint} of" in told, f"{name} '{title}': {told}"
            assert_what_is_marked_differs(results[name].message)


def test_what_is_shown_below_a_check_may_need_another_exercise():
    chapter = chapters()[8]
    solved = {"8.3": [chapter.exercises["8.3"].solved]}  # the picture needs 8.1, too
    place = ROOT / PRISTINE / f"{chapter.slug}.ipynb"
    found = run_answers(place, solved, CELL_TIMEOUT, ROOT / "exercises")
    assert found["8.3"].status == "passed" and found["8.1"].status == "blank"


def assert_what_is_marked_differs(message):
    """In the graph or the array that a message shows, if it shows one."""
    if "In your graph: " in message:
        edge = re.search(rf"In your graph: .*{CROSS} (?:here|(.+), not (.+))", message)
        assert not edge[1] or edge[1] != edge[2], message
    elif f"{CROSS} your answer, of shape" in message:
        yours, right = re.findall(r"of shape (\(.*\)):$", message, re.MULTILINE)
        assert yours != right, message
    elif f"your answer, {CROSS} where it differs:\n" in message:
        text = message.partition(f"{CROSS} where it differs:\n")[2]
        tables = [re.split(r"\s{2,}", each.strip()) for each in text.split("expected:")]
        for mine, other in zip(*tables, strict=True):
            if "e-" not in mine + other:  # a number of nothing is as good as another
                assert (CROSS in mine) == (mine.removeprefix(f"{CROSS} ") != other)


def drawn_outputs(chapter, tries):
    """Return {exercise: what its drawn inputs print} for each try (seed, answers).

    All tries run in one kernel, each on the package's own definitions.
    """
    setup = [c for c in chapter.exercise_cells if c.cell_type == "code"]
    cells = [SETUP]
    given = [c.source for c in setup if not {"answer", "check"} & set(c.metadata)]
    cells += [f"{GIVEN}\n{source}" for source in given]
    first = len(cells)
    for seed, answers in tries:
        for name, answer in answers.items():
            draw = f"rng = __import__('random').Random('{seed} {name}')"
            draw = f"{draw}\n{chapter.exercises[name].drawn}\n# hidden check"
            cells += [answer, draw, "classroom.live.restore()"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    client = Runner(notebook, timeout=CELL_TIMEOUT, allow_errors=True)
    client.execute(cwd=str(ROOT / "exercises"))
    printed = (
        "".join(output.get("text", output.get("ename", "")) for output in cell.outputs)
        for cell in notebook.cells[first + 1 :: 3]
    )
    return [{name: next(printed) for name in answers} for _, answers in tries]


def test_drawn_inputs_tell_right_from_wrong(chapter):
    skip_without(chapter.missing)
    exercises = chapter.exercises
    solved = {name: ex.solved for name, ex in exercises.items()}
    right, wrong = (
        [(PUBLIC, {n: answer for n, (_, answer) in each.items()}) for each in tries]
        for tries in (variants(chapter, "right"), variants(chapter, "wrong"))
    )
    plan = [*((seed, solved) for seed in SEEDS), *right, *wrong]
    found = drawn_outputs(chapter, plan)
    printed, outputs = found[: len(SEEDS)], found[len(SEEDS) :]
    expected = printed[0]
    written = json.loads((ROOT / DRAWN / f"{chapter.slug}.json").read_text("utf-8"))
    for name, exercise in exercises.items():
        texts = [each[name] for each in printed]
        assert len(texts[0]) > 5
        differ = len(set(texts)) == len(SEEDS) or not exercise.points
        assert differ, f"{name}: what some seeds print can be guessed: {texts}"
        stored = "\n".join(written[name]["prints"])
        assert same_numbers(stored, texts[0].rstrip("\n")), f"{name}: build it"
    for k, printed in enumerate(outputs[: len(right)]):
        for name, text in printed.items():
            assert text == expected[name], f"{name}: right answer {k + 1}"
    for k, printed in enumerate(outputs[len(right) :]):
        for name, text in printed.items():
            assert text != expected[name], f"{name}: wrong answer {k + 1} passes"
