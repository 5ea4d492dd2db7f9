"""The grad mode says whether operations are recorded. Each thread has its own mode."""

import threading
from contextlib import ContextDecorator

from minigrad import errors


class Recording(threading.local):
    """Whether this thread records operations."""

    def __init__(self):
        self.on, self.outside = True, []


recording = Recording()


class Switch(ContextDecorator):
    """Set `recording.on` during a `with`, or during each call of a function."""

    value = False

    def __enter__(self):
        recording.outside.append(recording.on)
        recording.on = self.value

    def __exit__(self, *exception):
        recording.on = recording.outside.pop() if recording.outside else True

    def __call__(self, function):
        errors.refuse_generator(function)
        return super().__call__(function)


class no_grad(Switch):
    """Do not record the operations inside, so results have requires_grad=False."""


class enable_grad(Switch):
    """Record the operations inside, even within no_grad."""

    value = True


class set_grad_enabled(Switch):
    """Switch recording on or off, from now on or until the end of a `with`."""

    def __init__(self, mode: bool):
        self.value, self.before = bool(mode), recording.on
        recording.on = self.value

    def __enter__(self):
        recording.on = self.before
        super().__enter__()

    def __call__(self, function):
        recording.on = self.before
        return (enable_grad if self.value else no_grad)()(function)


def is_grad_enabled() -> bool:
    """Return whether this thread records operations."""
    return recording.on
