"""Anomaly mode: which line of the forward pass a nan in backward comes from."""

import traceback
import weakref
from contextlib import ContextDecorator
from typing import Any

import numpy as np

on = False  # for all threads
_traces: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def remember(node: Any) -> None:
    """Keep the lines that a node was made from."""
    _traces[node] = traceback.format_stack()[:-3]


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
