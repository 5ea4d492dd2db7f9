"""Put a bug into your own engine, and find it: `python3 course.py break`.

An answer that passes gets one of the recorded mistakes. The learner is told only a
symptom. `hint` narrows the place down, and `check` says when the bug is gone.
"""

import random
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.cell.solutions import solution_of
from classroom.learner.broken import read_state, stop, write
from classroom.learner.check import Task
from classroom.learner.find import find, notebook_of, notebooks_in, open_learner
from classroom.learner.mistaken import Broken, slips, with_mistake
from classroom.learner.progress import PASSED
from classroom.learner.results import Memory
from classroom.learner.symptoms import ERROR, Symptom, all_symptoms, outputs_elsewhere
from classroom.notebook.answers import Learner
from classroom.notebook.files import COURSE
from classroom.notebook.pristine import Exercise, all_chapters, id_of
from classroom.notebook.source_code import has_header

NO_CHAPTERS = (
    "This copy of the course was made for a class, and has no mistakes to put in. To "
    "use `break`, get a clone of the course, which has the folders chapters/ and "
    "solutions/. Copy your notebooks into its exercises/, and run `{} check` there."
)
NOT_OFFERED = "No recorded mistake of {} shows in a running engine. Name another one."
NOT_PASSED = "{0} has to pass before it can be broken. Run `{1} check {0}` first."
NOTHING = "No answer that can be broken has passed yet. Run `{} check` first."
DIFFERENT = (
    "Your answer to {} is too different from ours, so that no recorded mistake fits "
    "into it. Name another exercise."
)
BEGUN = """\
A bug is in your engine now. Find it in your notebooks in exercises/, and fix it. If
JupyterLab has one of them open, first choose File > Reload Notebook from Disk.
"""
ACTIVE = "A bug is in your engine already. Its symptom is the following.\n"
SYMPTOM = """\
Symptom: {words}.

This code shows it:

{code}
Before, it printed:

{before}

Now it prints:

{now}
"""
MOST_TRIED = 12  # answers with recorded mistakes, and as many with slips
STOPS = "A program that ran stops with an error now"
AFTER = """\
`check` says when the bug is gone. `hint`, without a number, says more about its place.
`{0} break --stop` puts your answer back as it was."""


def break_command(
    what: Sequence[str] = (), seed: str | None = None, stop_it=False, root: Path = ROOT
) -> int:
    """Break some exercises or one of some chapters, by default one of all; return 0.

    With `stop_it`, put back what was broken. Raises Trouble if nothing can be broken.
    """
    if stop_it:
        print("\n".join(stop(root)))
        return 0
    found = read_state(root)["active"]
    if found:
        print(ACTIVE)
        for name, each in found.items():
            each["now"] = printed_now(root, name, each)
    else:
        if not all((root / name).is_dir() for name in ("chapters", "solutions")):
            raise Trouble(NO_CHAPTERS.format(COURSE))
        with Console().status("Looking for a mistake that shows ..."):
            for word in what or [""]:
                rng = random.Random(f"{seed} {word}" if seed else None)
                found |= chosen(word, rng, root)
        write(root, found)
        print(BEGUN)
    for each in found.values():
        parts = {n: textwrap.indent(each[n], "    ") for n in ("code", "before", "now")}
        print(SYMPTOM.format(words=each["words"], **parts))
    print(AFTER.format(COURSE))
    return 0


def chosen(word: str, rng: random.Random, root: Path) -> dict[str, dict]:
    """Break one of the exercises that a word means; return the break by its name."""
    chapters, memory = all_chapters(root), Memory(root)
    _, chapter, only = find(word, chapters, root) if word else (None, None, None)
    there, passed, offered = notebooks_in(root, chapters), [], False
    for each in [chapter] if chapter else chapters:
        path = notebook_of(each, root, there)
        for name in [only] if only else each.exercises:
            if not symptoms_of(each.exercises[name]):
                continue
            offered, task = True, Task(path, there.get(path), name)
            if passes(task, memory):
                passed.append(task)
    if not offered:
        raise Trouble(NOT_OFFERED.format(word))
    if not passed:
        raise Trouble((NOT_PASSED if only else NOTHING).format(only or COURSE, COURSE))
    rng.shuffle(passed)
    passed.sort(key=lambda task: task.only == read_state(root)["last"])
    for task in passed:
        for found in breaks(task, rng, root):
            return {task.only: found}
    raise Trouble(DIFFERENT.format(only or "each exercise"))


