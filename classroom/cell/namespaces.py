"""Which names a cell sees: a learner's cells the learner's, course cells the course's.

The given cells and the checks run in a namespace of the course. It has its own names
and Python's, even if the learner has redefined them, and all other names of the
learner. A check has a copy, so that none of its names outlives it.
"""

import builtins
import re
from types import ModuleType

from IPython import get_ipython

from classroom.cell.asked import assigned

GIVEN = "# given"  # the first line of what an exercise notebook gives
CHECK = re.compile(r"^with check\(|# hidden check$", re.MULTILINE)
HIDDEN = re.compile(r"# hidden check$", re.MULTILINE)
PYTHONS = frozenset(vars(builtins))
_course = ModuleType("__main__")
_owned: set[str] = set()  # names that cells of the course have given a value
_learners: list[ModuleType] = []  # the learner's, while a cell of the course runs
course = vars(_course)


def is_given(source: str) -> bool:
    """Tell whether a cell is a given one, whose names the learner also gets."""
    return source.startswith(GIVEN)


def is_check(source: str) -> bool:
    """Tell whether a cell judges an answer."""
    return bool(CHECK.search(source))


def is_hidden(source: str) -> bool:
    """Tell whether a cell judges an answer by more than the notebook's check."""
    return bool(HIDDEN.search(source))


def enter(source: str) -> None:
    """Switch to the namespace of the course, before a cell of it runs."""
    shell = get_ipython()
    given, learners = is_given(source), shell.user_module
    if given:
        _owned.update(assigned(source))
    follow()
    module = _course if given else ModuleType("__main__")
    vars(module).update(course)
    _learners.append(learners)
    shell.user_module, shell.user_ns = module, vars(module)


def leave(source: str) -> None:
    """Switch back to the learner's namespace, and put a given cell's names into it."""
    shell = get_ipython()
    while _learners:
        shell.user_module = _learners.pop()
        shell.user_ns = vars(shell.user_module)
    if is_given(source):
        named = assigned(source) & course.keys()
        shell.user_ns.update({name: course[name] for name in named})


def learners() -> dict:
    """Return the names of the learner's cells, also while a check runs."""
    return vars(_learners[0]) if _learners else get_ipython().user_ns


def follow() -> None:
    """Copy the learner's names to the course's, except those that the course owns."""
    learners, kept = get_ipython().user_ns, _owned & course.keys()
    own = {name: course[name] for name in kept}
    theirs = {n: v for n, v in learners.items() if n[:2] == "__" or n not in PYTHONS}
    course.clear()
    course.update({**theirs, **own, "__builtins__": builtins})
