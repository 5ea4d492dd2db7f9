"""by_hand() for drawn inputs; this text is put before the cells that call it."""


def by_hand(answer):
    """Return the answer, run while every Value and Tensor has wrong numbers.

    An answer worked out by hand does not notice. An answer that asks a Value or a
    Tensor repeats the wrong numbers. Results are turned into plain numbers before the
    package is right again.
    """
    from numpy import asarray

    from minigrad.graph.tensor import Tensor
    from minigrad.scalar.value import Value

    make_value, make_tensor = Value.__init__, Tensor.__init__

    def wrong_value(self, *words, **names):
        make_value(self, *words, **names)
        self.data = self.data * 1.1

    def wrong_tensor(self, *words, **names):
        make_tensor(self, *words, **names)
        self.array = asarray(self.array * 1.1)

    def run(*inputs):
        Value.__init__, Tensor.__init__ = wrong_value, wrong_tensor
        try:
            found = answer(*inputs)
            several = isinstance(found, (list, tuple))
            return [float(each) for each in found] if several else float(found)
        finally:
            Value.__init__, Tensor.__init__ = make_value, make_tensor

    return run
