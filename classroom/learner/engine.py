"""Write the engine as it is after a chapter: `python3 course.py engine 7`."""

import shutil
from pathlib import Path

from rich.console import Console

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author import so_far
from classroom.author.chapters import chapters
from classroom.cell.pages import page_of
from classroom.learner.assemble import Piece, all_pieces
from classroom.notebook.definitions import places
from classroom.notebook.source_code import has_header


def engine_command(number: int, out: Path | None, root: Path = ROOT) -> int:
    """Write the package as of a chapter, with the answers that pass; return 0."""
    if not so_far.FIRST <= number <= so_far.LAST:
        raise Trouble(
            f"There is no engine of chapter {number}. Chapters {so_far.FIRST} to "
            f"{so_far.LAST} build the engine."
        )
    if out and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Trouble(f"{out} exists and is not empty. Give a new folder.")
    if not chapters():
        raise Trouble(
            "`engine` needs the folder chapters/, which only a clone of the course "
            "has. `python3 course.py assemble` puts your answers into the package."
        )
    console = Console(highlight=False)
    folder = out or root / ".minigrad" / f"engine_{number}"
    with console.status("Checking your answers ..."):
        pieces = [piece for piece in all_pieces(root) if piece.cells]
    shutil.rmtree(folder, ignore_errors=True)
    so_far.write_package(folder, number)
    yours = [piece.name for piece in pieces if put_into(piece, folder, number)]
    console.print(f"The package as of chapter {number}: {folder / 'minigrad'}")
    told = f"Yours: {', '.join(yours)}" if yours else "It has none of your answers yet"
    console.print(f"{told}.")
    grown = [p.name for p in pieces if p.name not in yours and chapter_of(p) <= number]
    if grown:
        console.print(f"A later chapter changes these files: {', '.join(grown)}.")
    console.print("To use it, start Python in that folder, and import minigrad.")
    return 0


def chapter_of(piece: Piece) -> int:
    """Return the number of the chapter that a piece belongs to."""
    return int(piece.name.split(".")[0])


def put_into(piece: Piece, folder: Path, number: int) -> bool:
    """Put the part of an answer that a chapter has into the package; say if it did."""
    own = chapter_of(piece)
    written = {
        (page_of(c), n) for c in filter(has_header, piece.cells) for n in places(c)
    }
    current = {n for module, n in written if own == latest(module, n, number, own)}
    piece.put_into(folder, {name for _, name in written} - current)
    return bool(current)


def latest(module: str, name: str, number: int, own: int) -> int | None:
    """Return the chapter whose form a definition has, as of chapter `number`."""
    chapters = so_far.forms().get((module, name), {own})  # what is no part of the heart
    return max((each for each in chapters if each <= number), default=None)
