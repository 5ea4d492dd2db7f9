"""The package as of a chapter: of its heart only what has been built by then.

A definition of the heart belongs to the chapter that has it on a page: quoted in the
lesson, written in an exercise, or in `so_far.md`, which holds plainer forms of what is
finished only later. As of a chapter, the latest form until then stands, or none. A
helper that is on no page comes with the first definition that uses it.
"""

import ast
import re
import shutil
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from classroom import ROOT
from classroom.author.chapters import Chapter, chapters, read_cells
from classroom.cell.pages import page_of
from classroom.learner.assemble import class_of, places

FILES = "scalar/value graph/node graph/recording graph/saved_values graph/tensor"
FILES += " graph/walk rules/op autograd/checkpointing autograd/function"
FILES += " autograd/functional autograd/gradients"
HEART = {f"minigrad.{each.replace('/', '.')}": each + ".py" for each in FILES.split()}
FIRST, ARRAYS, LAST = 3, 7, 13  # the chapters that build it, on arrays from 7 on
LATER = '''\
"""What a later chapter builds has its name here already, and says so when used."""


class Later:
    """A name that a later chapter gives a meaning to."""

    def __init__(self, name, chapter):
        self.__dict__.update(name=name, chapter=chapter)

    def say(self, *args, **kwargs):
        raise NotImplementedError(f"{self.name} is built in chapter {self.chapter}")

    def __call__(self, *args, **kwargs):
        if kwargs or args and not callable(args[0]):
            self.say()
        return self.say if args else self  # what it decorates says so, too

    __bool__ = __enter__ = __iter__ = say

    def __exit__(self, *exception):
        pass

    def __getattr__(self, name):
        raise AttributeError(f"{self.name} is built in chapter {self.chapter}")
'''


def pages(chapter: Chapter) -> Iterator[str]:
    """Yield the pages of the package that a chapter has, the plainest forms first."""
    cells = [cell.source for cell in chapter.lesson if cell.cell_type == "code"]
    cells += [exercise.solved for exercise in chapter.exercises.values()]
    plainer = chapter.folder / "so_far.md"
    if plainer.exists():
        text = plainer.read_text(encoding="utf-8")
        cells = [c.source for c in read_cells(text) if c.cell_type == "code"] + cells
    yield from (source for source in cells if page_of(source))


@cache
def forms() -> dict[tuple[str, str], dict[int, str]]:
    """Map (module, name) to the text of that definition, by the chapter it is from."""
    found: dict = defaultdict(dict)
    for chapter in chapters():
        for source in pages(chapter):
            module = page_of(source)
            for name, text in texts(source).items():
                if module in HEART:
                    found[module, name][chapter.number] = text
    helpers = {}
    for module, file in HEART.items():
        for name, text in texts((ROOT / "minigrad" / file).read_text("utf-8")).items():
            if (module, name) not in found and not is_import(name):
                helpers[module, name] = text
    while helpers:  # each comes with the first that uses it
        users = {key: first_use(key, helpers[key], found) for key in helpers}
        known = {key: number for key, number in users.items() if number is not None}
        if not known:
            raise ValueError(f"no page has or uses {sorted(helpers)}")
        key = min(known, key=lambda key: (known[key], key))
        found[key][known[key]] = helpers.pop(key)
    return dict(found)


def texts(source: str) -> dict[str, str]:
    """Map each definition of a file to its text, not indented."""
    lines = source.splitlines()
    return {
        name: textwrap.dedent("\n".join(lines[slice(*place)]))
        for name, place in places(source).items()
        if not name.startswith("class ")
    }


def is_import(name: str) -> bool:
    """Return whether what `places` calls so is an import, a docstring or an `if`."""
    return bool(re.match(r"from |import |if |['\"]", name))


def first_use(key: tuple[str, str], text: str, found: dict) -> int | None:
    """Return the first chapter with a definition that uses this one, or its class."""
    module, name = key
    owner = class_of(name)
    siblings = [min(f) for (m, n), f in found.items() if m == module and owner and class_of(n) == owner]
    if siblings:
        return min(siblings)
    word = re.compile(rf"\b{re.escape(re.split('[:.]', name)[0])}\b")
    numbers = [n for each in found.values() for n, t in each.items() if word.search(t)]
    return min(numbers, default=None)


