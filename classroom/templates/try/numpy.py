"""In the place of NumPy, which a browser's tab does not have.

The package can be loaded with it, and a check can compare single numbers. What else is
asked of NumPy says that it is not there.
"""

import math
import os
import sys
from inspect import CO_OPTIMIZED

ABSENT = "This tab has no NumPy: chapters 3 to 5 need none. An installed course has it."


os.environ["MINIGRAD_PLAIN"] = "1"  # what is fast is so by NumPy
__path__ = []
for part in ("_core", "lib", "lib.array_utils", "lib.mixins"):
    sys.modules[f"numpy.{part}"] = sys.modules[__name__]
BINARY = ["BINARY"]  # the build fills in which of its functions take two arguments


class Absent(type):
    """A name of NumPy: files may load with it, and it is nothing's type."""

    @property
    def nin(cls):
        return 2 if cls.__name__ in BINARY else 1

    def __instancecheck__(cls, thing):  # a rule may ask for ufuncs
        return cls.__name__ == "ufunc" and type(thing) is Absent

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(cls, name, Absent(name, (), {}))
        return vars(cls)[name]

    def __call__(cls, *args, **options):
        if not sys._getframe(1).f_code.co_flags & CO_OPTIMIZED:  # while a file loads
            return Absent(cls.__name__, (), {})
        raise NotImplementedError(ABSENT)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, Absent(name, (), {}))


class Agreement(int):
    """A truth value: of NumPy's, one asks whether all of them hold."""

    def all(self):
        return self


class NDArrayOperatorsMixin:  # the class statement needs a plain one
    pass


class float64(float):
    dtype = None


def isclose(a, b, rtol, atol, equal_nan):
    """Tell whether two numbers agree, as numpy.isclose has it."""
    if math.isnan(a) or math.isnan(b):
        return Agreement(equal_nan and math.isnan(a) and math.isnan(b))
    return Agreement(a == b or math.isfinite(b) and abs(a - b) <= atol + rtol * abs(b))


class random:
    """Nothing is drawn, and a check puts nothing back."""

    get_state = default_rng = dict
    set_state = print


seterr = set_printoptions = geterr = get_printoptions = dict
random.set_state = dict
