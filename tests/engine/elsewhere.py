"""An array type that is not NumPy's: as strict about mixing the two as CuPy's."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from minigrad.array.dtypes import Array

ATTRIBUTES = ("shape", "ndim", "size", "dtype", "strides", "itemsize", "flags")


class Elsewhere(NDArrayOperatorsMixin):
    """Numbers that NumPy reaches by its protocols alone, and never by accident."""

    def __init__(self, numbers, base=None):
        self.numbers, self.base = np.asarray(numbers), base

    def __array__(self, dtype=None, copy=None):
        raise TypeError("these numbers are elsewhere: no implicit conversion")

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if out:
            options["out"] = tuple(map(inside, out))
        place = ufunc if method == "__call__" else getattr(ufunc, method)
        inputs = [inside(x, method == "at" and i == 1) for i, x in enumerate(inputs)]
        result = place(*inputs, **options)
        return out[0] if out else self.wrapped(result)

    def __array_function__(self, function, types, args, kwargs):
        result = function(*inside(args), **{k: inside(v) for k, v in kwargs.items()})
        return self.wrapped(result)

    def wrapped(self, result):
        if not isinstance(result, np.ndarray | np.generic):
            return result
        shares = np.may_share_memory(result, self.numbers)
        return Elsewhere(result, self if shares else None)

    def __getattr__(self, name):
        if name.startswith("__"):  # such as __array_struct__: no way around
            raise AttributeError(name)
        found = getattr(self.numbers, name)
        if name in ATTRIBUTES:
            return found
        if name in ("T", "mT"):
            return self.wrapped(found)
        return lambda *args, **kwargs: self.wrapped(found(*inside(args), **kwargs))

    def __getitem__(self, index):
        return self.wrapped(self.numbers[inside(index, indices=True)])

    def __setitem__(self, index, value):
        self.numbers[inside(index, indices=True)] = inside(value)

    def __len__(self):
        return len(self.numbers)

    def __bool__(self):
        return bool(self.numbers)


Array.register(Elsewhere)


def inside(value, indices=False):
    """Return the numbers of what is elsewhere; refuse arrays that are not."""
    if isinstance(value, tuple | list):
        return type(value)(inside(each, indices) for each in value)
    if isinstance(value, np.ndarray) and value.ndim and not indices:
        raise TypeError("an array of NumPy's among arrays that are elsewhere")
    return value.numbers if isinstance(value, Elsewhere) else value
