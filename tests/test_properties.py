"""Laws for drawn inputs: right answers obey them, wrong ones do not."""

import pytest

from classroom.author.chapters import chapters
from tests.properties import table, told, unseen

SPANS = range(1, 7), range(7, 9), range(9, 13), range(13, 22)
# A choice among four words; ResNet-18; and a page of Keras, which its check retrains
WITHOUT = {"19.3", "20.3"}


@pytest.mark.linux
@pytest.mark.parametrize("span", SPANS, ids=str)
def test_right_answers_obey_the_laws_and_wrong_ones_do_not(span, capsys):
    verdicts = told(span)
    with capsys.disabled():
        print(
            "\nexercise  wrong answers  refused by its law", *table(verdicts), sep="\n"
        )
    broken = [v for v in verdicts if v.kind == "right" and v.why]
    assert not broken, "a right answer breaks a law: one of the two is wrong"
    passed = {
        f"{v.exercise} {v.title}" for v in verdicts if not v.why and v.kind == "wrong"
    }
    listed = {line for line in unseen() if int(line.split(".")[0]) in span}
    assert passed == listed, "wrong answers that no law refuses, and those listed"
    named = {name for number in span for name in chapters()[number].exercises}
    assert named - {v.exercise for v in verdicts} == WITHOUT & named
