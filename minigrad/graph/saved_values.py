"""The last write to each storage, so that backward can find stale values.

One counter numbers every node of the graph and every write of an in-place operation.
A node that saved an array is out of date when a write to the array's storage has a
larger number than the node. Views share their storage, so they share its writes.
"""

import itertools
import weakref

from minigrad.array.dtypes import ARRAYS, Array

numbers = itertools.count(1)
_writes: dict[int, tuple] = {}  # the id of a storage: (writes, number of the last)


def storage(array: Array) -> Array:
    """Return the array whose memory `array` views, or `array` if it isn't a view."""
    while array.base is not None and isinstance(array.base, ARRAYS):
        array = array.base
    return array


def record_write(array: Array) -> None:
    """Record a write to the storage of `array`."""
    owner = storage(array)
    if id(owner) not in _writes:  # drop them with the owner, as ids are reused
        weakref.finalize(owner, _writes.pop, id(owner), None)
    _writes[id(owner)] = version(owner) + 1, next(numbers)


def version(array: Array) -> int:
    """Return how many times the storage of `array` was written to."""
    return _writes.get(id(storage(array)), (0, 0))[0]


def written_after(number: int, saved) -> bool:
    """Return whether `saved`, or any array in it, was written to after `number`."""
    if isinstance(saved, tuple | list):
        return any(written_after(number, each) for each in saved)
    if not isinstance(saved, ARRAYS):
        return False
    return _writes.get(id(storage(saved)), (0, 0))[1] > number
