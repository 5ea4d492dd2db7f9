"""Show our solution after a pass or some tries: `python3 course.py solution 4.2`."""

import textwrap
from pathlib import Path

from classroom import ROOT
from classroom.cell.solutions import solution_of
from classroom.learner.find import find
from classroom.learner.results import Memory
from classroom.notebook.files import COURSE, Unreadable
from classroom.notebook.pristine import all_chapters

TRIES = 3  # after which the solution may be read
EARLY = (
    "{0} {1}: you get our solution as soon as yours passes, or after {2} tries that a "
    "check has judged. You have made {3} so far, with {4} to go. A wrong try costs "
    "nothing, and the check says what is wrong with it."
)


def solution_command(what: str, root: Path = ROOT) -> int:
    """Print our solution of an exercise ("4.2"), and one that is written another way.

    Returns 1 if it is too early, and then says how many tries are missing, and which
    hint is next. Raises Unreadable if there is no such exercise, or no solution of it
    here.
    """
    _, chapter, name = find(what, all_chapters(root), root)
    if name is None:
        raise Unreadable(f"Name one exercise, as `{COURSE} solution 4.2` does.")
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
