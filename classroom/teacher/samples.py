"""Print graded samples: an excellent, a good and a barely right answer, with reasons.

All are recorded in chapters/. How good a wrong answer is, its results tell: they are
compared with those of our solution, for the drawn inputs of the exercise.
"""

from functools import partial

from classroom import ROOT
from classroom.author.chapters import Chapter, chapters
from classroom.author.execute import execute
from classroom.author.front_matter import rendered
from classroom.author.printed import drawn_cell, what_is_printed
from classroom.cell.drawn import PUBLIC, same_numbers
from classroom.notebook.files import Cell
from classroom.notebook.pristine import chosen_chapters

Samples = dict[str, tuple[int, str, str]]  # word -> right results, mistake, code


def samples_command(chapters_asked: str | None = None) -> int:
    """Print the samples of each assignment as Markdown."""
    chosen = chosen_chapters(chapters_asked, chapters())
    print(rendered("samples.md", samples={each: samples(each) for each in chosen}))
    return 0


def samples(chapter: Chapter) -> dict[str, Samples]:
    """Return the samples of each assignment of a chapter, the best one first."""
    assigned = {name: e for name, e in chapter.exercises.items() if e.points}
    tried = [(n, *wrong) for n, e in assigned.items() for wrong in e.wrong.items()]
    tried += [(name, "", each.solved) for name, each in assigned.items()]
    cells = [{name: sample_cell(chapter, name, code)} for name, _, code in tried]
    run = partial(execute, folder=ROOT / "exercises")
    printed = what_is_printed(chapter, cells, run) if cells else []
    lines = [text.splitlines() for found in printed for text in found.values()]
    ours = {name: given for (name, title, _), given in zip(tried, lines) if not title}
    found: dict[str, list] = {name: [] for name in assigned}
    for (name, *answer), given in zip(tried, lines):
        right = sum(map(same_numbers, ours[name], given))
        found[name] += [(right, *answer)] if right else []
    return {name: best_and_least(answers) for name, answers in found.items()}


def best_and_least(answers: list[tuple[int, str, str]]) -> Samples:
    """Return our solution, which is the last, and the wrong answers to show."""
    *wrong, ours = answers
    wrong.sort(key=lambda answer: -answer[0])
    some = wrong[:1] + [least for least in wrong[-1:] if least[0] < wrong[0][0]]
    return dict(zip(("Excellent", "Good", "Barely"), [ours, *some]))


def sample_cell(chapter: Chapter, name: str, code: str) -> Cell:
    """Return a cell that runs an answer, and then its drawn inputs."""
    cell = drawn_cell(name, chapter.exercises[name].drawn, PUBLIC)
    cell["source"] = f"{code}\n{cell['source']}"
    cell["metadata"]["tags"] = ["raises-exception"]
    return cell
