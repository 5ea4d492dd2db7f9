"""From the message to the cure: each entry happens, and is fixed, in both."""

import functools
import io
import re
from contextlib import redirect_stdout

import pytest

from classroom.author.chapters import chapters
from classroom.cell import cures
from classroom.cell.cures import ENTRIES, NONE, cure
from classroom.cell.expect import WrongAnswer, check
from classroom.run.verdict import result

IMPORT = "import minigrad as torch"


@functools.cache
def entries(library):
    """Return {heading: what its cells print}, each cell run with a library."""
    space, found, heading = {}, {}, None
    for cell in chapters()[27].lesson:
        title = re.match(r"## (\d+ · .+)", cell.source)
        heading = title[1] if title else heading
        if cell.cell_type == "code":
            source = cell.source.replace(IMPORT, f"import {library} as torch")
            with redirect_stdout(io.StringIO()) as said:
                exec(source, space)
            found.setdefault(heading, []).append(said.getvalue())
    del found[None]  # what all begin with
    return found


@pytest.mark.filterwarnings("ignore")
def test_each_entry_happens_and_is_mended_in_pytorch_as_in_minigrad():
    pytest.importorskip("torch")
    ours, theirs = entries("minigrad"), entries("torch")
    assert len(ours) == 16 and list(theirs) == list(ours)
    for heading, (happens, mended) in ours.items():
        title, (other, again) = heading.partition(" · ")[2], theirs[heading]
        assert again == mended, heading
        if happens.startswith("RuntimeError: "):
            assert title.strip('"') in happens and title.strip('"') in other, heading
        else:  # but for the words of a warning
            assert other.partition("Warning")[0] == happens.partition("Warning")[0]


def test_each_error_of_the_page_has_its_entry_below_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path)
    ours = entries("minigrad")
    raised = {h: said[0] for h, said in ours.items() if "Error: " in said[0]}
    assert len(raised) == len(ENTRIES) == 6
    for heading, said in raised.items():
        assert cure(said).endswith(f"(chapter 27): {heading}")
    none = "'NoneType' object has no attribute 'sum'"
    assert cure(none, "total = w.grad.sum()").endswith(NONE)
    assert cure(none, "total = w.sum()") == cure("division by zero") == ""
    assert cure("'NoneType' object has no attribute 'backward'") == ""  # no `return`
    assert all(part in ours for part in NONE.split(", or "))


def test_a_check_and_a_cell_that_fail_name_the_entry(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path)
    words = "element 0 of tensors does not require grad"
    with pytest.raises(WrongAnswer) as caught, check("1.1"):
        raise RuntimeError(words)
    named = 'From the message to the cure (chapter 27): 2 · "does not require grad"'
    assert str(caught.value).splitlines()[-1] == named
    event = {"exercise": "1.1", "role": "answer", "failed": "raised"}
    event |= {"ename": "RuntimeError", "evalue": words, "traceback": ""}
    assert result("1.1", [event], 20, "").message.splitlines()[-1] == named


def test_where_the_page_is_not_handed_out_nothing_names_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cures, "PAGE", tmp_path / "none")
    assert cure("does not require grad") == ""
