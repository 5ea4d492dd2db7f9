"""What can be done with a Tensor: operators, methods, NumPy's functions.

The rules are made of Tensors, so that the class cannot name them where it is written:
here they become its methods.
"""

import numpy as np

from minigrad.array import device as devices
from minigrad.array.dtypes import Array, as_dtype, bool_, float32, float64, int64
from minigrad.graph.array_protocols import functions, ufuncs
from minigrad.graph.tensor import Tensor
from minigrad.rules import (
    in_place,
    indexing,
    joining,
    matrix_products,
    pointwise,
    reductions,
    shape,
)
from minigrad.rules.einsum import einsum
from minigrad.rules.op import Op, to_dtype


def comparison(op):
    """Return == or !=, which leave what is no number to Python: x == None is False."""

    def compare(self, other):
        numbers = Tensor | Array | np.generic | int | float
        return op(self, other) if isinstance(other, numbers) else NotImplemented

    return compare


def swapped(op):
    """Return the reflected operator: 2 - x asks x for it."""
    return lambda self, other: op(other, self)


class Methods:
    """The rules as methods: Tensor takes over all that stands in this class."""

    # fmt: off
    from minigrad.graph.hooks import register_hook
    from minigrad.rules.extremes import argmax, argmin, max, maximum, min, minimum
    from minigrad.rules.in_place import (
        add_,
        clamp_,
        copy_,
        div_,
        fill_,
        masked_fill_,
        mul_,
        normal_,
        random_,
        sub_,
        uniform_,
        zero_,
    )
    from minigrad.rules.indexing import chunk, gather, index_select, split, unbind
    from minigrad.rules.matrix_products import matmul, outer
    from minigrad.rules.norms import norm
    from minigrad.rules.options import add, div, round, sub
    from minigrad.rules.pointwise import (
        abs,
        ceil,
        clamp,
        clone,
        cos,
        cosh,
        eq,
        erf,
        exp,
        floor,
        floor_divide,
        ge,
        gt,
        isfinite,
        isinf,
        isnan,
        le,
        log,
        log1p,
        logical_and,
        logical_not,
        logical_or,
        lt,
        mul,
        ne,
        neg,
        pow,
        reciprocal,
        relu,
        remainder,
        rsqrt,
        sigmoid,
        sign,
        sin,
        sinh,
        sqrt,
        square,
        tan,
        tanh,
        true_divide,
    )
    from minigrad.rules.reductions import (
        all,
        allclose,
        amax,
        amin,
        any,
        cumsum,
        equal,
        mean,
        prod,
        std,
        sum,
        var,
    )
    from minigrad.rules.shape import (
        broadcast_to,
        contiguous,
        expand,
        flatten,
        flip,
        masked_fill,
        permute,
        repeat,
        reshape,
        roll,
        squeeze,
        swapaxes,
        t,
        transpose,
        tril,
        triu,
        unsqueeze,
        view,
    )
    from minigrad.rules.softmax import log_softmax, logsumexp, softmax
    # fmt: on

    mm, bmm = matrix_products.strict.mm, matrix_products.strict.bmm
    mv, dot = matrix_products.strict.mv, matrix_products.strict.dot
    __add__ = __radd__ = pointwise.add
    __sub__, __rsub__ = pointwise.sub, pointwise.rsub
    __mul__ = __rmul__ = pointwise.mul
    __truediv__ = pointwise.div
    __pow__, __rpow__ = pow, swapped(pow)
    __mod__, __rmod__ = remainder, swapped(remainder)
    __floordiv__, __rfloordiv__ = floor_divide, swapped(floor_divide)
    __matmul__ = matmul
    __eq__, __ne__ = comparison(eq), comparison(ne)
    __lt__, __le__, __gt__, __ge__ = lt, le, gt, ge
    __and__ = __rand__ = pointwise.bitwise_and
    __or__ = __ror__ = pointwise.bitwise_or
    __xor__ = __rxor__ = pointwise.bitwise_xor
    __neg__, __abs__, __invert__ = neg, abs, pointwise.bitwise_not
    __getitem__, __setitem__ = indexing.getitem, in_place.setitem
    __iadd__, __isub__ = add_, sub_
    __imul__, __itruediv__ = mul_, div_
    __ipow__ = in_place.in_place(pow)
    __iand__ = in_place.in_place(pointwise.bitwise_and)
    __ior__ = in_place.in_place(pointwise.bitwise_or)
    __ixor__ = in_place.in_place(pointwise.bitwise_xor)

    def __pos__(self):
        return self

    def __rtruediv__(self, other):
        return pointwise.reciprocal(self) * other

    def where(self, condition, other):
        """Take from this tensor where `condition` holds, else from `other`."""
        return pointwise.where(condition, self, other)

    def expand_as(self, other):
        """Return the tensor stretched to the shape of another one."""
        return shape.expand(self, *other.shape)

    def view_as(self, other):
        """Return the same memory in the shape of another tensor."""
        return shape.view(self, *other.shape)

    @property
    def T(self) -> Tensor:
        """The tensor with the order of its axes reversed."""
        return shape.permuted(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes swapped."""
        if self.ndim == 1:
            raise RuntimeError(
                "tensor.mT is only supported on matrices or batches of matrices. Got "
                "1-D tensor: x[:, None] makes a column of it"
            )
        return shape.swapped(self, -2, -1) if self.ndim else self

    def to(self, *args, device=None, dtype=None, copy=False):
        """Return the tensor with another dtype, or on another device."""
        out = self
        for target in (*args, device, dtype):
            if devices.is_device(target):
                out = moved(out, devices.device(target).type)
            elif isinstance(target, Tensor):
                out = to_dtype(out, target.dtype)
            elif target is not None:
                out = to_dtype(out, as_dtype(target))
        return pointwise.clone(out) if copy and out is self else out

    def cpu(self):
        """Return the tensor on the CPU."""
        return self.to("cpu")

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
        setattr(Tensor, name, rule.method if isinstance(rule, Op) else rule)


def moved(self, device):
    """Return the tensor with its array on a device: "cuda" needs CuPy."""
    if device == self.device:
        return self
    try:
        import cupy
    except ImportError as error:
        raise RuntimeError(
            "no CuPy here, so there is no device 'cuda': pip install 'minigrad[gpu]'"
        ) from error
    ways = cupy.asarray, cupy.asnumpy
    return on_device(self, *(ways if device == "cuda" else ways[::-1]))


on_device = Op(
    "ToCopy",
    lambda a, move, move_back: move(a),
    a=lambda g, move, move_back: on_device(g, move_back, move),
)


def every(a):
    """Return all axes of a tensor."""
    return tuple(range(a.ndim))


# What formulas call by NumPy's names
ufuncs |= {
    op.forward: op
    for op in vars(pointwise).values()
    if isinstance(op, Op) and isinstance(op.forward, np.ufunc)
}
ufuncs |= {np.matmul: matrix_products.matmul, np.sign: pointwise.sign}
ufuncs |= {np.rint: pointwise.round, np.remainder: pointwise.remainder}
ufuncs |= {np.floor_divide: pointwise.quotient}
functions |= {
    np.where: pointwise.where,
    np.broadcast_to: shape.broadcast_to,
    np.expand_dims: lambda a, axis: shape.expand_dims(a, axis),
    np.swapaxes: shape.swapaxes,
    np.transpose: lambda a, axes=None: shape.permute(a, axes or every(a)[::-1]),
    np.zeros_like: lambda a: Tensor(np.zeros_like(a.array)),
    np.ones_like: lambda a: Tensor(np.ones_like(a.array)),
    np.flip: lambda m, axis=None: shape.flip(m, every(m) if axis is None else axis),
    np.roll: lambda a, shift, axis=None: shape.roll(a, shift, axis),
    np.tril: shape.tril,
    np.triu: shape.triu,
    np.cumsum: reductions.cumsum,
    np.sum: reductions.sum,
    np.mean: reductions.mean,
    np.einsum: einsum,
    np.concatenate: lambda arrays, axis=0: joining.cat(arrays, axis),
    np.stack: lambda arrays, axis=0: joining.stack(arrays, axis),
    np.reshape: shape.reshape,
}
