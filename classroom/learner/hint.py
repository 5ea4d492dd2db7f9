"""Show a hint in the terminal: `python3 course.py hint 4.2`; say what is `next`."""

import re
from pathlib import Path

from classroom import ROOT
from classroom.learner.broken import narrow_down
from classroom.learner.find import find
from classroom.learner.progress import overview
from classroom.notebook.files import COURSE, Unreadable
from classroom.notebook.pristine import Chapter, all_chapters

HINT = re.compile(
    r"<details><summary>(Hint \d.*?)</summary>\n+(.*?)\n+</details>", re.DOTALL
)
FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
TYPED = {r"\cdot": "*", r"\times": "*", r"\,": " ", r"\partial ": "d", r"\mathsf ": ""}
TYPED |= {r"\frac": "", "}{": ") / (", "{": "(", "}": ")", r"\big": "", r"\qquad ": ""}
TYPED |= {r"\var": "", r"\sqrt": " sqrt", "\\": "", "  ": " "}


def hint_command(what: str | None, number: int = 1, root: Path = ROOT) -> int:
    """Print a hint of an exercise ("4.2"), by default the first.

    Without an exercise, print the next hint about the bug that `break` has made. Raises
    Unreadable if there is no such exercise or bug, or no such hint.
    """
    if what is None:
        if told := narrow_down(root):
            print("\n".join(told))
            return 0
        raise Unreadable(f"Name one exercise, as `{COURSE} hint 4.2` does.")
    _, chapter, name = find(what, all_chapters(root), root)
    if name is None:
        raise Unreadable(f"Name one exercise, as `{COURSE} hint 4.2` does.")
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


def next_command(root: Path = ROOT) -> int:
    """Say which exercise is the next one that has not passed; return 0."""
    name = overview(root).next
    if name is None:
        print("All exercises of the course have passed.")
        return 0
    path, chapter, _ = find(name, all_chapters(root), root)
    print(f"Next: exercise {name} {chapter.exercises[name].title}")
    print(f"Its blank: exercises/{path.name}")
    print(f"Its lesson: notebooks/{chapter.slug}.ipynb")
    return 0
