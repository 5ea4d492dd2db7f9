"""The package as of a chapter, with only the part of its heart built by then.

A definition of the heart belongs to the chapter that shows it: quoted in the lesson,
written in an exercise, or in the chapter's `so_far.md`, which holds simpler forms of
definitions that only later chapters finish. As of a chapter, the package has the latest
form until then, or none. A helper that no chapter shows comes with the first definition
that uses it.
"""

import ast
import difflib
import re
import shutil
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from classroom import ROOT
from classroom.author.blanks import marked, solved
from classroom.author.chapters import Chapter, chapters
from classroom.author.quotes import quoted
from classroom.cell.pages import page_of
from classroom.notebook.definitions import class_of, places

FILES = "scalar/value graph/node graph/recording graph/saved_values graph/tensor"
FILES += " graph/walk rules/op autograd/function autograd/functional"
FILES += " autograd/gradients autograd/checkpointing"
HEART = {f"minigrad.{each.replace('/', '.')}": f"{each}.py" for each in FILES.split()}
PLACES = {"so_far.md": "so far", "lesson.md": "lesson"}
FENCE = re.compile(r"^```python(.*)\n((?:.*\n)*?)```", re.MULTILINE)
ANSWER, QUOTE = re.compile(r'answer="(.+?)"'), re.compile(r'quote="(.+?)"')
FIRST, ARRAYS, LAST = 3, 8, 16  # the chapters that build it; on arrays from 8 on
# What an array is for Python and NumPy, and what an operation is called: in no lesson
NOT_TAUGHT = re.compile(
    r"Tensor\.\(?(__(?!slots|init)|shape|ndim|dtype|size|numel|is_floating_point|item)|"
    r"Tensor\.(tolist|numpy|register_hook)|Op\.(bind|compute|on_arrays)|OPERANDS|"
    r"METHODS|__all__|ops$|methods|operator|functions|ufuncs|to_array|as_bare"
)
NO_DEFINITION = re.compile(r"from |import |if |['\"]|class ")
LATER = ROOT / "classroom" / "templates" / "later.py"  # stands in for later names
NO_SHORTCUTS = 'def install():\n    """Do nothing: shortcuts come at the end."""\n'
FEW = 4  # changed lines of a given definition that a diff shows
GROWN = """\
<details><summary>What this chapter adds to the engine</summary>

Each line is a definition, with its length; first those that you write in an exercise.
If only a few lines of a given definition change, these lines are shown. In a clone of
the course `python3 course.py engine {number}` writes the package as it stands now, with
your answers in it.

~~~diff
{lines}
~~~

</details>"""


def pages(chapter: Chapter) -> Iterator[tuple[str, str]]:
    """Yield (where, source) of a chapter's pages; later ones replace earlier ones.

    The files are read without Jupytext, which learners do not have.
    """
    files = [chapter.folder / name for name in PLACES]
    for path in [*filter(Path.exists, files), *chapter.files]:
        for options, text in FENCE.findall(path.read_text(encoding="utf-8")):
            answer, quote = ANSWER.search(options), QUOTE.search(options)
            source = quoted(quote[1]) if quote else text.rstrip("\n")
            source = solved(marked(source, text) if quote and answer else source)
            if page_of(source) and (answer or path.name in PLACES):
                yield answer[1] if answer else PLACES[path.name], source


def texts(source: str) -> dict[str, str]:
    """Map each definition of a file or page, and each method, to its text."""
    lines = source.splitlines()
    return {
        name: textwrap.dedent("\n".join(lines[slice(*place)]))
        for name, place in places(source).items()
        if not NO_DEFINITION.match(name)
    }


def text_of(module: str) -> str:
    """Return the text of a file of the heart as the package has it."""
    return (ROOT / "minigrad" / HEART[module]).read_text(encoding="utf-8")


@cache
def forms() -> dict[tuple[str, str], dict[int, tuple[str, str]]]:
    """Map (module, name) to {chapter: (text of the definition, where it stands)}."""
    found: dict = defaultdict(dict)
    for chapter in chapters():
        for where, source in pages(chapter):
            for name, text in texts(source).items():
                if page_of(source) in HEART:
                    found[page_of(source), name][chapter.number] = text, where
    defined = [(m, n, t) for m in HEART for n, t in texts(text_of(m)).items()]
    helpers = {(m, n): text for m, n, text in defined if (m, n) not in found}
    while helpers:
        number, key = min((first_use(key, found), key) for key in helpers)
        found[key][number] = helpers.pop(key), "helper"
    return dict(found)


def first_use(key: tuple[str, str], found: dict) -> int:
    """Return the first chapter with a definition that uses this one, or its class."""
    module, name = key
    siblings = members(module, class_of(name), found) if class_of(name) else {}
    if siblings:
        return min(map(min, siblings.values()))
    own = re.split("[:.]", name)[0]
    texts_by_chapter = [(n, text) for f in found.values() for n, (text, _) in f.items()]
    used = [n for n, text in texts_by_chapter if own in names_in(text)]
    return min(used, default=FIRST)  # other rooms ask for it


