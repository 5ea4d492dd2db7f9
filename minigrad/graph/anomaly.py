"""Anomaly mode: which line of the forward pass a nan in backward comes from."""

import traceback
import weakref
from contextlib import ContextDecorator
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = str(Path(__file__).parents[1])
on = False  # for all threads
_traces: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def remember(node: Any) -> None:
    """Keep the lines that a node was made from, up to the last outside of minigrad."""
    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(PACKAGE):
        stack.pop()
    _traces[node] = traceback.format_list(stack)


def check(node: Any, target: Any, share: Any) -> None:
    """Raise RuntimeError if what a node sends to a target has a nan in it."""
    numbers = getattr(share, "array", share)
    if not np.all(numbers == numbers):
        i = node.targets.index(target)
        lines = _traces.get(node, ["unknown: it was not made in anomaly mode"])
        raise RuntimeError(
            f"Function '{node.name()}' returned nan values in its {i}th output. "
            f"The forward call that made it:\n{''.join(lines)}"
        )


class detect_anomaly(ContextDecorator):
    """Let backward name the line of the forward pass that a nan comes from.

    For all threads, and slow: every node remembers where it was made.
    """

    def __enter__(self):
        global on
        self.before, on = on, True

    def __exit__(self, *exception):
        global on
        on = self.before
