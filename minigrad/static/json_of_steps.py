"""A step as one line of JSON, and back: functions by name, arguments by line number."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.static.steps import CALLS, GIVEN, Step

KEPT = "shape", "dtype", "value", "name", "line"
MAKERS = {
    "array": lambda parts: np.array(*parts),
    "dtype": np.dtype,
    "tuple": lambda parts: tuple(map(from_json, parts)),
    "list": lambda parts: list(map(from_json, parts)),
    "slice": lambda parts: slice(*parts),
    "ellipsis": lambda _: ...,
}


def to_line(step: Step, place: Mapping[Step, int]) -> dict[str, Any]:
    """Return what a file says of a step, in the terms of JSON."""
    said: dict[str, Any] = {"call": step.call}
    said["arguments"] = [place[argument] for argument in step.arguments]
    said["options"] = {k: to_json(v) for k, v in step.options.items()}
    said |= {k: to_json(getattr(step, k)) for k in KEPT}
    return {k: v for k, v in said.items() if v not in (None, "", {})}


def from_line(said: dict[str, Any], steps: list[Step]) -> Step:
    """Return the step of which to_line said this, after `steps`."""
    if said["call"] not in {*CALLS, *GIVEN}:
        raise ValueError(f"it calls {said['call']!r}, which no step may")
    arguments = [steps[i] for i in said["arguments"]]
    options = {k: from_json(v) for k, v in said.get("options", {}).items()}
    kept = {k: from_json(said[k]) for k in KEPT if k in said}
    return Step(said["call"], arguments, options, **kept)


def to_json(value: Any) -> Any:
    """Return a value that a step knows in the terms of JSON."""
    if isinstance(value, ndarray | np.generic):
        return {"array": [value.tolist(), value.dtype.name]}
    if isinstance(value, np.dtype | type):
        return {"dtype": np.dtype(value).name}
    if isinstance(value, tuple | list):
        return {type(value).__name__: list(map(to_json, value))}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    return {"ellipsis": None} if value is ... else value


def from_json(value: Any) -> Any:
    """Return what to_json was given."""
    if not isinstance(value, dict):
        return value
    ((what, parts),) = value.items()
    return MAKERS[what](parts)
