"""What can be done with a Tensor: operators, methods, NumPy's functions."""

from functools import wraps

import numpy as np

from minigrad import (
    cuda,
    extremes,
    indexing,
    inplace,
    norms,
    ops,
    options,
    products,
    reductions,
    shapes,
)
from minigrad.arguments import NUMPYS
from minigrad.arraylike import functions, ufuncs
from minigrad.dtypes import Array, as_dtype, bool_, float32, float64, int64
from minigrad.op import Op, to_dtype
from minigrad.tensor import Tensor

OPERATORS = {
    "add": ops.add,
    "sub": ops.sub,
    "mul": ops.mul,
    "truediv": ops.div,
    "pow": ops.pow,
    "mod": ops.remainder,
    "floordiv": ops.floor_divide,
    "matmul": products.matmul,
    "eq": ops.eq,
    "ne": ops.ne,
    "lt": ops.lt,
    "le": ops.le,
    "gt": ops.gt,
    "ge": ops.ge,
    "and": ops.bitwise_and,
    "or": ops.bitwise_or,
    "xor": ops.bitwise_xor,
    "neg": ops.neg,
    "abs": ops.abs,
    "invert": ops.bitwise_not,
    "getitem": indexing.getitem,
    "setitem": inplace.setitem,
    "iadd": inplace.in_place(ops.add),
    "isub": inplace.in_place(ops.sub),
    "imul": inplace.in_place(ops.mul),
    "itruediv": inplace.in_place(ops.div),
    "ipow": inplace.in_place(ops.pow),
    "imod": inplace.in_place(ops.remainder),
    "ifloordiv": inplace.in_place(ops.floor_divide),
    "iand": inplace.in_place(ops.bitwise_and),
    "ior": inplace.in_place(ops.bitwise_or),
    "ixor": inplace.in_place(ops.bitwise_xor),
}
SWAPPED = ["radd", "rmul", "rand", "ror", "rxor"]  # the order does not matter
BOTH = {  # functions of minigrad and methods of Tensor
    options: "add sub div round",
    ops: """mul true_divide remainder floor_divide pow neg abs exp log log1p sqrt
        rsqrt square reciprocal sin cos tan sinh cosh tanh sigmoid erf sign floor ceil
        clone eq ne lt le gt ge logical_not logical_and logical_or isnan
        isinf isfinite clamp relu""",
    products: "matmul outer",
    products.strict: "mm bmm mv dot",
    reductions: """sum mean var std prod amax amin logsumexp cumsum all any equal
        allclose softmax log_softmax""",
    norms: "norm",
    extremes: "max min maximum minimum argmax argmin",
    shapes: """reshape flatten transpose swapaxes permute t squeeze unsqueeze
        broadcast_to flip roll tril triu masked_fill""",
    indexing: "split chunk unbind index_select gather",
}
FUNCTIONS = {ops: "where", shapes: "cat stack", products: "einsum"}
METHODS = {
    shapes: "view expand repeat contiguous",
    inplace: "add_ sub_ div_ round_ copy_ fill_ zero_ uniform_ normal_ random_",
}
IN_PLACE = """mul true_divide remainder floor_divide pow neg abs exp log log1p sqrt
    rsqrt square reciprocal sin cos tan sinh cosh tanh sigmoid erf sign floor ceil clamp
    relu"""
QUESTIONS = "eq ne lt le gt ge logical_not logical_and logical_or"
# Functions, not Ops, that are told an axis; Ops know NumPy's words for it
WITH_DIM = ["var", "std", "max", "min", "argmax", "argmin", "cat", "stack"]
WITH_DIM += ["unsqueeze", "index_select"]


def named(table: dict) -> dict:
    """Return the functions that a table names."""
    found = {n: getattr(m, n) for m, names in table.items() for n in names.split()}
    return {n: by_axis(f) if n in WITH_DIM else f for n, f in found.items()}


def by_axis(function):
    """Let a function take NumPy's words for `dim` and `keepdim`, as PyTorch does."""

    @wraps(function)
    def renamed(*args, **kwargs):
        return function(*args, **{NUMPYS.get(k, k): v for k, v in kwargs.items()})

    return renamed


def is_ufunc(value):
    """Return whether this is an operation that NumPy has as a function, too."""
    return isinstance(value, Op) and isinstance(value.forward, np.ufunc)


def method(value):
    """Return a function, which a class makes a method of."""
    return value.method if isinstance(value, Op) else value


def comparison(op):
    """Return == or !=, which leave what is no number to Python: x == None is False."""

    def compare(self, other):
        numbers = Tensor | Array | np.generic | int | float
        return op(self, other) if isinstance(other, numbers) else NotImplemented

    return compare


