"""A mistake is shown as a picture; see test_answers.py for wrong answers."""

import numpy as np
import pytest

from classroom.cell.expect import WrongAnswer, check, expect
from minigrad.drawing.describe import Box
from minigrad.scalar.value import Value


def test_a_notebook_shows_where_an_answer_differs_and_says_the_rest(monkeypatch):
    shown = []
    monkeypatch.setattr("classroom.cell.expect.display", shown.append)

    def told(got, expected, **more):
        with pytest.raises(WrongAnswer) as caught, check("3.1"):
            expect("it", got, expected, **more)
        lines = caught.value._render_traceback_()
        assert str(caught.value) == "\n".join([*lines, repr(shown[-1])])
        return shown[-1]

    x, y = Value(3.0), Value(2.0)
    made = Value(1.0, "Sub", x, 1.0, y, 1.0)
    drawn = told(made.edges, [(x, 1.0), (y, -1.0)], graph=made)
    marked = [line for line in drawn.source.splitlines() if "#D6006C" in line]
    assert marked[0].strip().startswith('"n1 op2') and "1, not -1" in marked[0]
    assert len(marked) == 3 and "penwidth=2" in marked[1]  # the words and two halves
    turned = repr(told(made.edges, [(y, -1.0), (x, 2.0)], graph=made))
    assert turned.count("\N{BALLOT X}") == 2 and turned.endswith("1, not 2")
    none = Value(1.0, "Sub")
    assert repr(told(none.edges, [(x, 1.0)], graph=none)).endswith("missing, not 1")
    html = told(np.array([1.0, 2.0]), np.array([1.0, -2.0]))._repr_html_()
    assert html.count("solid #D6006C") == html.count("dashed #D6006C") == 1
    before, _, after = html.partition("\N{BALLOT X} 2</td>")
    assert before.endswith('solid #D6006C">') and 'dashed #D6006C">-2</td>' in after


def test_a_box_in_a_picture_keeps_its_own_label():
    b = Box("turn 2", label="b")
    double = Box("turn 3", op="uses", edges=[(b, None)], label="double")
    graph = [double, double, b]  # names that are not theirs: graph[0], graph[2]
    with pytest.raises(WrongAnswer) as caught:
        expect("what is wrong", "edge double -> b", "none", graph=graph)
    assert "double = uses(b) = turn 3, on the edge from b" in str(caught.value)
