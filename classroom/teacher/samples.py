"""Print graded samples: an excellent, a good and a barely right answer, with reasons.

All are recorded in chapters/. How good a wrong answer is, its results tell: they are
compared with those of our solution, for the drawn inputs of the exercise.
"""

from functools import partial

from classroom import ROOT
from classroom.author.blanks import Exercise
from classroom.author.chapters import Chapter, chapters
from classroom.author.execute import execute
from classroom.author.printed import drawn_cell, what_is_printed
from classroom.cell.drawn import PUBLIC, same_numbers
from classroom.notebook.files import Cell
from classroom.notebook.pristine import chosen_chapters

BOUNDED = """\
import signal
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.alarm(5)  # seconds
{}
signal.alarm(0)
"""
HEAD = """\
# Graded samples

Each excellent answer is our solution. The others are recorded mistakes. A result is
right if it is that of our solution, for the inputs that `check` draws.
"""
SAMPLE = """\
### {}: {} of {} results are right

{}

```python
{}
```
"""
NO_MORE = "The recorded mistakes give no further answer that is partly right.\n"


def samples_command(chapters_asked: str | None = None) -> int:
    """Print the samples of each assignment as Markdown."""
    print(HEAD)
    for chapter in chosen_chapters(chapters_asked, chapters()):
        asked = [e for e in chapter.exercises.values() if e.points]
        printed = results_printed(chapter, asked) if asked else {}
        if not asked:
            print(f"Chapter {chapter.number} has no assignment.\n")
        for exercise in asked:
            print(f"## {exercise.name} {exercise.title}\n")
            print("\n".join(samples(exercise, printed[exercise.name])))
    return 0


def samples(exercise: Exercise, printed: dict[str, list[str]]) -> list[str]:
    """Return the three samples of an exercise, by the lines that each answer prints."""
    ours = printed[""]
    right = {each: sum(map(same_numbers, ours, printed[each])) for each in printed}
    some = sorted(filter(right.get, exercise.wrong), key=lambda title: -right[title])
    last = [title for title in some[-1:] if right[title] < right[some[0]]]
    another = next(iter(exercise.right), "")
    why = f"Another right answer: {another}." if another else "Nothing is wrong."
    told = [SAMPLE.format("Excellent", len(ours), len(ours), why, exercise.solved)]
    for word, title in zip(("Good", "Barely"), some[:1] + last):
        why = f"The mistake: {title}. The check says `{exercise.refusal[title]}`."
        code = exercise.wrong[title]
        told.append(SAMPLE.format(word, right[title], len(ours), why, code))
    return told if last else [*told, NO_MORE]


def results_printed(
    chapter: Chapter, asked: list[Exercise]
) -> dict[str, dict[str, list[str]]]:
    """Return the lines that each answer prints for the drawn inputs; "" is ours."""
    most = max(len(each.wrong) for each in asked)
    several = [{e.name: sample_cell(e, n) for e in asked} for n in range(most + 1)]
    run = partial(execute, folder=ROOT / "exercises")
    printed, found = what_is_printed(chapter, several, run), {}
    for each in asked:
        texts = [lines[each.name].splitlines() for lines in printed]
        found[each.name] = dict(zip([*each.wrong, ""], texts))
    return found


def sample_cell(exercise: Exercise, n: int) -> Cell:
    """Return a cell that runs the nth wrong answer, or else ours, for some seconds."""
    code = [*exercise.wrong.values(), exercise.solved][: n + 1][-1]
    cell = drawn_cell(exercise.name, exercise.drawn, PUBLIC)
    cell["source"] = BOUNDED.format(f"{code}\n{cell['source']}")
    cell["metadata"]["tags"] = ["raises-exception"]
    return cell
