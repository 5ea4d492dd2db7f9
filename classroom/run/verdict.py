"""The result of each exercise from the results of its cells, and its message.

under_nbval.py writes an event for each cell: which exercise it belongs to, why it
failed, if it did, and its output. The reason is one of our words. The output is the
answer's, and decides only what the message says.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from classroom.cell.asked import STILL_BLANK
from classroom.cell.cures import cure
from classroom.cell.odd_characters import advice
from classroom.run.roles import ROLES

LINES = 12  # of a cell's output that a message shows
ALL_CELLS = 20  # times the time-out of one cell, for all cells of a notebook
# Colors, and addresses, which differ from run to run
NOISE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]| at 0x[0-9A-Fa-f]+")
CELL_LINE = re.compile(  # the line that IPython's traceback points at in a cell
    r"^(?:Cell In|File <ipython).*\n(?:(?!Cell |File ).*\n)*?-+> *(\d+) *(.*)", re.M
)
WORDS = {
    "passed": ("passed", "green"),
    "wrong": ("wrong", "red"),
    "blank": ("not yet filled in", "yellow"),
    "slow": ("took too long", "red"),
    "died": ("stopped Python", "red"),
    "error": ("stopped with an error", "red"),
    "ungraded": ("not graded", "red"),  # by no fault of its own
}


@dataclass(frozen=True)
class Result:
    """The result of one exercise: a key of WORDS, a message, and parts, if it has any.

    `parts` says which share of its points each part earns.
    """

    status: str
    message: str = ""
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the points that it earns."""
        if self.status == "passed" or not self.parts:
            return float(self.status == "passed")
        return sum(self.parts.values()) / len(self.parts)


BLANK = Result("blank")


def result(
    name: str, events: list[dict], timeout: float, problem: str, last: str = "check"
) -> Result:
    """The result of one exercise, from the events of its cells and the chapter's.

    It has passed if a cell with the role `last` was reached and none has failed.
    """
    failed = [e for e in events if e["failed"] and e["exercise"] in (name, None)]
    failed.sort(key=is_forgiven)
    reached = any(e["exercise"] == name and e["role"] == last for e in events)
    if reached and all(map(is_forgiven, failed)):
        return Result("passed")
    if failed:
        return _explain(name, failed[0], timeout)
    return Result("error", f"The check itself could not run: {problem}")


def is_forgiven(event: dict[str, Any]) -> bool:
    """Whether a cell failed that may fail, and Python did not have to be stopped."""
    return ROLES[event["role"]].may_fail and event["failed"] not in STOPPED


STATUSES = {"Slow": "slow", "Late": "slow", "Died": "died", "Crashed": "died"}
STATUSES |= {"Busy": "ungraded", "Unstarted": "ungraded"}
BY_CHANCE = {"Busy", "Unstarted", "Crashed"}  # what may well not happen again
STOPPED = {
    "Slow": "A cell ran for {timeout:g} s and was stopped. Does a loop never end, or "
    "is the same work done again and again?",
    "Busy": "The machine was busy. Twice, a cell could not finish, because other "
    "programs were running, or it was importing. The answer could not be judged. Check "
    "again when fewer programs run.",
    "Unstarted": "Python did not start for this check, or did not answer. Connections "
    "to 127.0.0.1 may be blocked here (by a firewall, a VPN, a virus scanner), or the "
    "machine was too busy. The answer could not be judged.",
    "Crashed": "Python itself crashed in this answer, twice, or was killed by the "
    "system. Does it call itself without end, or need more memory than there is? "
    "Otherwise a library may be at fault.",
    "Late": "It was not run, because all cells before it took {total:g} s together, "
    "more than a whole notebook may take.",
    "Died": "Python itself ended in this answer, by exit() or by something else that "
    "ends the process. Remove it, because a cell needs no exit().",
    "Memory": "It used more memory than there is for one notebook, and was stopped.",
    "Flood": "It printed more than 1,000,000 characters and was stopped. Is there a "
    "print in a loop?",
}


def stopped(why: str, timeout: float, place: str = "") -> Result:
    """The result of an exercise whose cell was stopped, for a reason of STOPPED."""
    told = STOPPED[why].format(timeout=timeout, total=ALL_CELLS * timeout)
    return Result(STATUSES.get(why, "error"), told + place)


UNKNOWN = re.compile(r"name '(\w+)' is not defined")
NOWHERE = (
    "\nNo cell above the check gives `{}` a value (those below it are not run before). "
    "Is it spelled right?"
)
OTHER_INPUTS = (
    "It passes the check in the notebook, but is wrong for other inputs, or when it is "
    "called again. Try it with your own inputs, also odd ones, more than once."
)


def _explain(name: str, event: dict[str, Any], timeout: float) -> Result:
    kind, role = event.get("ename", ""), ROLES[event["role"]]
    if kind == "_IncompleteInputError":  # Python 3.13's, where a bracket stays open
        kind = "SyntaxError"
    text = NOISE.sub("", event.get("evalue", "")).removeprefix(f"{name}: ").strip()
    place = _where(NOISE.sub("", event.get("traceback", "")))
    if event["failed"] in STOPPED:
        return stopped(event["failed"], timeout, place)
    if kind == "NotFilledIn" or (
        kind == "NotImplementedError" and "fill this in" in text
    ):
        is_table = kind == "NotFilledIn" and "\n" in text
        return Result("blank", text if is_table else STILL_BLANK)
    if role.secret:
        return Result("wrong", OTHER_INPUTS)
    if event["failed"] == "differs":
        return Result("wrong", _difference(event["got"], event["expected"]))
    if not role.needs_answer:
        what = f"exercise {name}'s own" if event["exercise"] else "the chapter's own"
        return Result("error", f"A cell of {what} stopped with {kind}: {text}")
    if kind in ("WrongAnswer", "AssertionError") and role.judges:
        return Result("wrong", text or "The check is not satisfied.")
    text = re.sub(r"\([^\s(]+\.py, line (\d+)\)", r"(line \1)", text)
    told = f"{kind}: {text}" if text else kind or "It raised an error without a name."
    odd = advice(text) if kind == "SyntaxError" else ""
    unknown = UNKNOWN.match(text)
    nowhere = NOWHERE.format(unknown[1]) if unknown else ""
    more = nowhere + (odd and f"\n{odd}") + cure(text, place)
    return Result("error", told + place + more)


def _where(traceback: str) -> str:
    """The learner's line that IPython's traceback points at, if it shows one."""
    found = CELL_LINE.findall(traceback + "\n")
    return f"\nIt happened in line {found[-1][0]}: {found[-1][1]}" if found else ""


def _difference(got: str, expected: str) -> str:
    if got == expected:
        return "The check passed, but its output or its picture is not as expected."
    advice = ""
    if expected.strip() and expected.strip() in got:
        advice = "\nA print left in the answer counts as a difference. Remove it."
    return (
        "The output of the check differs.\n"
        f"    your answer: {_short(got)}\n    expected:    {_short(expected)}{advice}"
    )


def _short(text: str) -> str:
    kept = text.strip().splitlines() or ["nothing"]
    more = [f"... and {len(kept) - LINES} more lines"] if len(kept) > LINES else []
    return "\n                 ".join([*(k[:200] for k in kept[:LINES]), *more])
