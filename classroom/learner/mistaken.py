"""Put a recorded mistake into an answer that need not look like our solution.

A mistake is what differs between our solution and a wrong answer, line by line, as
Python itself writes their code. An answer gets it where it has the same lines as our
solution, but may name its variables otherwise. Its other lines stay as they are.
An answer that is written in another way gets a slip into one of its own lines.
"""

import ast
import copy
import re
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from itertools import product
from typing import NamedTuple

MOST = 5  # lines of a mistake; a longer one leaves too little of the learner's own
BLOCKS = {"body": "", "handlers": "", "orelse": "else:", "finalbody": "finally:"}
WORD = re.compile(r"\.\w+|\w+=(?!=)|\w+|\S")  # no `.attribute` or `argument=` varies
AROUND = sorted(product(range(4), repeat=2), key=sum)  # lines that tell places apart
INSIDE = ast.FunctionDef | ast.Lambda


class Line(NamedTuple):
    """A line as Python writes it, and which lines of the source it is."""

    text: str
    place: str  # such as "Value.backward"
    depth: int
    first: int
    end: int


class Broken(NamedTuple):
    """An answer with a mistake, the definition that has it, and its first line.

    If the mistake leaves a line out, it is the line before that.
    """

    source: str
    place: str
    line: str


def with_mistake(answer: str, ours: str, wrong: str) -> Broken | None:
    """Return an answer with what tells `wrong` from our solution.

    It is None if the mistake is too long, or the answer too different from ours.
    """
    try:
        our, other, their = map(lines_of, (ours, wrong, answer))
        texts = [[line[:3] for line in each] for each in (our, other)]
        parts = SequenceMatcher(None, *texts, False).get_opcodes()
        parts = [part[1:] for part in parts if part[0] != "equal"]
        if sum(max(j - i, m - k) for i, j, k, m in parts) > MOST:
            return None
        names, edits = Names(variables(ours), variables(answer)), []
        for i, j, k, m in parts:
            at = names.find(our, i, j, their)
            edits.append((at, at + j - i, our[i - 1 + (j > i)], other[k:m]))
        source, line = edited(answer, their, edits, names)
        place = our[parts[0][0] - (parts[0][0] == parts[0][1])].place
        return Broken(source, place or line.partition(" =")[0], line)
    except (LookupError, SyntaxError):
        return None


def slips(answer: str) -> Iterator[Broken]:
    """Yield an answer with one slip in it, for each slip that fits."""
    their = lines_of(answer)
    for at, line in enumerate(their):
        for texts in slipped(line.text):
            edit = at, at + 1, line, [line._replace(text=text) for text in texts]
            with suppress(LookupError, SyntaxError):
                source, shown = edited(answer, their, [edit], Names(set(), set()))
                yield Broken(source, line.place, shown)


def slipped(text: str) -> Iterator[list[str]]:
    """Yield what may become of a line: = for +=, no line, or a plus for a minus."""
    try:
        (node,) = ast.parse(text).body
    except SyntaxError:  # it begins a block
        return
    if isinstance(node, ast.AugAssign):
        yield [f"{ast.unparse(node.target)} = {ast.unparse(node.value)}"]
        yield []
    elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
        yield []
    for each in ast.walk(node):
        if isinstance(getattr(each, "op", None), ast.Sub):
            each.op = ast.Add()
            yield [ast.unparse(node)]
            each.op = ast.Sub()


@cache
def lines_of(source: str) -> tuple[Line, ...]:
    """Return the lines of some code, without comments, docstrings and annotations."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tuple(line for each in tree.body for line in _lines(each, "", 0))


def _lines(node: ast.AST, place: str, depth: int) -> Iterator[Line]:
    first = (
        min(each.lineno for each in [node, *getattr(node, "decorator_list", ())]) - 1
    )
    if not hasattr(node, "body"):
        yield Line(ast.unparse(node), place, depth, first, node.end_lineno)
        return
    if hasattr(node, "name") and not isinstance(node, ast.ExceptHandler):
        place = f"{place}.{node.name}".lstrip(".")
    bare = copy.copy(node)
    for block in BLOCKS.keys() & set(node._fields):
        setattr(bare, block, [ast.Pass()] if block == "body" else [])
    text = ast.unparse(bare).strip().rpartition("\n")[0]
    yield Line(text, place, depth, first, node.body[0].lineno - 1)
    end = 0
    for block, word in BLOCKS.items():
        inner = [*getattr(node, block, ())]
        if inner and word:
            yield Line(word, place, depth, end, inner[0].lineno - 1)
        end = inner[-1].end_lineno if inner else end
        if block == "body" and isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = inner[len(inner) > 1 and ast.get_docstring(node) is not None :]
        for each in inner:
            yield from _lines(each, place, depth + (block != "handlers"))


@cache
def variables(source: str) -> set[str]:
    """Return the names that only the functions of some code have."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, INSIDE)]
    nodes = [n for f in functions for n in ast.walk(f) if n is not f]
    stored = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store)]
    found = {n.id for n in stored if isinstance(n, ast.Name)}
    found |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    return found | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}


