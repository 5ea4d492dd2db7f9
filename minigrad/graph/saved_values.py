"""Which storage was written to, and when: so that backward can tell what is stale.

All that happens gets a number from one counter: every node of the graph, and every
write that an in-place operation makes. A node that saved an array is out of date when
a write to the array's storage has a larger number than the node. Views share their
storage, so they share its writes.
"""

import itertools
import weakref
from typing import Any

from minigrad.array.dtypes import ARRAYS, Array

numbers = itertools.count(1)
_writes: dict[int, tuple] = {}  # to each storage, by its id: how many, and the last


def storage(array: Array) -> Array:
    """Return the array whose memory `array` is a view of; itself if it is no view."""
    while array.base is not None and isinstance(array.base, ARRAYS):
        array = array.base
    return array


def wrote(array: Array) -> None:
    """Note that the storage of `array` is being written to, now."""
    owner = storage(array)
    if id(owner) not in _writes:  # and forget them when it goes: ids are given again
        weakref.finalize(owner, _writes.pop, id(owner), None)
    _writes[id(owner)] = version(owner) + 1, next(numbers)


def version(array: Array) -> int:
    """Return how often the storage of `array` was written to."""
    return _writes.get(id(storage(array)), (0, 0))[0]


def written_after(number: int, saved: Any) -> bool:
    """Tell whether an array in `saved`, a nest of lists, was written to since."""
    if isinstance(saved, tuple | list):
        return any(written_after(number, each) for each in saved)
    if not isinstance(saved, ARRAYS):
        return False
    return _writes.get(id(storage(saved)), (0, 0))[1] > number
