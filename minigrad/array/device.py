"""minigrad.cuda: whether there is a GPU, which minigrad uses by way of CuPy."""


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
