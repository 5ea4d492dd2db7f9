"""What a lesson says about a guess that was written down."""

from typing import Any

from classroom.cell.equality import apart, same, show


def compare(guess: Any, found: Any) -> None:
    """Say how a guess compares with the result, or nothing if it is still `...`.

    Both are words, numbers, or lists of numbers.
    """
    if guess is ...:
        return
    guess = guess.strip().lower() if isinstance(guess, str) else guess
    if same(guess, found):
        print(f"You guessed {show(guess)}, which is right.")
        return
    text = "You guessed {}, and it is {}".format(*apart(guess, found))
    if all(type(x) in (int, float) for x in (guess, found)) and guess * found > 0:
        times = max(found / guess, guess / found)
        how = "larger" if abs(found) > abs(guess) else "smaller"
        text += ": near" if times < 1.25 else f", {round(times, 1):,g} times {how}"
    print(f"{text}.")
