"""What commands meet outside of the course: streams, and folders that are closed.

course.py needs this before anything is installed, so it needs Python alone.
"""

import os
import sys
from pathlib import Path

NOT_HERE = (
    "{path} cannot be written to: {why}. That is not in the course's folder, so it is "
    "no help to copy the course. Let yourself write there{variable}, and run the same "
    "command again."
)


def open_streams() -> None:
    """Open what whoever started us has closed: there is nothing to read, or to see.

    In the order of their numbers, so that each gets its own.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def not_here(path: str, why: str, root: Path) -> str:
    """What to tell of a place that cannot be written to; "" if it is in the course."""
    if not os.path.isabs(path) or Path(path).is_relative_to(root):
        return ""
    homes = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP")
    asked = [n for n in os.environ if n in homes or n.endswith(("_DIR", "_HOME"))]
    leads = [n for n in asked if os.path.isabs(os.environ[n])]
    leads = [n for n in leads if Path(path).is_relative_to(os.environ[n])]
    nearest = max(leads, key=lambda n: len(os.environ[n]), default="")
    variable = f", or let the variable {nearest} lead to another folder" * bool(nearest)
    return NOT_HERE.format(path=path, why=why, variable=variable)
