"""What is made from the chapters' front matter: the README's table, the syllabus."""

import re
from pathlib import Path

from classroom import ROOT
from classroom.author.blanks import Exercise
from classroom.author.chapters import Chapter, chapters

TABLE = re.compile(r"(<!-- chapters -->\n).*?(<!-- end of chapters -->)", re.DOTALL)


def chapter_table(all_chapters: list[Chapter]) -> str:
    """Return the table of chapters for the README, in Markdown."""
    rows = ["| | chapter | its question | minutes | needs |", "|--:|---|---|--:|---|"]
    for chapter in all_chapters:
        front = chapter.front
        title = f"[{front['title']}](notebooks/{chapter.slug}.ipynb)"
        title += "" if front["track"] == "core" else f" ({front['track']})"
        needs = ", ".join(map(str, front["needs"] + front["requires"]))
        row = (chapter.number, title, front["question"], front["minutes"], needs)
        rows.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(rows) + "\n"


def syllabus(all_chapters: list[Chapter]) -> str:
    """Return what teachers want to know of each chapter, in Markdown."""
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
    """Map each page made from front matter to its text, and what that should be."""
    readme, page = root / "README.md", root / "classroom" / "SYLLABUS.md"
    text = readme.read_text(encoding="utf-8")
    table = chapter_table(chapters())
    there = page.read_text(encoding="utf-8") if page.exists() else ""
    return {
        readme: (text, TABLE.sub(lambda match: match[1] + table + match[2], text)),
        page: (there, syllabus(chapters())),
    }