def symptoms_of(exercise: Exercise) -> list[Symptom]:
    """Return the symptoms that an exercise may have, if it is part of the engine."""
    found = [each for each in all_symptoms() if each.may_show(exercise.name)]
    return [each for each in found if each.only or has_header(exercise.stub)]


def passes(task: Task, memory: Memory) -> bool:
    """Say whether the answer is known to pass as it is now."""
    if not isinstance(task.learner, Learner):
        return False
    cells = task.learner.answers().get(task.only)
    return bool(cells) and memory.standing(task.learner, task.only, cells) in PASSED


def mistakes_of(root: Path, slug: str, name: str, ours: str) -> list[str]:
    """Return the wrong answers to an exercise that chapters/ records."""
    from classroom.author.chapters import answer_in, sections, split_file

    (file,) = (root / "chapters" / slug).glob(f"{name.partition('.')[2]}_*.md")
    wrong = sections(split_file(file).get("Wrong answers", ""))
    return [answer_in(body, ours) for _, body in wrong]


def breaks(task: Task, rng: random.Random, root: Path) -> Iterator[dict[str, Any]]:
    """Yield the breaks of an exercise that show and that its check refuses."""
    learner, name, solution = task.learner, task.only, solution_of(root, task.only)
    if not solution:
        return
    wrong = mistakes_of(root, learner.chapter.slug, name, solution.ours)
    answer = id_of("answer", name)
    places = [n for n, label in enumerate(learner.labels) if label == answer]
    sources = {n: learner.cells[n]["source"] for n in places}
    for place, broken in broken_answers(sources, solution.ours, wrong, rng):
        source, cells = sources[place], [*learner.cells]
        cells[place] = {**cells[place], "source": broken.source}
        notebook = {**learner.notebook, "cells": cells}
        worse = Task(task.path, Learner(notebook, learner.chapter), name)
        shown = seen(task, worse)
        if shown and worse.run()[name].status not in ("passed", "blank", "ungraded"):
            words, code, before, now = rng.choice(shown)
            yield {
                "path": task.path.relative_to(root).as_posix(),
                "cell": [place, source],
                **{"words": words, "code": code, "before": before, "now": now},
                **broken._asdict(),
                "hints": 0,
            }


def broken_answers(
    sources: dict[int, str], ours: str, wrong: list[str], rng: random.Random
) -> Iterator[tuple[int, Broken]]:
    """Yield answers with a recorded mistake in them, and then some with a slip."""
    recorded = [
        (n, with_mistake(source, ours, text))
        for text in wrong
        for n, source in sources.items()
    ]
    slipped = [(n, each) for n, source in sources.items() for each in slips(source)]
    for several in recorded, slipped:
        rng.shuffle(several)
        fitting = [(n, broken) for n, broken in several if broken]
        fitting.sort(key=lambda each: changed(sources[each[0]], each[1].source) > 3)
        yield from fitting[:MOST_TRIED]


def changed(before: str, now: str) -> int:
    """Return how many lines are in one of two texts only."""
    return len({*before.splitlines()} ^ {*now.splitlines()})


def seen(sound: Task, worse: Task) -> list[tuple[str, str, str, str]]:
    """Return each symptom that shows: its words and code, and what is printed."""
    chapter = sound.learner.chapter
    symptoms = symptoms_of(chapter.exercises[sound.only])
    tries = [sound.answers(), worse.answers()]
    printed = outputs_elsewhere(chapter, tries, [each.code for each in symptoms])
    return [
        (STOPS if ERROR in now else each.words, each.code, before, now)
        for each, before, now in zip(symptoms, *printed or [(), ()])
        if before != now and ERROR not in before
    ]


def printed_now(root: Path, name: str, broken: dict[str, Any]) -> str:
    """Return what the code of a symptom prints with the answer as it is now."""
    try:
        learner = open_learner(root / broken["path"], all_chapters(root))
        answers = Task(root / broken["path"], learner, name).answers()
    except Trouble:
        return broken["now"]
    if [*answers][-1:] != [name]:
        return broken["now"]
    found = outputs_elsewhere(learner.chapter, [answers], [broken["code"]])
    return found[0][0] if found else broken["now"]