class Names(dict):
    """Our variables, each with the name that the learner gave it, as far as known."""

    def __init__(self, mine: set[str], theirs: set[str], known: tuple = ()) -> None:
        super().__init__(known)
        self.mine, self.theirs = mine, theirs

    def find(self, our: list[Line], i: int, j: int, their: list[Line]) -> int:
        """Return where lines i to j of ours are in an answer, and note the names.

        If other places have the same lines, the lines around them decide. Raises
        LookupError if there is no such place, or more than one.
        """
        for before, after in AROUND:
            wanted = our[max(i - before, 0) : j + after]
            alone = Names(self.mine, self.mine)
            if wanted and len([*alone.places(wanted, our)]) == 1:
                found = [*self.places(wanted, their)]
                if len(found) == 1:
                    self.update(found[0][1])
                    return found[0][0] + min(before, i)
        raise LookupError("there is no such place")

    def places(self, wanted: list[Line], lines: list[Line]) -> Iterator[tuple]:
        """Yield where lines are among others, with the names that they have there."""
        for at in range(len(lines) - len(wanted) + 1):
            known = Names(self.mine, self.theirs, self.items())
            pairs = [*zip(wanted, lines[at : at + len(wanted)])]
            if all(
                known.match(*pair, lines[at].depth - wanted[0].depth) for pair in pairs
            ):
                yield at, known

    def match(self, ours: Line, other: Line, deeper: int) -> bool:
        """Say whether a line is ours but for the names, and note these."""
        if ours.place != other.place or ours.depth + deeper != other.depth:
            return False
        words = [WORD.findall(line.text) for line in (ours, other)]
        return len(words[0]) == len(words[1]) and all(map(self.same, *words))

    def same(self, mine: str, theirs: str) -> bool:
        """Say whether two words can be the same variable, or are the same word."""
        if mine not in self.mine or theirs not in self.theirs:
            return mine == theirs
        taken = mine not in self and theirs in self.values()
        return not taken and self.setdefault(mine, theirs) == theirs

    def put_into(self, text: str) -> str:
        """Return a line of ours with the learner's names, or raise LookupError."""
        words = set(WORD.findall(text)) & self.mine - self.keys()
        if words & {*self.values()} or words - self.theirs:
            raise LookupError(f"unknown: {words}")
        return WORD.sub(lambda word: self.get(word[0], word[0]), text)


def edited(
    answer: str, their: list[Line], edits: list[tuple], names: Names
) -> tuple[str, str]:
    """Return an answer with other lines in some places, and the first changed line."""
    lines, expected, shown = answer.splitlines(), [*their], ""
    for at, end, near, new in reversed(edits):
        anchor = their[at if end > at else at - 1]
        margin = len(lines[anchor.first]) - len(lines[anchor.first].lstrip())
        texts = [names.put_into(line.text) for line in new]
        expected[at:end] = [line._replace(text=t) for line, t in zip(new, texts)]
        indents = [" " * (margin + 4 * (line.depth - near.depth)) for line in new]
        start = anchor.first if end > at else anchor.end
        stop = their[end - 1].end if end > at else start
        lines[start:stop] = [m + t for m, t in zip(indents, texts)]
        shown = lines[start if new else start - 1].strip()
    source = "\n".join(lines)
    if [line.text for line in lines_of(source)] != [line.text for line in expected]:
        raise LookupError("lines of the answer are not lines of their own")
    return source, shown
