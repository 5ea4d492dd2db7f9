"""Checks notice a change in a solution: a sample of what mutants.py does."""

import random

import pytest

from classroom.author.chapters import chapters
from tests.course.mutants import JUDGED, equal, judged, mutants

SEED = 14  # another one, another sample
CHAPTERS = sorted(random.Random(SEED).sample(JUDGED[2:], 3))
EACH = 7  # mutants of an exercise


def test_each_equal_mutant_is_one():
    told = {name.split()[0] for name in equal()}
    exercises = [e for c in chapters() for n, e in c.exercises.items() if n in told]
    assert equal() <= {m.name for exercise in exercises for m in mutants(exercise)}


@pytest.mark.linux
def test_a_sample_of_mutants_is_refused():
    found = judged(CHAPTERS, EACH, SEED)
    passed = [name for *_, hidden in found for name in hidden]
    visible = [name for _, _, visible, _ in found for name in visible]
    assert len(found) > 6 and sum(count for _, count, *_ in found) > 50
    assert set(passed) - equal() == set(), "both checks let them pass"
    assert set(visible) - equal() == set(), "the hidden check alone notices"
