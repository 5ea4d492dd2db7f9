"""Anomaly mode: which line of the forward pass a nan in backward comes from."""

import traceback
import weakref
from collections.abc import Iterator
from contextlib import ContextDecorator
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.graph.node import Node

PACKAGE = str(Path(__file__).parents[1])
_usual: list[tuple] = []  # the methods of Node, while others stand in their place
_traces: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def remember(node: Node, *args: Any) -> None:
    """Make a node, and remember its traceback, up to the last line outside minigrad."""
    _usual[0][0](node, *args)
    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(PACKAGE):
        stack.pop()
    _traces[node] = traceback.format_list(stack)


def checked(node: Node, g: Any, wanted: set | None) -> Iterator[tuple]:
    """Yield a node's shares; raise RuntimeError if there is a nan in one of them."""
    for target, share in _usual[0][1](node, g, wanted):
        numbers = getattr(share, "array", share)
        if not np.all(numbers == numbers):
            i = node.targets.index(target)
            lines = _traces.get(node, ["unknown: it was not made in anomaly mode"])
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {i}th output. "
                f"The forward call that made it:\n{''.join(lines)}"
            )
        yield target, share


class detect_anomaly(ContextDecorator):
    """Let backward name the line of the forward pass that a nan comes from.

    For all threads, and slow: every node remembers where it was made.
    """

    def __enter__(self):
        _usual.append((Node.__init__, Node.shares))
        Node.__init__, Node.shares = remember, checked

    def __exit__(self, *exception):
        Node.__init__, Node.shares = _usual.pop()
