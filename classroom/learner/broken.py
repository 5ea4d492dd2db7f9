"""Answers that `break` has broken, in .minigrad/break.json, and how they come back."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from classroom.all_or_nothing import Trouble, alone
from classroom.learner.find import open_learner
from classroom.learner.restore import keep, told_of_course
from classroom.notebook.files import (
    COURSE,
    Notebook,
    Unreadable,
    as_table,
    read_notebook,
    read_table,
    write_notebook,
    write_whole,
)
from classroom.notebook.merge import merge
from classroom.notebook.pristine import all_chapters

STATE = Path(".minigrad", "break.json")
BROKEN = (
    f"A bug is in your engine now. `{COURSE} break` tells its symptom, and "
    f"`{COURSE} break --stop` puts your answer back."
)
SAVED_SINCE = "You have saved {} in the meantime. Run the same command again."
OVER = "Well done! You have found the bug in {} and fixed it. The break is over."
GONE = (
    "{} is gone, so your answer to {} cannot be put back. Fix it, or `reset` it to its "
    "blank."
)
PARTLY = (
    "Your answer to {} is as it was before the break. Your other changes in {} stay."
)
HINTS = (
    "Hint 1: the mistake is in chapter {chapter}, in your answer to {name} in "
    "exercises/{notebook}.",
    "Hint 2: it is in {place}.",
    "Hint 3: look at this line, and at the next one: {line}",
)


def read_state(root: Path) -> dict[str, Any]:
    """Return the active breaks by exercise, and which exercise was the last one."""
    found = read_table(root / STATE)
    return {"active": as_table(found.get("active")), "last": found.get("last")}


def write_state(root: Path, state: dict[str, Any]) -> None:
    write_whole(root / STATE, json.dumps(state, indent=1))


def write(root: Path, found: dict[str, dict[str, Any]]) -> None:
    """Write the broken notebooks, after copies in exercises/kept/ and the state.

    So `break --stop` also ends a break that was killed.
    """
    with alone(root):
        notebooks: dict[str, Notebook] = {}
        for each in found.values():
            path, (place, source) = each["path"], each.pop("cell")
            if path not in notebooks:
                notebooks[path] = read_notebook(root / path)
            cell = notebooks[path]["cells"][place]
            if cell["source"] != source:
                raise Trouble(SAVED_SINCE.format(path))
            cell["source"] = each["source"]
        copies = {path: keep(root / path, root) for path in notebooks}
        for each in found.values():
            each["copy"] = copies[each["path"]].relative_to(root).as_posix()
        write_state(root, {"active": found, "last": [*found][-1]})
        for path, notebook in notebooks.items():
            write_notebook(root / path, notebook)


def mended(root: Path, path: Path, passed: Collection[str]) -> list[str]:
    """End the breaks whose exercises pass again; return what to say about them."""
    state = read_state(root)
    active = state["active"]
    here = [n for n in active if (root / active[n]["path"]).resolve() == path.resolve()]
    over = [name for name in here if name in passed]
    for name in over:
        del active[name]
    if over:
        write_state(root, state)
    return [OVER.format(name) for name in over]


def narrow_down(root: Path) -> list[str]:
    """Return one more hint about each active break, after those told before."""
    state, told = read_state(root), []
    for name, each in state["active"].items():
        each["hints"] = min(each["hints"] + 1, len(HINTS))
        about = {**each, "name": name, "chapter": name.partition(".")[0]}
        about["notebook"] = Path(each["path"]).name
        told += [hint.format(**about) for hint in HINTS[: each["hints"]]]
    if told:
        write_state(root, state)
        more = any(each["hints"] < len(HINTS) for each in state["active"].values())
        told += [f"The next hint: `{COURSE} hint`"] if more else []
    return told


def stop(root: Path) -> list[str]:
    """Put the answers back as they were before, and return what to say."""
    with alone(root):
        state, told = read_state(root), []
        active = state["active"]
        for path in dict.fromkeys(each["path"] for each in active.values()):
            names = [name for name in active if active[name]["path"] == path]
            told += put_back(root, {name: active[name] for name in names})
        write_state(root, {**state, "active": {}})
    return told or ["No answer is broken."]


def put_back(root: Path, breaks: dict[str, dict[str, Any]]) -> list[str]:
    """Put a notebook back; if there is more to keep in it, only some of its answers."""
    path, copy = ([*breaks.values()][0][key] for key in ("path", "copy"))
    place, older, these = root / path, root / copy, " and ".join(breaks)
    if not older.exists():
        return [GONE.format(copy, these)]
    merged, told = None, []  # the notebook as it is now, with these answers
    if place.exists():
        chapters = all_chapters(root)
        try:
            before, now = (open_learner(each, chapters) for each in (older, place))
            there = {cell["source"] for cell in now.cells}
            tried = any(each["source"] not in there for each in breaks.values())
            merged = merge(now, now.chapter, dict.fromkeys(breaks, before))
            whole = merge(before, before.chapter)
            tried |= merged.edited > 0
        except Unreadable as error:
            told, tried = [str(error)], True
        if tried:
            told.append(f"A copy of {path} is kept as {keep(place, root).name}.")
    if merged and merged.notebook != whole.notebook:
        write_notebook(place, merged.notebook)
        return [*told, PARTLY.format(these, path), *told_of_course(merged)]
    write_whole(place, older.read_bytes())
    return [*told, f"{path} is as it was before the break."]
