"""From the message to the cure: each entry happens, and is mended, in both."""

import io
import re
from contextlib import redirect_stdout

import pytest

from classroom.author.chapters import chapters
from classroom.cell import cures
from classroom.cell.assertions import WrongAnswer, check
from classroom.cell.cures import ENTRIES, NONE, cure
from classroom.run.verdict import result

PAGE = next(chapter for chapter in chapters() if chapter.slug == "26_message_to_cure")
IMPORT = "import minigrad as torch"


def entries(library):
    """Return {heading: what its cells print}, each cell run with a library."""
    space, found, heading = {}, {}, None
    for cell in PAGE.lesson:
        title = re.match(r"## (\d+ · .+)", cell.source)
        heading = title[1] if title else heading
        if cell.cell_type == "code":
            source = cell.source.replace(IMPORT, f"import {library} as torch")
            with redirect_stdout(io.StringIO()) as said:
                exec(source, space)
            found.setdefault(heading, []).append(said.getvalue())
    del found[None]  # what all begin with
    return found


OURS = entries("minigrad")
# What the lines print that make it happen, by the number of the entry
HAPPENS = {
    **{1: "None", 8: "[2.0, 2.0]\n[4.0, 4.0]", 9: "[0.0, 0.0, 0.0]"},
    **{10: "nan nan", 11: "1.0\n1.44\n2.074\n2.986", 12: "103", 14: "-0.1", 15: "0.0"},
    13: "3.0\nAttributeError: 'float' object has no attribute 'backward'",
    16: "[-1.0, 1.0]\n[1.75, 6.12]",
}
MENDED = {
    **{1: "[1.0, 1.0]", 2: "[2.0, 2.0]", 3: "[4.0, 4.0]", 4: "[1.0, 1.0]"},
    **{5: "[0.5, 0.5] True", 6: "[2.0, 20.0]", 7: "[6.0, 6.0]"},
    **{8: "[2.0, 2.0]\n[2.0, 2.0]", 9: "[0.1721, 0.1721, 0.1721]", 10: "0.0 0.0"},
    **{11: "1.0\n0.16\n0.026\n0.004", 12: "200.0 float", 13: "6.0", 14: "0.0"},
    **{15: "-0.2", 16: "[-0.71, 0.71]"},
}


def assert_happens(found):
    assert list(found) == list(OURS)
    for heading, (happens, mended) in found.items():
        number, _, title = heading.partition(" · ")
        if title[0] == '"':
            assert happens.startswith("RuntimeError: "), heading
            assert title.strip('"') in happens
        elif number == "7":
            assert happens.startswith("None\nWarning: The .grad ")
            assert "of a Tensor that is not a leaf" in happens
        else:
            assert happens.strip() == HAPPENS[int(number)], heading
        assert mended.strip() == MENDED[int(number)], heading


def test_each_entry_happens_and_is_mended_in_minigrad():
    assert len(OURS) == 16
    assert_happens(OURS)


@pytest.mark.filterwarnings("ignore")
def test_each_entry_happens_and_is_mended_in_pytorch():
    pytest.importorskip("torch")
    assert_happens(entries("torch"))


def test_each_error_of_the_page_has_its_entry_below_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path)
    raised = {h: said[0] for h, said in OURS.items() if "Error: " in said[0]}
    assert len(raised) == len(ENTRIES) == 6
    for heading, said in raised.items():
        assert cure(said).endswith(f"(chapter 26): {heading}")
    none = "'NoneType' object has no attribute 'sum'"
    assert cure(none, "total = w.grad.sum()").endswith(NONE)
    assert cure(none, "total = w.sum()") == cure("division by zero") == ""
    assert all(part in OURS for part in NONE.split(", or "))


def test_a_check_and_a_cell_that_fail_name_the_entry(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path)
    words = "element 0 of tensors does not require grad"
    with pytest.raises(WrongAnswer) as caught, check("1.1"):
        raise RuntimeError(words)
    named = 'From the message to the cure (chapter 26): 2 · "does not require grad"'
    assert str(caught.value).splitlines()[-1] == named
    event = {"exercise": "1.1", "role": "answer", "failed": "raised"}
    event |= {"ename": "RuntimeError", "evalue": words, "traceback": ""}
    assert result("1.1", [event], 20, "").message.splitlines()[-1] == named


def test_where_the_page_is_not_handed_out_nothing_names_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path / "none")
    assert cure("does not require grad") == ""
