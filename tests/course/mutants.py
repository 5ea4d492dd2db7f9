"""Solutions with one thing changed: does a check, visible or hidden, notice?

.venv/bin/python tests/course/mutants.py 5 9      all mutants of two chapters
.venv/bin/python tests/course/mutants.py          of all chapters; takes minutes

A table shows for each exercise how many mutants there are, how many pass the visible
check, and how many also pass the hidden one. Below it is each that passes and is not in
equal_mutants.txt, the list of those that mean the same as the solution.
"""

import ast
import builtins
import copy
import io
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

# Without engines of one's own, whose judge has tests of its own, and what wants PyTorch
JUDGED = [n for n in range(30) if n not in (6, 10, 15, 25)]
SECONDS = 10  # for one cell
MEMORY = 3 << 30  # bytes
LISTED = Path(__file__).with_name("equal_mutants.txt")
SWAPPED = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
}
ORDERED = ast.Sub, ast.Div, ast.MatMult, ast.Pow
DROPPED = ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Raise, ast.Return


class Mutant(NamedTuple):
    """An answer that differs from the solution in one place, which `name` tells."""

    name: str
    source: str


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can replace a node, each time with one change."""
    if other := SWAPPED.get(type(getattr(node, "op", None))):
        yield replaced(node, op=other())
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ORDERED):
            yield replaced(node, left=node.right, right=node.left)
        for side in ("left", "right"):
            if isinstance(getattr(node, side), ast.Name | ast.Attribute):
                yield replaced(node, **{side: ast.Constant(1)})
    if isinstance(node, ast.AugAssign):
        target = copy.deepcopy(node.target)
        yield ast.Assign([target], node.value, lineno=node.lineno)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield replaced(node, ops=[SWAPPED[type(node.ops[0])](), *node.ops[1:]])
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield replaced(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        known = isinstance(node.value, bool) or node.value in (0, 1)
        yield ast.Constant(
            type(node.value)(not node.value) if known else node.value + 1
        )
    loaded = isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load)
    if loaded and len(node.elts) > 1:
        yield replaced(node, elts=node.elts[:-1])
    if isinstance(node, ast.Call) and node.keywords:
        for n in range(len(node.keywords)):
            yield replaced(node, keywords=node.keywords[:n] + node.keywords[n + 1 :])
    text = isinstance(getattr(node, "value", None), ast.Constant)
    if isinstance(node, DROPPED) and not (text and isinstance(node, ast.Expr)):
        yield ast.Pass()


# What an answer must not do to what it is given, unless that is what is asked for
SPOILT = """\


def spoilt(x, y):
    import builtins
    import numpy

    array = getattr(x, "array", x)
    if isinstance(array, numpy.ndarray) and array.flags.writeable:
        numpy.add(array, 1, out=array, casting="unsafe")
        builtins.written = True
    if isinstance(x, list) and x is not y:
        x.append(None)
        builtins.written = True
    return y
"""


def spoilers(solved: str, lines: set[int]) -> Iterator[tuple[str, str]]:
    """Yield the name and source of each answer that finally writes into an argument."""
    functions = [
        n for n in ast.walk(ast.parse(solved)) if isinstance(n, ast.FunctionDef)
    ]
    for k, function in enumerate(functions):
        names = [a.arg for a in function.args.args if a.arg not in ("self", "cls")]
        for name in names if lines & {n.lineno for n in function.body} else ():
            tree = ast.parse(solved)
            same = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)][k]
            for node in ast.walk(same):
                if isinstance(node, ast.Return) and node.value:
                    new = ast.parse(f"spoilt({name}, 0)", mode="eval").body
                    new.args[1] = node.value
                    node.value = new
            source = ast.unparse(ast.fix_missing_locations(tree))
            yield f"{function.name}: writes into {name}", source + SPOILT


def replaced(node: ast.AST, **fields) -> ast.AST:
    """Return a node of the same type in which some fields are others."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields}, lineno=node.lineno)


