"""Pages made from the chapters' front matter: the README's tables, the syllabus."""

import re
from pathlib import Path

from classroom import ROOT
from classroom.author.blanks import Exercise
from classroom.author.chapters import Chapter, chapters
from classroom.author.stub import TENSOR, tensor_stub
from classroom.notebook.course_map import Stop, map_svg, moving, stop_of
from classroom.notebook.home import FILM, HOME, MAP, home_text

TABLE = re.compile(r"(<!-- chapters -->\n).*?(<!-- end of chapters -->)", re.DOTALL)
PARTS = {"I: one number at a time": 0, "II: arrays": 8, "III: learning machines": 17}
HEAD = "| | chapter | its question | minutes | needs |", "|--:|---|---|--:|---|"


def chapter_table(all_chapters: list[Chapter]) -> str:
    """Return a table of chapters for each part of the course, in Markdown."""
    starts = [*PARTS.values(), float("inf")]
    tables = []
    for name, first, end in zip(PARTS, starts, starts[1:]):
        part = [c for c in all_chapters if first <= c.number < end]
        if part:
            heading = f"**Part {name}** ({hours(part)})"
            tables.append("\n".join([heading, "", *HEAD, *map(_row, part)]) + "\n")
    told = f"In all: {hours(all_chapters)}.\n"
    return "\n".join([*tables, told])


def _row(chapter: Chapter) -> str:
    front = chapter.front
    title = f"[{front['title']}](notebooks/{chapter.slug}.ipynb)"
    title += "" if front["track"] == "core" else f" ({front['track']})"
    needs = ", ".join(map(str, front["needs"] + front["requires"]))
    row = (chapter.number, title, front["question"], front["minutes"], needs)
    return "| " + " | ".join(map(str, row)) + " |"


def hours(some: list[Chapter]) -> str:
    """Return how long chapters take, in words."""
    minutes = {"core": 0, "optional": 0}
    for chapter in some:
        minutes[chapter.front["track"]] += chapter.front["minutes"]
    core, optional = (f"{n / 60:.1f}".removesuffix(".0") for n in minutes.values())
    more = f", and {optional} hours of optional chapters" if minutes["optional"] else ""
    return f"{core} hours{more}"


def stops(all_chapters: list[Chapter]) -> list[Stop]:
    """Return the chapters as the map shows them, none of them begun."""
    found = []
    for chapter in all_chapters:
        titles = {e.name: {"title": e.title} for e in chapter.exercises.values()}
        about = chapter.front | {"exercises": titles}
        found.append(stop_of(chapter.number, chapter.slug, about))
    return found


def film() -> str:
    """Return the backward pass of a small graph, as a picture that moves by itself."""
    from minigrad.drawing.draw import draw_backward
    from minigrad.scalar.value import Value

    w, x, b, y = Value(2.0), Value(3.0), Value(1.0), Value(5.0)
    return moving(draw_backward((w * x + b - y) ** 2, w=w, x=x, b=b, y=y).sources)


def syllabus(all_chapters: list[Chapter]) -> str:
    """Return the syllabus for teachers, chapter by chapter, in Markdown."""
    parts = [(ROOT / "classroom" / "templates" / "syllabus.md").read_text("utf-8")]
    for chapter in all_chapters:
        front = chapter.front
        needs = ", ".join(map(str, front["needs"] + front["requires"])) or "nothing"
        points = sum(exercise.points for exercise in chapter.exercises.values())
        goals = "\n".join(f"- {goal}" for goal in front["objectives"])
        parts.append(
            f"## {chapter.number} · {front['title']}\n\n*{front['question']}* "
            f"{front['minutes']} minutes, difficulty {front['difficulty']} of 5, "
            f"needs {needs}, {points} points. After it a student can\n\n{goals}\n\n"
            "| exercise | points | mistakes that its check knows |\n|---|--:|---|\n"
            + "".join(map(_rubric, chapter.exercises.values()))
        )
    return "\n".join(parts)


def _rubric(exercise: Exercise) -> str:
    mistakes = "; ".join(exercise.wrong).replace("|", "\\|")
    points = exercise.points or ""
    return f"| {exercise.name} {exercise.title} | {points} | {mistakes} |\n"


def made_pages(root: Path) -> dict[Path, tuple[str, str]]:
    """Map each page made from front matter to its present text and its right text."""
    readme, page = root / "README.md", root / "classroom" / "SYLLABUS.md"
    text = readme.read_text(encoding="utf-8")
    table = chapter_table(chapters())
    everything = stops(chapters())
    pictures = {MAP: map_svg(everything), FILM: film()}
    pictures[HOME] = home_text(everything, root)
    pictures[TENSOR] = tensor_stub()
    made = {root / name: (_read(root / name), text) for name, text in pictures.items()}
    return made | {
        readme: (text, TABLE.sub(lambda match: match[1] + table + match[2], text)),
        page: (_read(page), syllabus(chapters())),
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
