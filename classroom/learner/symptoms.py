"""What a mistake in the engine looks like to those who use the engine.

symptoms.md has the words and the code. A mistake has a symptom if the code prints
something else with the mistake than without it.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from classroom.notebook.pristine import Chapter
from classroom.run.judge import plain_environment
from classroom.run.roles import ROLES, notebook_to_run

FILE = Path(__file__).with_name("symptoms.md")
SECTION = re.compile(
    r"^## ([^\n]+)\n\n(From|For|Code) ([^\n]+)\.\n\n```python\n(.*?)^```$", re.M | re.S
)
LIMIT = 20  # seconds for all symptoms of an exercise
ERROR = "stops with "
GIVEN = "# given"


class Symptom(NamedTuple):
    """What somebody notices, the code that shows it, and which exercises may have it.

    They are those of some chapters whose answers are part of the package, or `only`
    those whose names the code uses.
    """

    words: str
    code: str
    chapters: range
    only: tuple[str, ...]

    def may_show(self, name: str) -> bool:
        return name in self.only or int(name.partition(".")[0]) in self.chapters


@cache
def all_symptoms() -> list[Symptom]:
    """Return the symptoms of symptoms.md, those of the latest chapters first."""
    (*_, helper), *others = SECTION.findall(FILE.read_text("utf-8"))
    found = []
    for words, kind, which, code in others:
        places = re.findall(r"[\d.]+", which)
        first, *_, last = map(int, [*places, *places] if kind == "From" else (0, -1))
        code = f"{helper}\n\n{code}" if "beside_nudging(" in code else code
        only = tuple(places) if kind == "For" else ()
        found.append(Symptom(words, code, range(first, last + 1), only))
    return sorted(found, key=lambda symptom: -symptom.chapters.start)


def outputs(
    chapter: Chapter, answers: dict[str, list[str]], codes: list[str]
) -> Iterator[str]:
    """Yield what each code prints on the package with the last of some answers in it.

    An error and warnings count as printed. All of it runs in this process.
    """
    from classroom.cell import pages, state  # here, as they import the engine
    from minigrad.graph.saved_values import _writes

    state.remember()
    try:
        names = run_answers(chapter, answers, alone=[*answers][-1])
        for code in codes:
            yield printed(code, {**names})
    finally:
        pages.restore()
        state.put_back()
        _writes.clear()  # a mistake may have left entries, and ids are reused


def run_answers(
    chapter: Chapter, answers: dict[str, list[str]], alone: str = ""
) -> dict[str, Any]:
    """Run answers of a chapter, with what it gives, as live excerpts; return the names.

    Before the answer `alone`, the package gets its own definitions back, because an
    earlier answer may lack what comes later.
    """
    from classroom.cell import pages

    cells = notebook_to_run(chapter, answers)["cells"]
    about = [cell["metadata"]["minigrad"] for cell in cells]
    roles = [ROLES[each["role"]] for each in about]
    own = [n for n, role in enumerate(roles) if role.by_learner]
    last = [n for n in own if about[n]["exercise"] == alone]
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for n, cell in enumerate(cells[: own[-1] + 1]):
            if n in last[:1]:
                pages.restore()
            if n in own and roles[n].may_fail:
                with contextlib.suppress(Exception):
                    run_cell(cell["source"], names)
            elif n in own or cell["source"].startswith(GIVEN):
                run_cell(cell["source"], names)
    return names


def run_cell(source: str, names: dict) -> None:
    """Run a cell as a notebook does, where an excerpt of the package becomes live."""
    from classroom.cell import pages

    page = pages.page_of(source)
    if page:
        pages.lend(source, names)
    exec(compile(source, "<cell>", "exec"), names)
    if page:
        pages.install(source, names)


def printed(code: str, names: dict) -> str:
    """Return what some code prints, also an error and warnings."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        try:
            exec(compile(code, "<symptom>", "exec"), names)
        except Exception as error:
            text = str(error).partition("\n")[0]
            print(f"{ERROR}{type(error).__name__}: {text}")
        for text in dict.fromkeys(str(each.message) for each in warned):
            print(f"warns: {text}")
    return out.getvalue().strip()


def outputs_elsewhere(
    chapter: Chapter, tries: list[dict[str, list[str]]], codes: list[str]
) -> list[list[str]] | None:
    """Return the `outputs` of some answers, run in a process of its own.

    It is None if that takes too long, or stops Python.
    """
    words = json.dumps([str(chapter.path), tries, codes])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as settings:
        try:
            run = subprocess.run(
                [sys.executable, "-P", "-m", "classroom.learner.symptoms"],
                input=words,
                capture_output=True,
                encoding="utf-8",
                env=plain_environment(Path(settings)) | {"PYTHONUTF8": "1"},
                timeout=LIMIT,
            )
            return json.loads(run.stdout)
        except (subprocess.TimeoutExpired, ValueError):
            return None


if __name__ == "__main__":
    path, tries, codes = json.load(sys.stdin)
    found = [[*outputs(Chapter(Path(path)), each, codes)] for each in tries]
    print(json.dumps(found))