class Put(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self.node, self.other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        return self.other if node is self.node else self.generic_visit(node)


def mutants(exercise) -> list[Mutant]:
    """Return the mutants of an exercise's solution, each once."""
    solved, lines = exercise.solved, blank_lines(exercise.solution)
    header = solved.split("\n", 1)[0] + "\n" if solved.startswith("# ") else ""
    found, tree = {}, ast.parse(solved)
    nodes = [n for n in ast.walk(tree) if getattr(n, "lineno", 0) in lines]
    for node in nodes:
        for other in changed(node):
            before, after = (" ".join(ast.unparse(n).split()) for n in (node, other))
            name = f"{exercise.name} line {node.lineno}: {before} -> {after}"
            Put(node, other).visit(tree)
            with suppress(SyntaxError):
                found.setdefault(compiled(header + ast.unparse(tree)), name)
            Put(other, node).visit(tree)
    for name, source in spoilers(solved, lines):
        found.setdefault(compiled(header + source), f"{exercise.name} {name}")
    return [Mutant(name, source) for source, name in found.items()]


def compiled(source: str) -> str:
    """Return the source of an answer; raise SyntaxError if it is invalid."""
    compile(source, "mutant", "exec")
    return source


def blank_lines(solution: str) -> set[int]:
    """Return the numbers of those lines of a solved answer that a learner fills in."""
    inside, found, number = False, set(), 0
    for line in solution.splitlines():
        if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION"):
            inside = "BEGIN" in line
            continue
        number += 1
        found |= {number} if inside else set()
    return found


class Judge:
    """Runs cells as a notebook does, in this process."""

    def __init__(self, chapter) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        from classroom.author.compose import SETUP
        from classroom.cell.namespaces import GIVEN

        settings = Config({"HistoryManager": {"enabled": False}})
        self.said = io.StringIO()  # one stream for all: the course puts it back
        self.shell = InteractiveShell.instance(config=settings)
        self.cells = {
            cell.metadata["check"]: cell.source
            for cell in chapter.exercise_cells
            if cell.metadata.get("check")
        }
        self.run(SETUP)
        for cell in chapter.exercise_cells:
            if name := cell.metadata.get("answer"):
                self.run(chapter.exercises[name].solved)
            elif cell.cell_type == "code" and not cell.metadata.get("check"):
                self.run(f"{GIVEN}\n{cell.source}")
        self.forget()

    def run(self, source: str) -> tuple[bool, str]:
        """Return whether a cell ran to its end, and what it printed."""
        self.said.seek(0)
        self.said.truncate()
        signal.alarm(SECONDS)
        try:
            with redirect_stdout(self.said), redirect_stderr(io.StringIO()):
                good = self.shell.run_cell(source).success
        except TimeoutError:
            good = False
        finally:
            signal.alarm(0)
        return good, self.said.getvalue()

    def forget(self) -> None:
        """Restore the package's own definitions."""
        from classroom.cell import pages

        pages._on_trial[:0], pages._kept[:] = pages._kept, []
        pages.restore()

    def passes(self, exercise, answer: str) -> tuple[bool, str]:
        """Return whether the visible check passes, and what the hidden one prints."""
        from classroom.cell.asked import assigned

        draw = "rng = __import__('random').Random(7)"
        builtins.written = not answer.endswith(SPOILT)
        for name in assigned(exercise.solved):  # of an answer before
            self.shell.user_ns.pop(name, None)
        try:
            if not self.run(answer)[0]:
                return False, ""
            if not self.run(self.cells[exercise.name])[0]:
                return False, ""
            said = self.run(f"{draw}\n{exercise.drawn}\n# hidden check")[1]
            return builtins.written, said  # who has written nothing is no mutant
        finally:
            self.forget()


def stop(*_) -> None:
    raise TimeoutError("it ran too long")


def judge_chapter(
    number: int, most: int, seed: int
) -> list[tuple[str, int, list, list]]:
    """Return (exercise, mutants, names that pass, that pass the hidden one, too)."""
    from classroom.author.chapters import chapters

    bound_memory()
    signal.signal(signal.SIGALRM, stop)
    chapter, found = chapters()[number], []
    judge = Judge(chapter)
    for name, exercise in chapter.exercises.items():
        passed, expected = judge.passes(exercise, exercise.solved)
        assert passed and expected, f"the solution of {name} does not pass"
        all_of_them = mutants(exercise)
        chosen = random.Random(seed).sample(all_of_them, min(most, len(all_of_them)))
        told = {m.name: judge.passes(exercise, m.source) for m in chosen}
        visible = [each for each, (good, _) in told.items() if good]
        hidden = [each for each in visible if told[each][1] == expected]
        judge.run(exercise.solved)
        judge.forget()
        found.append((name, len(chosen), visible, hidden))
    return found


def bound_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def equal() -> set[str]:
    """Return the names of those mutants that mean the same as the solution."""
    return set(LISTED.read_text("utf-8").splitlines())


def judged(numbers: list[int], most: int = 10**9, seed: int = 0) -> list[tuple]:
    """Judge the mutants of some chapters, each chapter in a process of its own."""
    found = []
    for number in numbers:
        words = [sys.executable, __file__, "--one", str(number), str(most), str(seed)]
        env = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
        run = subprocess.run(
            words, capture_output=True, text=True, env=env, check=False
        )
        if run.returncode:
            raise RuntimeError(f"chapter {number}: {run.stderr[-2000:]}")
        found += ast.literal_eval(run.stdout.splitlines()[-1])
    return found


def main(words: list[str]) -> None:
    if words[:1] == ["--one"]:
        print(judge_chapter(*map(int, words[1:])))
        return
    known = equal()
    print("exercise  mutants  pass the check  and the hidden one  of these not equal")
    for number in map(int, words or JUDGED):
        for name, count, visible, hidden in judged([number]):
            left = [each for each in hidden if each not in known]
            sizes = f"{count:7}  {len(visible):14}  {len(hidden):18}  {len(left):17}"
            print(f"{name:8}  {sizes}", flush=True)
            for each in visible:
                if each not in known:
                    also = "both" if each in hidden else "the visible check"
                    print(f"    passes {also}: {each.removeprefix(name + ' ')}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main(sys.argv[1:])
