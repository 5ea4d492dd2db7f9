"""Which of the hints of an exercise to offer: that of the mistake, if it is known."""

from classroom import ROOT
from classroom.notebook.pristine import Exercise


def next_hint(exercise: Exercise, tries: int, said: str = "") -> str:
    """Return which hint to read after so many tries, or what helps with a mistake."""
    name, hints = exercise.name, exercise.hints
    for message, hint in exercise.helps.items():
        if message in said:  # a mistake that is known
            return f"Help: Hint {hint} of exercise {name} is about this mistake."
    if exercise.by_symptom:
        return f"Help: the hints of {name}, below its text, are named by what you see."
    if tries <= hints:
        return f"Help: Hint {tries} of exercise {name}, folded below its text."
    then = "; then the solution, in solutions/" * (ROOT / "solutions").is_dir()
    return f"Help: all {hints} hints of {name}{then}."
