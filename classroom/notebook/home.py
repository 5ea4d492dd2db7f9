"""Home, in Markdown: where a learner is in the course, and what comes next.

The file home.md shows the course at its beginning. A JupyterLab that `course.py lab`
starts gets this learner's page instead, which is made again whenever it is opened.
"""

import re
from pathlib import Path

from classroom.cell.asked import id_of
from classroom.notebook.course_map import Stop, as_image, map_svg, next_exercise, words

HOME = "home.md"
MAP, FILM = "classroom/jupyter/map.svg", "classroom/jupyter/backward.svg"
PATHS = re.compile(
    r"<!-- with all chapters -->.*?(\*\*Paths\.\*\*.*?)\s*<!-- with any -->", re.DOTALL
)
FILM_TOLD = (
    "A graph of four leaves and their operations. Step by step, the gradient of the "
    "result, 1, runs back along the arrows, and each leaf gets its share."
)
BEGIN = (
    "Write `loss.backward()` yourself. After five chapters, which take about {} hours, "
    "your own code finds every slope of a neural network, and draws how it does so."
)
LEGEND = (
    "An arrow leads to a chapter from a chapter that it needs. Dashed chapters are "
    "optional, blue chapters are passed, and the orange chapter is next."
)
RUSTY = "Rusty in school mathematics or in Python? Then try {} first."
FRESH = (
    "In a terminal, `python3 course.py progress` shows the same progress, and `check` "
    "says what is wrong with an answer."
)


def home_text(stops: list[Stop], root: Path, whole: bool = False) -> str:
    """Return the page; if `whole`, with pictures in it, for this learner's map.

    GitHub shows only pictures that are files.
    """
    going = next_exercise(stops)
    now = going[0] if going else None
    svg, alt = map_svg(stops, now), words(stops, now)
    film = f"![{FILM_TOLD}]({FILM})"
    picture = f"![{alt}]({MAP})"
    if whole:
        picture = as_image(svg, alt)
        found = root / FILM
        film = as_image(found.read_text("utf-8"), FILM_TOLD) if found.exists() else ""
    parts = ["# minigrad", *way_on(stops, going), picture, LEGEND, table(stops)]
    parts += paths(stops, root)
    parts += ["## What you are about to build", film, FRESH]
    return "\n\n".join(part for part in parts if part) + "\n"


def way_on(stops: list[Stop], going: tuple[Stop, str] | None) -> list[str]:
    """Return what to do next, and how much is left."""
    if not going:
        return ["**You have passed everything. The engine is yours.**", so_far(stops)]
    now, name = going
    lesson, exercise = lesson_link(now), exercise_link(now, name)
    if not any(stop.begun for stop in stops):
        first = sum(stop.minutes for stop in stops if 1 <= stop.number <= 5)
        pitch = BEGIN.format(in_hours(first)) if now.number == 1 else ""
        begin = f"**Begin with {lesson}.** *{now.question}*"
        return [pitch, begin, *rusty(stops, now), so_far(stops)]
    if not now.begun:
        return [f"**Continue with {lesson}.** *{now.question}*", so_far(stops)]
    return [f"**Continue with {exercise}** (its lesson: {lesson}).", so_far(stops)]


def rusty(stops: list[Stop], now: Stop) -> list[str]:
    """Return which chapter to try first, if there is one before the beginning."""
    before = [lesson_link(stop) for stop in stops if stop.number < now.number]
    return [RUSTY.format(before[0])] if before and now.number == 1 else []


def so_far(stops: list[Stop]) -> str:
    """Return how much is passed, and about how many hours are left."""
    passed = sum(len(stop.passed) for stop in stops)
    every = sum(len(stop.exercises) for stop in stops)
    core = in_hours(sum(stop.left for stop in stops if not stop.optional))
    aside = in_hours(sum(stop.left for stop in stops if stop.optional))
    begun = f"{passed} of {every} exercises are passed. " if passed else ""
    left = "are left" if passed else "are ahead"
    more = f", and {aside} more hours are optional" if aside != "0" else ""
    return f"{begun}About {core} hours {left}{more}."


def in_hours(minutes: float) -> str:
    """Return a time in hours, rounded up."""
    return str(int(-(-minutes // 60)))


def lesson_link(stop: Stop) -> str:
    """Return a link to a lesson, from the course's folder."""
    return f"[{stop.number} · {stop.title}](notebooks/{stop.slug}.ipynb)"


def exercise_link(stop: Stop, name: str, said: str = "") -> str:
    """Return a link to the statement of an exercise, from the course's folder."""
    title = f"{name} {stop.exercises[name]}"
    cell = id_of("exercise", name)
    return f"[{said or title}](exercises/{stop.slug}.ipynb#cell-id={cell})"


def table(stops: list[Stop]) -> str:
    """Return the table of chapters, with links and the minutes that are left."""
    rows = ["| lesson | its question | exercises | minutes left | needs |"]
    rows.append("|---|---|---|--:|---|")
    for stop in stops:
        aside = " (optional)" * stop.optional
        marks = dict.fromkeys(stop.wrong, " ✗") | dict.fromkeys(stop.passed, " ✓")
        exercises = " · ".join(
            exercise_link(stop, name, name + marks.get(name, ""))
            for name in stop.exercises
        )
        needs = ", ".join(map(str, stop.needs))
        row = f"{lesson_link(stop)}{aside} | {stop.question} | {exercises}"
        rows.append(f"| {row} | {stop.left:.0f} | {needs} |")
    return "\n".join(rows)


def paths(stops: list[Stop], root: Path) -> list[str]:
    """Return the README's paths through the course, with links to their chapters."""
    text = (
        (root / "README.md").read_text("utf-8") if (root / "README.md").exists() else ""
    )
    found = PATHS.search(text)  # not in a release of some chapters
    return [linked_numbers(found[1], stops)] if found else []


def linked_numbers(text: str, stops: list[Stop]) -> str:
    """Return the text with a link at each number of a chapter; hours stay hours."""
    slugs = {str(stop.number): stop.slug for stop in stops}

    def linked(number: re.Match) -> str:
        slug = slugs.get(number[0])
        return f"[{number[0]}](notebooks/{slug}.ipynb)" if slug else number[0]

    return re.sub(r"\b\d+\b(?! hours)", linked, text)
