"""Every blank fails, every wrong answer is refused, every right one passes.

The k-th variant of all exercises of a chapter is judged as a learner's notebook would
be. The variants follow each other in one kernel, each on the package's own definitions.
Then drawn inputs have to notice each wrong answer by themselves.
"""

import builtins
import keyword
import re
from collections import defaultdict

import pytest

from classroom import ROOT
from classroom.author.build import PRISTINE
from classroom.author.chapters import chapters
from classroom.author.printed import drawn_cell
from classroom.cell.asked import assigned, names_read
from classroom.cell.drawn import PUBLIC
from classroom.cell.namespaces import GIVEN
from classroom.learner.check import next_hint
from classroom.notebook.files import code_cell
from classroom.notebook.pristine import Chapter
from classroom.run.judge import drawn_cells, run_answers, run_notebook
from classroom.run.roles import notebook_to_run
from classroom.run.verdict import result

CELL_TIMEOUT = 20  # seconds
SEEDS = PUBLIC, "one", "two", "three"
RESTORE = f"""\
{GIVEN}
import classroom.cell.pages as live
live._on_trial[:0], live._kept[:] = live._kept, []
live.restore()"""
HASHED = """\
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as said:
    {}
print(__import__("zlib").crc32(said.getvalue().encode()))"""
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


def ran(built, runs):
    """Return the events of each of some runs of cells, and the last output.

    All run in one kernel, each on the package's own definitions.
    """
    cells = []
    for k, run in enumerate(runs):
        for cell in [*run, code_cell("restore", RESTORE, {"exercise": "", "role": ""})]:
            place = cell["metadata"]["minigrad"]
            name = f"{k} {place['exercise'] or ''}"
            metadata = {**cell["metadata"], "minigrad": {**place, "exercise": name}}
            cells.append({**cell, "id": f"{k}-{cell['id']}", "metadata": metadata})
    notebook = {**built.notebook, "cells": cells}
    events, said = run_notebook(notebook, CELL_TIMEOUT, ROOT / PRISTINE)
    found = defaultdict(list)
    for event in events:
        k, name = event["exercise"].split(" ")
        found[int(k)].append({**event, "exercise": name or None})
    return [found[k] for k, _ in enumerate(runs)], said


def drawn_run(exercise, seed, answer):
    """Return an answer, and a cell that hashes what is printed for drawn inputs."""
    place = {"exercise": exercise.name, "role": "answer"}
    hidden = drawn_cell(exercise.name, exercise.drawn, seed) | {"execution_count": 1}
    hidden["source"] = HASHED.format(hidden["source"])
    hidden["metadata"]["tags"] = ["nbval-check-output"]  # no output, so all is told
    return [code_cell("answer", answer, place), hidden]


def test_what_is_right_passes_and_what_is_wrong_is_refused_with_its_message(chapter):
    skip_without(chapter.missing)
    exercises = chapter.exercises
    built = Chapter(path := ROOT / PRISTINE / f"{chapter.slug}.ipynb")
    right, wrong = variants(chapter, "right"), variants(chapter, "wrong")
    sets = [{name: ex.blank for name, ex in exercises.items()}]
    sets += [{name: ex.solved for name, ex in exercises.items()}]
    sets += [{n: answer for n, (_, answer) in v.items()} for v in right + wrong]
    sets, drawn = [*sets, shadowed(chapter)], drawn_cells(path)
    runs = []
    for k, answers in enumerate(sets):
        parts = {n: answer.split(NEXT_CELL) for n, answer in answers.items()}
        met = drawn if 0 < k < len(right) + 2 else {}  # the solution and right answers
        cells = notebook_to_run(built, parts, met)["cells"]  # what is given, once
        for cell in cells if k == 1 else ():  # all that the solutions show
            tags = ["nbval-check-output"] if cell["outputs"] else []
            cell["metadata"] = {**cell["metadata"], "tags": tags}
        again = [] if not k else [""] if k == 1 else ["", "shown"]  # left out
        roles = [cell["metadata"]["minigrad"]["role"] for cell in cells]
        runs.append([c for c, role in zip(cells, roles) if role not in again])
    tries = [
        (name, kind, drawn_run(ex, seed, answer))
        for name, ex in exercises.items()
        for kind, seed, answer in [
            *((title, PUBLIC, wrong) for title, wrong in ex.wrong.items()),
            *(("", seed, ex.solved) for seed in SEEDS),
        ]
    ]
    last = runs.pop()  # leaves names spoilt
    events, said = ran(built, [*runs, *(run for *_, run in tries), last])
    judged = [
        {name: result(name, found, CELL_TIMEOUT, said) for name in answers}
        for found, answers in zip([*events[: len(runs)], events[-1]], sets)
    ]
    assert not [each for each in events[1] if each["failed"]], "a solution, or below it"
    blank, solved, *judged, spoilt = judged
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
                told = next_hint(built.exercises[name], 1, results[name].message)
                assert f"Hint {hint} of" in told, f"{name} '{title}': {told}"
            assert_what_is_marked_differs(results[name].message)
    printed = defaultdict(list)
    for (name, title, _), found in zip(tries, events[len(runs) :]):
        texts = [event.get("got", "") for event in found if event["role"] == "hidden"]
        printed[name, title] += texts or ["the answer stopped"]
    for (name, title), texts in printed.items():
        right = printed[name, ""]
        assert not title or texts[0] != right[0], f"{name} '{title}' is not noticed"
        differ = len({*right}) == len(SEEDS) or not exercises[name].points
        assert differ, f"{name}: what some seeds print can be guessed"


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
