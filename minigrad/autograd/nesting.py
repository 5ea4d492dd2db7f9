"""A transform inside the function of another one, such as jvp inside of jvp."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps

from minigrad.graph.recording import is_grad_enabled

inside = ContextVar("inside", default=False)  # of a function that a transform calls


def is_nested() -> bool:
    """Return whether another transform will differentiate the result."""
    return inside.get() and is_grad_enabled()


def nestable(recorded: Callable) -> Callable:
    """Wrap `recorded`, so that transforms inside of func count as nested."""

    @wraps(recorded)
    def run(func, inputs, create_graph=False):
        create_graph = create_graph or is_nested()
        token = inside.set(True)
        try:
            return recorded(func, inputs, create_graph)
        finally:
            inside.reset(token)

    return run
