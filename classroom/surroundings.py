"""Streams that are closed: course.py meets them before anything is installed."""

import os
import sys


def open_streams() -> None:
    """Open what whoever started us has closed: there is nothing to read, or to see.

    In the order of their numbers, so that each gets its own.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
