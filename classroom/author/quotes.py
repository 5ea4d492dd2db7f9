"""Quotes by reference: `quote="graph/walk.py: sum_to, walk"` is replaced by the text.

A name is what definitions.places calls it, without "class ". It is a function, a
constant, a class (all of it), a method `Node.name`, or `Node:` for the first line and
the docstring of a class. So the text of the package is only in the package.
"""

import re
import textwrap
from functools import cache
from itertools import groupby, pairwise

from classroom import ROOT
from classroom.author.blanks import ChapterError
from classroom.notebook.definitions import class_of, places

SCREEN = 20  # lines of a cell


def quoted(reference: str) -> str:
    """Return the cell that a reference names; raise ChapterError if there is none."""
    file, _, names = reference.partition(":")
    asked = [name.strip() for name in names.split(",")]
    text = text_of(file.strip(), reference)
    parts = []
    for family, members in groupby(asked, owner):
        members = list(members)
        if family:
            parts.append(part_of_class(family, members, text, reference))
        else:
            parts += [lines_of(name, text, reference) for name in members]
    spaced = "\n\n\n" if any("\n" in part for part in parts) else "\n"
    if spaced.join(parts).count("\n") + 2 > SCREEN:
        spaced = "\n\n"
        parts = [part.replace("\n\n    ...", "\n    ...") for part in parts]
    return f"# minigrad/{file.strip()}\n{spaced.join(parts)}"


@cache
def text_of(file: str, reference: str) -> str:
    path = ROOT / "minigrad" / file
    if not path.is_file():
        raise misquoted(reference, f"there is no file minigrad/{file}")
    return path.read_text(encoding="utf-8")


def misquoted(reference: str, told: str) -> ChapterError:
    """Return what to say of a quote, and of the files of chapters that have it."""
    files = sorted((ROOT / "chapters").glob("*/*.md"))
    have = [f for f in files if f'quote="{reference}"' in f.read_text("utf-8")]
    where = "".join(f"{file.parent.name}/{file.name}, " for file in have)
    return ChapterError(f'{where}quote="{reference}": {told}')


def owner(name: str) -> str | None:
    """Return the class that a name is a part of, or None for a whole definition."""
    return class_of(name) or (f"class {name[:-1]}" if name.endswith(":") else None)


def lines_of(name: str, text: str, reference: str) -> str:
    """Return the text of a definition, without indentation."""
    known = {short(label): place for label, place in places(text).items()}
    if name not in known:
        there = ", ".join(each for each in known if each.isidentifier() or "." in each)
        raise misquoted(reference, f"there is no {name}, but {there}")
    return textwrap.dedent("\n".join(text.splitlines()[slice(*known[name])]))


def short(label: str) -> str:
    """Return the name by which a quote asks for a definition, the first of several."""
    return re.match(r"(?:class )?\(?([\w.'\"]+)|", label)[1] or label


def part_of_class(family: str, members: list[str], text: str, reference: str) -> str:
    """Return a class with some of its members, and `...` instead of the others."""
    name = family.removeprefix("class ")
    own = [each for each in places(text) if class_of(each) == family]
    docstring = next((each for each in own if each[len(name) + 1] in "'\""), None)
    told = [short(each) for each in own if each != docstring]
    asked = [each for each in members if not each.endswith(":")]
    bodies = [lines_of(each, text, reference) for each in asked]
    whole, first = lines_of(name, text, reference), 0
    head = re.match(r"(?:@.*\n)*class .*", whole)[0]
    if f"{name}:" not in members and asked != told:  # what it is was said elsewhere
        head = f"class {name}:"
    if len(asked) < len(members) and docstring:
        place = slice(*places(text)[docstring])
        bodies.insert(0, textwrap.dedent("\n".join(text.splitlines()[place])))
        first = 1
    if asked[:1] != told[:1]:
        bodies.insert(first, "...")
    elif asked != told:
        bodies.append("...")
    for before, after in pairwise(range(len(bodies))):
        lone = "\n" not in bodies[before] + bodies[after]
        bodies[before] += "\n" if lone and before >= first else "\n\n"
    return f"{head}\n{textwrap.indent(''.join(bodies), '    ')}"
