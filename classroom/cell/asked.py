"""What an exercise asks, read from the untouched notebook of the course around it.

A sandbox shows no such notebook. There nothing is known, and a check does without.
"""

import ast
import hashlib
import json
import re
import symtable
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from os.path import isdir
from pathlib import Path
from typing import NamedTuple

BLANK = "fill this in"
STILL_BLANK = (
    "Your code came to a line of the blank, `raise NotImplementedError"
    '("fill this in")`. Remove this line where you have filled in.'
)
PLACE = re.compile(r"(exercise|answer|check)-(\d+)-(\d+)$")
# The chapter number in the ids of its cells, where chapters came in before it. Ids stay
# as they are, so that an answer from before finds its exercise. A new chapter gets the
# next number that no chapter ever had.
IN_IDS = {6: 24, 7: 6, 8: 7, 9: 8, 10: 25, 11: 9, 12: 10, 13: 11, 14: 12, 15: 27}
IN_IDS |= {number: number - 3 for number in range(16, 27)} | {27: 26}
NUMBERS = {in_ids: number for number, in_ids in IN_IDS.items()}
CHECKED = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")
NAMES = re.compile(
    r"^[ \t]*(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.M
)

INVALID = SyntaxError, ValueError, RecursionError, MemoryError
UNREADABLE = OSError, ValueError, LookupError, TypeError, AttributeError
RIGHT = re.compile(r"^ *What was right .*$", re.M)  # the rest of a message is wrong


class Asked(NamedTuple):
    """One exercise: its blank, its check, and which hint is about which message."""

    stub: str
    check: str
    names: frozenset[str]  # that its blank alone gives a value, of those in its chapter
    helps: dict[str, int]
    given: tuple[tuple[str, str, bool], ...]  # id, text, and if it needs the answer


def course_of(folder: Path) -> Path | None:
    """Return the course that a folder with notebooks is in, or the one around us."""
    for place in (folder, *folder.parents[:2], Path(__file__).parents[2]):
        if isdir(place / "classroom" / "pristine"):  # be it closed to us or not
            return place
    return None


def asked(course: Path, exercise: str) -> Asked | None:
    """Return what an exercise asks, or None if no such exercise can be read."""
    return chapter_of(course, exercise).get(exercise)


@cache
def chapter_of(course: Path, exercise: str) -> dict[str, Asked]:
    """Return what the exercises of a chapter ask, or {} if that cannot be read."""
    with suppress(*UNREADABLE):
        pristine = course / "classroom" / "pristine"
        return dict(_exercises(notebook_in(pristine, exercise)))
    return {}


def notebook_in(folder: Path, exercise: str) -> dict:
    """Return the notebook with an exercise in a folder, or raise one of UNREADABLE."""
    slug = rf"0*{exercise.partition('.')[0]}_\w+"  # no copy of it
    (path,) = [p for p in folder.glob("*.ipynb") if re.fullmatch(slug, p.stem)]
    return json.loads(path.read_bytes())


def _exercises(notebook: dict) -> Iterator[tuple[str, Asked]]:
    about = notebook["metadata"]["minigrad"]["exercises"]
    places = [exercise_at(cell["id"]) for cell in notebook["cells"]]
    texts = ["".join(cell["source"]) for cell in notebook["cells"]]
    stubs = {name: texts[places.index(("answer", name))] for name in about}
    given, here = [], ("", "")
    for cell, place, text in zip(notebook["cells"], places, texts, strict=True):
        here = place if place[0] else here
        kind, name = here
        if cell["cell_type"] == "code" and text.startswith("# given"):
            given.append((cell["id"], text, name if kind == "answer" else ""))
        if place[0] != "check":
            continue
        others = (bound_names(stub) for n, stub in stubs.items() if n != name)
        names = bound_names(stubs[name])
        names = names.difference(*others) or names
        helps = about[name].get("helps", {})
        # What stands between the blank of another exercise and its check needs that
        above = tuple((*each, bool(n)) for *each, n in given if n in ("", name))
        yield name, Asked(stubs[name], text, frozenset(names), helps, above)
        here = "checked", name


def exercise_at(cell: str | None) -> tuple[str, str]:
    """Return the role and the exercise of the cell with an id, or ("", "")."""
    found = PLACE.match(cell or "")
    if not found:
        return "", ""
    chapter = NUMBERS.get(int(found[2]), found[2])
    return found[1], f"{chapter}.{found[3]}"


def id_of(kind: str, exercise: str) -> str:
    """Return the id of a cell: ("answer", "4.1") gives "answer-4-1"."""
    chapter, _, number = exercise.partition(".")
    return f"{kind}-{IN_IDS.get(int(chapter), chapter)}-{number}"


def exercise_of(cell: str | None, source: str) -> str:
    """Return the exercise that a cell answers or checks, by its id or text, or ""."""
    kind, name = exercise_at(cell)
    checks = CHECKED.search(source)
    return checks[1] if checks else name if kind in ("answer", "check") else ""


def bound_names(source: str) -> set[str]:
    """Return the names that `source` defines or assigns, valid or not."""
    return {a or b for a, b in NAMES.findall(source)}


def without_blanks(source: str) -> str:
    """Return a cell without the lines of the blank that stand outside of functions."""
    lines = source.split("\n")
    for node in ast.walk(parsed(source)):
        for each in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            if isinstance(each, ast.Raise) and BLANK in ast.unparse(each):
                left = "" if node.body[1:] else "pass"
                lines[each.lineno - 1] = " " * each.col_offset + left
    return "\n".join(lines)


def parsed(source: str) -> ast.Module:
    """Return the syntax tree of `source`, an empty one if it is not valid Python."""
    with suppress(*INVALID):
        return ast.parse(source)
    return ast.Module([], [])


def scopes(source: str) -> list[symtable.SymbolTable]:
    """Return the scopes of `source`, the outermost first, or none if it is invalid."""
    found = []
    with suppress(*INVALID):
        found = [symtable.symtable(source, "a cell", "exec")]
    for scope in found:
        found += scope.get_children()
    return found


def names_read(source: str) -> set[str]:
    """Return the names that `source` reads, less those that only its functions have."""
    found = set()
    for scope in scopes(source):
        read = [s for s in scope.get_symbols() if s.is_referenced()]
        outermost = scope.get_type() == "module"
        found |= {s.get_name() for s in read if s.is_global() or outermost}
    return found


def assigned(source: str) -> set[str]:
    """Return the names that a cell assigns, or none if it is not valid Python."""
    symbols = [s for scope in scopes(source)[:1] for s in scope.get_symbols()]
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}


def core(sources: Iterable[str], names: Iterable[str]) -> set[str]:
    """Return the cells that answer: the last ones that define the names asked."""
    latest = {name: source for source in sources for name in bound_names(source)}
    return {latest[name] for name in names if name in latest}


def mark_of(exercise: Asked, answer: Iterable[str]) -> str:
    """Return a hash of an exercise, as it is asked, and of the cells that answer it."""
    text = json.dumps([exercise.stub, exercise.check, sorted(answer)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hint_about(helps: dict[str, int], said: str) -> int | None:
    """Return the hint that is about the mistake in a message, if there is one."""
    said = RIGHT.sub("", said)
    known = [message for message in helps if message in said]
    return helps[max(known, key=len)] if known else None  # the longest says most of it
