"""A check sees the course's names and the learner's, and leaves no trace."""

from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook

from classroom import ROOT
from classroom.author.chapters import first_fence, sections
from classroom.author.compose import SETUP
from classroom.run.kernels import Runner

TEXT = Path(__file__).with_name("namespaces.md").read_text("utf-8")
CELLS = {heading: first_fence(body) for heading, body in sections(TEXT, "## ")}
HELPERS, USES, CHECK = CELLS["helpers"], CELLS["uses"], CELLS["check"]
SHADOWS = [cell for name, cell in CELLS.items() if name.startswith("shadow ")]
SPOILS = {name: cell for name, cell in CELLS.items() if name.startswith("spoils ")}


def outputs_of(*sources):
    """Run cells in a kernel; return what each has printed or raised."""
    cells = [new_code_cell(source) for source in (SETUP, CELLS["given"], *sources)]
    notebook = new_notebook(cells=cells)
    Runner(notebook, timeout=20, allow_errors=True).execute(cwd=str(ROOT / "exercises"))
    each = [[o.get("text", o.get("evalue")) for o in c.outputs] for c in notebook.cells]
    return ["".join(map(str, texts)) for texts in each[2:]]


def test_what_a_check_names_does_not_reach_a_learners_helpers():
    said = outputs_of(HELPERS, USES, CHECK, USES, CHECK, "print(width(1), loss(2))")
    assert said == ["", "", "1.1 passed\n", "", "1.1 passed\n", "2 3\n"]


def test_what_a_learner_has_named_is_not_in_the_way_of_a_check():
    cells = [HELPERS, USES]
    cells += [cell for shadow in SHADOWS for cell in (shadow, CHECK)]
    said = outputs_of(*cells, "__builtins__.print(sum)")
    assert said == ["", "", *["", "1.1 passed\n"] * len(SHADOWS), "3\n"]


def test_names_of_a_wrong_check_and_of_an_interrupted_cell_do_not_stay():
    wrong = CHECK.replace("answer(2)", "answer(1)")
    stopped = 'with check("1.1"):\n    width = 0\n    raise KeyboardInterrupt'
    said = outputs_of(HELPERS, USES, wrong, stopped, CHECK, "print(width(1))")
    assert said[2].startswith("1.1: answer\n    your answer: 20\n    expected:    30")
    assert said[4:] == ["1.1 passed\n", "2\n"]


def test_a_given_cell_names_for_the_learner_and_sees_the_learners_names():
    later, mine = CELLS["given later"], CELLS["mine"]
    uses = "print(scale, scaled(3))"
    check = 'with check("1.1"):\n    expect("scaled", scaled(-3), 30)'
    said = outputs_of(mine, later, uses, f"{mine}\nmine = abs", uses, check)
    assert said == ["", "", "10 20\n", "", "mine 30\n", "1.1 passed\n"]


SPOILT = 'with check("2.0"):\n    answer()'


def test_what_one_answer_leaves_changed_is_put_back_for_the_next():
    honest = "def answer():\n    pass"
    state = CELLS["state"]
    cells = [honest, state]
    for spoil in SPOILS.values():
        cells += [f"{honest}\n{spoil}", state, f"def answer():\n    {spoil}", SPOILT]
        cells += [honest, state]
    said = outputs_of(*cells)[1::2]
    first, others = said[0], [each for k, each in enumerate(said[1:]) if k % 3 != 1]
    assert first.startswith("2.1 passed\n[True, ") and len(others) == 2 * len(SPOILS)
    for said, spoil in zip(others, [name for name in SPOILS for _ in "12"]):
        assert said == first, spoil
