"""Switches: whether operations are recorded, and whether backward looks for nan."""

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from functools import partial, wraps

from minigrad.graph import anomaly

recording = ContextVar("recording", default=True)  # each thread and task has its own
GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect takes longer than the rest


class Switch(ContextDecorator):
    """Sets a flag for the length of a `with`, or of each call of a function."""

    flag, value = recording, False

    def __new__(cls, function=None):
        made = super().__new__(cls)
        return made if function is None else Switch.__call__(made, function)

    def __init__(self, function=None):
        self._before = []

    def __call__(self, function):
        code = getattr(function, "__code__", None)
        if code and code.co_flags & GENERATOR:
            return stepwise(self, function)
        return super().__call__(function)

    def _recreate_cm(self):
        return type(self)()  # calls may be in several threads at once

    def __enter__(self):
        self._before.append(self.flag.set(self.value))

    def __exit__(self, *exception):
        self.flag.reset(self._before.pop())


def stepwise(switch: Switch, function: Callable) -> Callable:
    """Return a generator function for which the switch holds, but not at its yields."""

    @wraps(function)
    def generator(*args, **kwargs):
        steps = function(*args, **kwargs)
        step = partial(next, steps)
        while True:
            try:
                with switch._recreate_cm():
                    out = step()
            except StopIteration as end:
                return end.value
            try:
                step = partial(steps.send, (yield out))
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as error:
                step = partial(steps.throw, error)

    return generator


class no_grad(Switch):
    """Do not record what happens inside: results have requires_grad=False."""

    flag, value = recording, False


class enable_grad(Switch):
    """Record what happens inside, also within no_grad."""

    flag, value = recording, True


class set_grad_enabled(Switch):
    """Record or do not record: from now on, or until the end of a `with`."""

    def __new__(cls, mode: bool):
        return super().__new__(cls)

    def __init__(self, mode: bool):
        self.value, self._before = mode, [recording.set(mode)]

    def __call__(self, function):
        self.__exit__()
        return super().__call__(function)

    def _recreate_cm(self):
        return type(self)(self.value)

    def __enter__(self):
        if not self._before:
            super().__enter__()


class detect_anomaly(Switch):
    """Let backward name the line of the forward pass that a nan comes from.

    For all threads, and slow: every node remembers where it was made.
    """

    def __enter__(self):
        self._before.append(anomaly.on)
        anomaly.on = True

    def __exit__(self, *exception):
        anomaly.on = self._before.pop()


class set_detect_anomaly(detect_anomaly):
    """Look for nan or do not: from now on, or until the end of a `with`."""

    def __new__(cls, mode: bool):
        return super().__new__(cls)

    def __init__(self, mode: bool):
        self._before, anomaly.on = [anomaly.on], mode

    def __enter__(self):
        """Leave it as it has been set."""


def is_grad_enabled() -> bool:
    """Return whether operations are being recorded, in this thread or task."""
    return recording.get()