@cache
def names_in(text: str) -> set[str]:
    """Return the names that a definition uses."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def members(module: str, family: str | None, found: dict) -> dict[str, dict]:
    """Return the forms of all members of a class."""
    return {n: f for (m, n), f in found.items() if (m, class_of(n)) == (module, family)}


def form(module: str, name: str, number: int) -> str:
    """Return the latest text of a definition until a chapter, or "" if it has none."""
    known = [n for n in forms()[module, name] if n <= number]
    return forms()[module, name][max(known)][0] if known else ""


def outgrown(number: int, page: str) -> dict[str, list[str]]:
    """Return {"outgrown": the chapter's names that grow later}, or {}."""
    chapters_of = {
        name: forms().get((page_of(page), name), [0]) for name in texts(page)
    }
    found = [name for name, numbers in chapters_of.items() if max(numbers) > number]
    return {"outgrown": found} if found else {}


def as_of(module: str, number: int) -> str:
    """Return the text of a file of the heart as it is after a chapter.

    The names that come later are at its end, since other modules may ask for them.
    """
    text, later, standing = text_of(module), {}, set()
    lines, known = text.splitlines(), places(text)
    for name, (first, end) in sorted(known.items(), key=lambda place: -place[1][0]):
        if (module, name) in forms():
            new = form(module, name, number)
            indent = "    " if class_of(name) else ""
            lines[first:end] = textwrap.indent(new, indent).splitlines()
            standing |= {class_of(name)} if new else set()
            if not new and not class_of(name):
                later[re.split("[:.]", name)[0]] = min(forms()[module, name])
        elif name.startswith("class "):
            early = only_early(module, name, known, number)
            lines[first + 1 : first + 1] = early
            if not early and name not in standing:
                del lines[first]
                later[name[6:]] = min(map(min, members(module, name, forms()).values()))
    return with_names_of_later("\n".join(lines) + "\n", later)


def only_early(module: str, family: str, known: dict, number: int) -> list[str]:
    """Return the lines of methods that a class has only until it is finished."""
    of_class = members(module, family, forms())
    finished = {k for n, f in of_class.items() if n in known for k in f if k <= number}
    early = [f[max(f)][0] for n, f in of_class.items() if n not in known
             and max(finished, default=0) <= min(f) <= number]  # fmt: skip
    return textwrap.indent("\n\n".join(early), "    ").splitlines()


def with_names_of_later(text: str, later: dict[str, int]) -> str:
    """Return a file's text with stand-ins for later names."""
    if later:
        names = [f'{n} = Later("{n}", {c})' for n, c in sorted(later.items())]
        text += "\n\n" + "\n".join(names) + "\n"
        start = ast.parse(text).body[0].end_lineno  # of the docstring
        lines = text.splitlines()
        lines[start:start] = ["", "from minigrad.later import Later"]
        text = "\n".join(lines) + "\n"
    return re.sub(r"\n{4,}", "\n\n\n", text)


def write_package(folder: Path, number: int) -> None:
    """Write the package as of a chapter to folder/minigrad."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "minigrad", folder / "minigrad", ignore=leave)
    written = {HEART[m]: as_of(m, number) for m in heart(number)}
    if number < LAST:
        written["later.py"] = LATER.read_text(encoding="utf-8")
    if ARRAYS <= number < LAST:
        written["fast.py"] = NO_SHORTCUTS
    for file, text in written.items():
        (folder / "minigrad" / file).write_text(text, encoding="utf-8")


def heart(number: int) -> list[str]:
    """Return the modules of the heart that are built by a chapter."""
    return [m for m in HEART if number >= ARRAYS or m.endswith("value")]


def added(number: int) -> str:
    """Return what a chapter adds to the heart, as a cell of Markdown, or ""."""
    if not FIRST <= number <= LAST:
        return ""
    chapter = next(each for each in chapters() if each.number == number)
    new = {m: [growth(m, name, number) for name in texts_of(m)] for m in heart(number)}
    for where, page in pages(chapter):
        if page_of(page) not in HEART and where in chapter.exercises:
            rules = [f"+ {', '.join(texts(page))}, exercise {where}"]
            new.setdefault(page_of(page), []).append(rules)
    lines = []
    for module, found in sorted(new.items(), key=lambda item: theirs(item[1])):
        if told := sum(sorted(found, key=theirs), []):
            lines += [module.replace(".", "/") + ".py", *told]
    return GROWN.format(number=number, lines="\n".join(lines)) if lines else ""


def theirs(lines: list) -> bool:
    """Return whether no line of a diff, or of several, names an exercise."""
    return not any(", exercise" in "".join(line) for line in lines)


def texts_of(module: str) -> list[str]:
    """Return the names of a file's definitions, in its order, docstrings left out."""
    names = [n for n in texts(text_of(module)) if "'" not in n and '"' not in n]
    return [name for name in names if not NOT_TAUGHT.match(name)]


def growth(module: str, name: str, number: int) -> list[str]:
    """Return the lines of a diff for one definition, from the chapter before."""
    before, now = form(module, name, number - 1), form(module, name, number)
    if number not in forms()[module, name]:
        return []
    _, where = forms()[module, name][number]
    by = f", exercise {where}" if re.match(r"\d", where) else ""
    again = [n for n in forms()[module, name] if n > number]
    by += f", again in chapter {min(again)}" if again else ""
    if before == now:
        return [f"  {name}: until now given{by}"] if "exercise" in by else []
    sides = before.splitlines(), now.splitlines()
    changes = [line.rstrip() for line in difflib.ndiff(*sides) if line[0] in "+-"]
    if before and len(changes) <= FEW and "exercise" not in by:
        return [f"  {name}{by}", *changes]
    was, size = map(len, sides)
    told = f", were {was}" if was != size else ", some of them new"
    lines = f"{size} line{'s' * (size > 1)}"
    return [f"+ {name}: {lines}{told * bool(before)}{by}"]