for name, op in named(BOTH).items():
    setattr(Tensor, name, method(op))
for name, op in named(METHODS).items():
    setattr(Tensor, name, op)
for name, op in OPERATORS.items():
    setattr(Tensor, f"__{name}__", method(op))
for name in SWAPPED:
    setattr(Tensor, f"__{name}__", method(OPERATORS[name[1:]]))
for name in IN_PLACE.split():
    setattr(Tensor, f"{name}_", inplace.in_place(getattr(ops, name)))
for name in ["masked_fill", "tril", "triu"]:
    setattr(Tensor, f"{name}_", inplace.in_place(getattr(shapes, name)))
for name in QUESTIONS.split():
    setattr(Tensor, f"{name}_", inplace.answered(getattr(ops, name)))
Tensor.cumsum_ = inplace.in_place(reductions.cumsum)
Tensor.__eq__, Tensor.__ne__ = comparison(ops.eq), comparison(ops.ne)
Tensor.where = lambda self, condition, other: ops.where(condition, self, other)
Tensor.__pos__ = lambda self: self
Tensor.__rsub__ = ops.rsub.method
Tensor.__rmod__ = lambda self, other: ops.remainder(other, self)
Tensor.__rfloordiv__ = lambda self, other: ops.floor_divide(other, self)
Tensor.__rpow__ = lambda self, other: ops.pow(other, self)
Tensor.__rtruediv__ = lambda self, other: ops.reciprocal(self) * other
Tensor.expand_as = lambda self, other: shapes.expand(self, *other.shape)
Tensor.view_as = lambda self, other: shapes.view(self, *other.shape)
Tensor.T = property(lambda self: shapes.permuted(self, tuple(range(self.ndim))[::-1]))


def transposed(self):
    """Return the tensor with its last two axes swapped."""
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D "
            "tensor: x[:, None] makes a column of it"
        )
    return shapes.swapped(self, -2, -1) if self.ndim else self


def to(self, *args, device=None, dtype=None, copy=False):
    """Return the tensor with another dtype, or on another device."""
    out = self
    for target in (*args, device, dtype):
        if cuda.is_device(target):
            out = moved(out, cuda.device(target).type)
        elif isinstance(target, Tensor):
            out = to_dtype(out, target.dtype)
        elif target is not None:
            out = to_dtype(out, as_dtype(target))
    return ops.clone(out) if copy and out is self else out


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


def as_type(dtype):
    """Return the method that converts to a dtype, such as x.double()."""
    convert = lambda self: to_dtype(self, dtype)  # noqa: E731
    convert.__doc__ = f"Return the tensor with numbers of type {dtype}."
    return convert


Tensor.mT, Tensor.to = property(transposed), to
Tensor.float, Tensor.double = as_type(float32), as_type(float64)
Tensor.long, Tensor.bool = as_type(int64), as_type(bool_)
Tensor.type_as = lambda self, other: to_dtype(self, other.dtype)
Tensor.cpu = lambda self: to(self, "cpu")


def every(a):
    """Return all axes of a tensor."""
    return tuple(range(a.ndim))


# What formulas call by NumPy's names
ufuncs |= {op.forward: op for op in vars(ops).values() if is_ufunc(op)}
ufuncs |= {np.matmul: products.matmul, np.sign: ops.sign, np.rint: ops.round}
ufuncs |= {np.remainder: ops.remainder, np.floor_divide: ops.quotient}
functions |= {
    np.where: ops.where,
    np.broadcast_to: shapes.broadcast_to,
    np.expand_dims: lambda a, axis: shapes.expand_dims(a, axis),
    np.swapaxes: shapes.swapaxes,
    np.transpose: lambda a, axes=None: shapes.permute(a, axes or every(a)[::-1]),
    np.zeros_like: lambda a: Tensor(np.zeros_like(a.array)),
    np.ones_like: lambda a: Tensor(np.ones_like(a.array)),
    np.flip: lambda m, axis=None: shapes.flip(m, every(m) if axis is None else axis),
    np.roll: lambda a, shift, axis=None: shapes.roll(a, shift, axis),
    np.tril: shapes.tril,
    np.triu: shapes.triu,
    np.cumsum: reductions.cumsum,
    np.sum: reductions.sum,
    np.mean: reductions.mean,
    np.einsum: products.einsum,
    np.concatenate: by_axis(shapes.cat),
    np.stack: by_axis(shapes.stack),
    np.reshape: shapes.reshape,
}
