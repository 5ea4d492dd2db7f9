"""Help with an exercise: `python3 course.py hint 4.2`, `solution 4.2`, `report 4.2`.

A report is for a person who helps. It contains no path of the home folder and no name
of a person, so that it can be pasted in public.
"""

import getpass
import platform
import re
import sys
import textwrap
import time
from importlib.metadata import version
from pathlib import Path

from classroom import ROOT
from classroom.cell.solutions import solution_of
from classroom.learner import newer_course
from classroom.learner.broken import narrow_down
from classroom.learner.check import Task
from classroom.learner.find import NO_NOTEBOOK, find_exercise, open_learner
from classroom.learner.results import Memory
from classroom.notebook.files import COURSE, Unreadable
from classroom.notebook.pristine import Chapter
from classroom.run.verdict import WORDS

HINT = re.compile(
    r"<details><summary>(Hint \d.*?)</summary>\n+(.*?)\n+</details>", re.DOTALL
)
FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
TYPED = {r"\cdot": "*", r"\times": "*", r"\,": " ", r"\partial ": "d", r"\mathsf ": ""}
TYPED |= {r"\frac": "", "}{": ") / (", "{": "(", "}": ")", r"\big": "", r"\qquad ": ""}
TYPED |= {r"\var": "", r"\sqrt": " sqrt", "\\": "", "  ": " "}
TRIES = 3  # after which the solution may be read
EARLY = (
    "{0} {1}: you get our solution as soon as yours passes, or after {2} tries that a "
    "check has judged. You have made {3} so far, with {4} to go. A wrong try costs "
    "nothing, and the check says what is wrong with it."
)
PACKAGES = ["numpy", "jupyterlab", "ipykernel", "nbval", "matplotlib", "graphviz"]
FENCE = "`" * 4  # an answer may have three of them in a row


def hint_command(what: str | None, number: int = 1, root: Path = ROOT) -> int:
    """Print a hint of an exercise ("4.2"), by default the first.

    Without an exercise, print the next hint about the bug that `break` has made. Raises
    Unreadable if there is no such exercise or bug, or no such hint.
    """
    if what is None and (told := narrow_down(root)):
        print("\n".join(told))
        return 0
    _, chapter, name = find_exercise(what, root, "hint")
    hints = hints_of(chapter, name)
    if not 1 <= number <= len(hints):
        raise Unreadable(f"Exercise {name} has {len(hints) or 'no'} hints.")
    heading, text = hints[number - 1]
    text = FORMULA.sub(typed, text)
    print(f"{name} {chapter.exercises[name].title}: {heading}\n\n{text}")
    if number < len(hints):
        print(f"\nThe next of {len(hints)} hints: `{COURSE} hint {name} {number + 1}`")
    return 0


def hints_of(chapter: Chapter, name: str) -> list[tuple[str, str]]:
    """Return the headings and texts of the hints of an exercise."""
    labels = [label for label, home in chapter.home.items() if home == name]
    return HINT.findall("\n\n".join(chapter.cells[label]["source"] for label in labels))


def typed(formula: re.Match) -> str:
    """Return a formula as one types it, because a terminal shows no TeX."""
    text = formula[1]
    for tex, plain in TYPED.items():
        text = text.replace(tex, plain)
    return text.strip()


def solution_command(what: str, root: Path = ROOT) -> int:
    """Print our solution of an exercise ("4.2"), and one that is written another way.

    Returns 1 if it is too early, and then says how many tries are missing, and which
    hint is next. Raises Unreadable if there is no such exercise, or no solution of it
    here.
    """
    _, chapter, name = find_exercise(what, root, "solution")
    found, memory = solution_of(root, name), Memory(root)
    if found is None:
        raise Unreadable(f"The solution of {name} is not in this course.")
    exercise, tries = chapter.exercises[name], memory.tries(name)
    if memory.has_passed(name) or tries >= TRIES:
        print(f"# {name} {exercise.title}: our solution\n\n{found}")
        return 0
    told = EARLY.format(name, exercise.title, TRIES, tries or "none", TRIES - tries)
    print("\n".join(textwrap.wrap(told, 79)))
    if exercise.hints:
        hint = min(tries + 1, exercise.hints)
        print(f"\nFor a hint in the meantime: `{COURSE} hint {name} {hint}`")
    return 1


def report_command(what: str, root: Path = ROOT) -> int:
    """Print the report on one exercise; raise Unreadable if there is none."""
    path, chapter, name = find_exercise(what, root, "report")
    if not path.exists():
        raise Unreadable(NO_NOTEBOOK.format(path.name, chapter.number))
    task = Task(path, open_learner(path, [chapter]), name)
    answers, result = task.answers(), task.run()[name]
    cells = "\n\n".join(answers.get(name, ["(not filled in)"]))
    blocks = [f"{FENCE}python\n{cells}\n{FENCE}"]
    blocks += [f"{FENCE}\n{result.message}\n{FENCE}"] if result.message else []
    head = f"Exercise {name} {chapter.exercises[name].title}: {WORDS[result.status][0]}"
    if seconds := Memory(root).passed_in_notebook(task.learner, name):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
        head += f"\n(This answer passed in the notebook on {when}.)"
    print(without_names("\n\n".join([head, environment(root), *blocks]), root))
    return 0


def environment(root: Path) -> str:
    """Return the versions of all that may matter, in a few lines."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    day = newer_course.version(root) or "an unknown day"
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    python = f"python: {platform.python_version()} on {system}"
    return f"course of {day}\n{python}\n{packages}"


def without_names(text: str, root: Path) -> str:
    """Return a text without the paths of this machine and its user's name in others.

    Elsewhere the user's name may be a word of the answer: max, or root.
    """
    places = {root.resolve(): "COURSE", sys.prefix: "PYTHON", Path.home(): "~"}
    for place, word in places.items():
        text = text.replace(str(place), word)
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        return text
    return re.sub(rf"(?<=[/\\]){re.escape(user)}\b", "USER", text)
