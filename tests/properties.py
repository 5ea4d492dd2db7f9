"""Laws that a right answer obeys for whatever is drawn: do they refuse wrong ones?

    .venv/bin/python tests/properties.py 5 9      two chapters
    .venv/bin/python tests/properties.py          all; takes a minute

The laws stand in chapters/*/laws.md. They compare an answer with what NumPy, a slope
without an engine, or a rule of algebra says. A table tells for each exercise how many
wrong answers of answers.md its law refuses. Below it stands each that it lets pass,
unless unseen_by_laws.txt has it: wrong by its words, its cost or by how it is written,
not by a value.
"""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1])]
from classroom import ROOT  # noqa: E402
from classroom.author.chapters import Chapter, chapters  # noqa: E402
from classroom.cell import namespaces  # noqa: E402
from classroom.cell.laws import Law, laws_of, obey  # noqa: E402
from classroom.run.answers import VOCABULARY  # noqa: E402
from tests.mutants import Judge, bound_memory, stop  # noqa: E402

SECONDS = 5  # of the processor, for all that is drawn for one answer
UNSEEN = Path(__file__).with_name("unseen_by_laws.txt")


def laws(chapter: Chapter) -> dict[str, list[Law]]:
    return laws_of((ROOT / VOCABULARY).read_text("utf-8"), chapter.text("laws.md"))


class Verdict(NamedTuple):
    """One answer: of which exercise, which kind and title, and why it was refused."""

    exercise: str
    kind: str
    title: str
    why: str


def broken(laws: list[Law]) -> str:
    """Return why the answer that has run does not obey a law, or ""."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        for law in laws:
            obey(law, namespaces.course)
    except Exception as error:
        return str(error) or repr(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def judge_chapter(number: int) -> list[Verdict]:
    """Hold all answers of a chapter against the laws of its exercises."""
    bound_memory()
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, stop)
    chapter, found = chapters()[number], []
    judge, held = Judge(chapter), laws(chapter)
    from classroom.cell import state  # which asks for the shell

    for name, exercise in chapter.exercises.items():
        answers = [("right", "the solution", exercise.solved)]
        for kind in ("right", "wrong"):
            answers += [(kind, *item) for item in getattr(exercise, kind).items()]
        for kind, title, source in answers if name in held else ():
            why = "" if judge.run(source)[0] else "the cell raises an error"
            namespaces.follow()
            with redirect_stdout(judge.said):  # the stream that the course puts back
                state.put_back()
                why = why or broken(held[name])
                state.put_back()
            judge.forget()
            found.append(Verdict(name, kind, title, why))
        judge.run(exercise.solved)
        judge.forget()
    return found


def judged(numbers: Iterable[int]) -> Iterator[list[Verdict]]:
    """Judge some chapters, each in a process of its own."""
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        yield from pool.imap(judge_chapter, numbers)


def told(numbers: Iterable[int]) -> list[Verdict]:
    """Judge some chapters in a Python that has not yet run anything else."""
    words = [sys.executable, __file__, "--told", *map(str, numbers)]
    env = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert not run.returncode, run.stderr[-2000:]
    return [Verdict(*each) for each in ast.literal_eval(run.stdout.splitlines()[-1])]


def unseen() -> set[str]:
    return set(UNSEEN.read_text("utf-8").splitlines())


def table(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield a line for each exercise: its wrong answers, and those refused."""
    for name in dict.fromkeys(v.exercise for v in verdicts):
        wrong = [v.why for v in verdicts if (v.exercise, v.kind) == (name, "wrong")]
        yield f"{name:8}  {len(wrong):13}  {sum(map(bool, wrong)):18}"


def main(words: list[str]) -> None:
    if words[:1] == ["--told"]:
        found = judged([int(word) for word in words[1:]])
        print([tuple(v) for verdicts in found for v in verdicts])
        return
    known = unseen()
    print("exercise  wrong answers  refused by its law")
    for verdicts in judged([int(word) for word in words] or range(1, 22)):
        print(*table(verdicts), sep="\n", flush=True)
        for v in verdicts:
            if v.kind == "right" and v.why:
                print(f"    right, and refused: {v.exercise} {v.title}: {v.why[:300]}")
            if (
                v.kind == "wrong"
                and not v.why
                and f"{v.exercise} {v.title}" not in known
            ):
                print(f"    passes: {v.exercise} {v.title}")


if __name__ == "__main__":
    from tests import properties  # what a process sends has to be found by its module

    properties.main(sys.argv[1:])
