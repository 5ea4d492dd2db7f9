"""`course.py report 4.2` tells a helper what happened, and nobody's name or home."""

import getpass
from pathlib import Path

from classroom.learner.help import hint_command, report_command, without_names
from tests.course.sample import course, fill, learner


def test_it_has_the_answer_the_message_and_the_versions(tmp_path, capsys):
    root = course(tmp_path)
    home = Path.home() / "secret.csv"
    fill(learner(root), {"90.2": f"def triple(x):\n    return 2 * x  # {home}"})
    assert report_command("90.2", root) == 0
    told = capsys.readouterr().out
    assert "Exercise 90.2 Three times: wrong" in told
    assert "return 2 * x  # ~/secret.csv" in told
    assert "triple(4) is 12, not 8" in told
    assert "numpy 2" in told and "python: 3." in told
    assert str(tmp_path) not in told and str(Path.home()) not in told


def test_a_blank_says_so(tmp_path, capsys):
    assert report_command("90.1", course(tmp_path)) == 0
    assert "(not filled in)" in capsys.readouterr().out


def test_a_hint_has_no_tex_in_the_terminal(capsys):
    assert hint_command("4.2") == hint_command("17.2", 2) == 0
    told = capsys.readouterr().out
    assert "which is e^(b ln 5)? And the slope of sqrt(a^2 + 25)?" in told
    assert "(-e^(-a)) / (1 + e^(-a))" in told and "$" not in told


def test_no_user_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    assert without_names("/x/ada/b, adagio", tmp_path) == "/x/USER/b, adagio"
    assert without_names(r"C:\ada", tmp_path) == r"C:\USER"
    assert without_names("ada(x)", tmp_path) == "ada(x)"  # as for a user called max