def as_of(module: str, number: int) -> str:
    """Return the text of a file of the heart as it stands after a chapter.

    At its end stand the names that come later, since other rooms may ask for them.
    """
    text = (ROOT / "minigrad" / HEART[module]).read_text(encoding="utf-8")
    lines, later, whole = text.splitlines(), {}, set()
    known = places(text)
    for name, (first, end) in sorted(known.items(), key=lambda place: -place[1][0]):
        if (module, name) in forms():
            standing = form(module, name, number)
            indent = "    " if class_of(name) else ""
            lines[first:end] = textwrap.indent(standing or "", indent).splitlines()
            whole |= {class_of(name)} if standing else set()
            if not standing and not class_of(name):
                later[re.split("[:.]", name)[0]] = min(forms()[module, name])
        elif name.startswith("class "):
            early = only_early(module, name, known, number)
            if early:
                lines[first + 1 : first + 1] = early
            elif name not in whole:
                later[name.removeprefix("class ")] = min(starts(module, name))
                lines[first : first + 1] = []
    text = without_unused("\n".join(lines) + "\n")
    if later:
        names = [f'{n} = Later("{n}", {c})' for n, c in sorted(later.items())]
        text = "from minigrad.later import Later\n".join(split_at_imports(text))
        text += "\n\n" + "\n".join(names) + "\n"
    return re.sub(r"\n{4,}", "\n\n\n", text)


def starts(module: str, family: str) -> list[int]:
    """Return the first chapter of each member of a class."""
    members = [f for (m, n), f in forms().items() if (m, class_of(n)) == (module, family)]
    return [min(member) for member in members]


def only_early(module: str, family: str, known: Mapping, number: int) -> list[str]:
    """Return the lines of what a class has until it is finished, and then no more."""
    members = {n: f for (m, n), f in forms().items() if (m, class_of(n)) == (module, family)}
    chapters = {k for n, f in members.items() if n in known for k in f if k <= number}
    early = {n: f for n, f in members.items() if n not in known}
    texts = [f[max(f)] for f in early.values() if max(chapters, default=0) <= min(f) <= number]
    return textwrap.indent("\n\n".join(texts), "    ").splitlines()


def form(module: str, name: str, number: int) -> str | None:
    """Return the latest text of a definition until a chapter; None if it has none."""
    known = [n for n in forms()[module, name] if n <= number]
    return forms()[module, name][max(known)] if known else None


def without_unused(text: str) -> str:
    """Return a file's text without imports that nothing in it uses any more."""
    lines, tree = text.splitlines(), ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {w for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) for w in re.findall(r"\w+", n.value) if len(n.value) < 40}
    for statement in reversed(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [n for n in statement.names if (n.asname or n.name.split(".")[0]) in used]
            here = slice(statement.lineno - 1, statement.end_lineno)
            if not names:
                lines[here] = []
            elif len(names) < len(statement.names):
                statement.names = names
                lines[here] = [ast.unparse(statement)]
    return "\n".join(lines) + "\n"


def split_at_imports(text: str) -> tuple[str, str]:
    """Return a file's text up to its last import, and what comes after."""
    imports = [s for s in ast.parse(text).body if isinstance(s, ast.Import | ast.ImportFrom)]
    lines = text.splitlines(keepends=True)
    end = imports[-1].end_lineno if imports else ast.parse(text).body[0].end_lineno
    return "".join(lines[:end]), "".join(lines[end:])


def write_package(folder: Path, number: int) -> None:
    """Write the package as of a chapter to folder/minigrad."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "minigrad", folder / "minigrad", ignore=leave)
    for module, file in HEART.items():
        if number < ARRAYS and module != "minigrad.scalar.value":
            continue
        text = as_of(module, number)
        (folder / "minigrad" / file).write_text(text, encoding="utf-8")
    (folder / "minigrad" / "later.py").write_text(LATER, encoding="utf-8")
    if ARRAYS <= number < LAST:
        plain = '"""Shortcuts for the whole engine: there are none yet."""\n\n\n'
        plain += "def install():\n    \"\"\"Do nothing.\"\"\"\n"
        (folder / "minigrad" / "fast.py").write_text(plain, encoding="utf-8")
