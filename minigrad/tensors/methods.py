"""What can be done with a Tensor: operators, methods, NumPy's functions.

The rules are made of Tensors, so that the class cannot name them where it is written:
here they become its methods.
"""
# ruff: noqa: I001

import numpy as np

from minigrad.array.dtypes import Array, as_dtype, bool_, float32, float64, int64
from minigrad.array.protocols import functions, ufuncs
from minigrad.graph.tensor import Tensor
from minigrad.rules import (
    indexing,
    joining,
    matrix_products,
    pointwise,
    reductions,
    shape,
)
from minigrad.rules.casting import to_dtype
from minigrad.rules.op import Op
from minigrad.tensors import in_place

OPERANDS = Tensor, float, int, np.generic, Array


def operator(name, rules=pointwise, reflected=False):
    """Return the method of an operator; NotImplemented if `other` is no kind of number.

    It looks its rule up at each call, so that another one can take its place.
    """

    def method(self, other):
        if not isinstance(other, OPERANDS):
            return NotImplemented
        rule = getattr(rules, name)
        return rule(other, self) if reflected else rule(self, other)

    return method


class Methods:
    """The rules as methods: Tensor takes over all that stands in this class."""

    # fmt: off
    from minigrad.graph.hooks import register_hook
    from minigrad.rules.indexing import unbind
    from minigrad.rules.matrix_products import matmul
    from minigrad.rules.pointwise import (
        abs, add, clamp, clone, cos, div, exp, isnan, log, log1p, masked_fill, maximum,
        mul, neg, pow, reciprocal, relu, rsqrt, sigmoid, sign, sin, sqrt, square, sub,
        tanh,
    )
    from minigrad.rules.reductions import (
        all, amax, amin, any, argmax, argmin, max, mean, min, norm, std, sum, var,
    )
    from minigrad.rules.shape import (
        broadcast_to, expand, flatten, permute, reshape, squeeze, t,
        transpose, tril, unsqueeze, view,
    )
    from minigrad.rules.softmax import log_softmax, logsumexp, softmax
    from minigrad.tensors.in_place import add_, copy_, div_, fill_, mul_, sub_, zero_
    # fmt: on

    __add__ = __radd__ = operator("add")
    __sub__, __rsub__ = operator("sub"), operator("rsub")
    __mul__ = __rmul__ = operator("mul")
    __truediv__ = operator("div")
    __pow__, __rpow__ = operator("pow"), operator("pow", reflected=True)
    __matmul__ = operator("matmul", matrix_products)
    __eq__, __ne__ = operator("eq"), operator("ne")
    __lt__, __le__ = operator("lt"), operator("le")
    __gt__, __ge__ = operator("gt"), operator("ge")
    __and__ = __rand__ = operator("bitwise_and")
    __or__ = __ror__ = operator("bitwise_or")
    __neg__, __abs__, __invert__ = neg, abs, pointwise.bitwise_not
    __getitem__, __setitem__ = indexing.getitem, in_place.setitem
    __iadd__, __isub__, __imul__, __itruediv__ = add_, sub_, mul_, div_

    def __ipow__(self, other):
        raise TypeError("powers and bits are not written in place: x = x**2, x = x & y")

    __iand__ = __ior__ = __ipow__

    def __rtruediv__(self, other):
        return pointwise.reciprocal(self) * other

    @property
    def T(self) -> Tensor:
        """The tensor with the order of its axes reversed."""
        return shape.permuted(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes swapped."""
        return shape.transpose(self, -2, -1)

    def to(self, dtype):
        """Return the tensor with numbers of another dtype."""
        return to_dtype(self, as_dtype(dtype))

    def type_as(self, other):
        """Return the tensor with the dtype of another one."""
        return to_dtype(self, other.dtype)

    def float(self):
        """Return the tensor with numbers of type float32."""
        return to_dtype(self, float32)

    def double(self):
        """Return the tensor with numbers of type float64."""
        return to_dtype(self, float64)

    def long(self):
        """Return the tensor with numbers of type int64."""
        return to_dtype(self, int64)

    def bool(self):
        """Return the tensor with numbers of type bool."""
        return to_dtype(self, bool_)


for name, rule in vars(Methods).items():
    if name not in ("__module__", "__doc__", "__dict__", "__weakref__", "__hash__"):
        setattr(Tensor, name, rule)

# What formulas call by NumPy's names
ufuncs |= {
    op.forward: op
    for op in vars(pointwise).values()
    if isinstance(op, Op) and isinstance(op.forward, np.ufunc)
}
ufuncs |= {np.matmul: matrix_products.matmul, np.sign: pointwise.sign}
functions |= {
    np.where: pointwise.where,
    np.broadcast_to: shape.broadcast_to,
    np.expand_dims: lambda a, axis: shape.unsqueeze(a, axis),
    np.swapaxes: shape.transpose,
    np.transpose: lambda a, axes=None: shape.permute(a, axes) if axes else a.T,
    np.zeros_like: lambda a: Tensor(np.zeros_like(a.array)),
    np.ones_like: lambda a: Tensor(np.ones_like(a.array)),
    np.tril: shape.tril,
    np.sum: reductions.sum,
    np.concatenate: lambda arrays, axis=0: joining.cat(arrays, axis),
    np.stack: lambda arrays, axis=0: joining.stack(arrays, axis),
    np.reshape: shape.reshape,
}
