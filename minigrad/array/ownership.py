"""Who holds an array, and where freed ones go: not back to the operating system.

A training step frees megabytes and asks for as many again. glibc would hand them back
to Linux each time, and every page that comes anew costs a fault: in a fresh process
that made a step of a small transformer half as long again (benchmarks/README.md).
"""

import ctypes
import sys
from contextlib import suppress

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # numbers from glibc's malloc.h
KEEP, LARGEST = 128 << 20, 32 << 20  # bytes: of free memory, of a block that is kept


def alone() -> int:
    """Return what getrefcount says of an object that only one name holds.

    It counts its own argument, too, unless Python lends that, as it does since 3.14.
    """
    thing = object()
    return sys.getrefcount(thing)


ALONE = alone()


def keep_freed_memory() -> None:
    """Tell glibc's malloc, where it is the one in use, to keep some freed memory."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.mallopt(TRIM_THRESHOLD, KEEP)
            libc.mallopt(MMAP_THRESHOLD, LARGEST)
