"""Where arrays are: in the computer's memory, or on a GPU, by way of CuPy.

Nothing here has been run on a GPU: tests use a type of array that stands in for CuPy's.
"""

from typing import Any


class device(str):
    """The name of a place for arrays: "cpu", or "cuda" for the GPU."""

    __slots__ = ()

    @property
    def type(self) -> str:
        """The name without a number: "cuda" of "cuda:0"."""
        return self.partition(":")[0]


def is_device(target: object) -> bool:
    """Return whether something is the name of a device, and not of a dtype, say."""
    return isinstance(target, str) and device(target).type in ("cpu", "cuda")


def is_available() -> bool:
    """Return whether CuPy is installed, and finds a GPU."""
    try:
        import cupy
    except ImportError:
        return False
    return cupy.cuda.is_available()


def device_of(array: Any) -> device:
    """Return where an array is."""
    return device("cuda" if type(array).__module__.startswith("cupy") else "cpu")


def moved(array: Any, target: str) -> Any:
    """Return an array on a device; ImportError for a GPU if there is no CuPy."""
    if device(target).type == device_of(array):
        return array
    import cupy  # for the device "cuda": pip install 'minigrad[gpu]'

    return (cupy.asarray if device(target).type == "cuda" else cupy.asnumpy)(array)
