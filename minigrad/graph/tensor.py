"""Tensor, an array that refers to the node that made it, with PyTorch's names."""

import copy
import warnings
import weakref
from collections.abc import Callable
from operator import attrgetter, index
from types import SimpleNamespace

import numpy as np

from minigrad import errors
from minigrad.array.axes import from_front
from minigrad.array.dtypes import RANK, Array, as_array
from minigrad.array.printing import printed
from minigrad.errors import expect, short
from minigrad.graph import saved_values
from minigrad.graph.node import AccumulateGrad, Node
from minigrad.graph.recording import enable_grad, no_grad
from minigrad.graph.walk import walk

ufuncs: dict[Callable, Callable] = {}  # maps NumPy's functions to the rules for Tensors
functions: dict[Callable, Callable] = {}


def operator(name: str) -> Callable:
    """Return an operator that calls the method `name`, for OPERANDS only."""

    def apply(self, other):
        if not isinstance(other, OPERANDS):
            return NotImplemented
        return getattr(self, name)(other)

    return apply


class Tensor:
    """An array, and the place where its gradient goes.

    `edge` is this place. A result has the Node that made it, a leaf that requires grad
    has its AccumulateGrad, and other tensors have None. The files in rules/ define
    operations, and make them methods of Tensor.
    """

    __slots__ = ["array", "edge", "_grad", "source", "rewritten", "__weakref__"]

    def __init__(self, data, edge: Node | AccumulateGrad | None = None):
        known = type(data) is np.ndarray and data.dtype in RANK
        self.array = data if known else to_array(data)
        self.edge, self._grad, self.source, self.rewritten = edge, None, None, 0

    shape = property(attrgetter("array.shape"), doc="The lengths of the axes.")
    ndim = property(attrgetter("array.ndim"), doc="The number of axes.")
    dtype = property(attrgetter("array.dtype"), doc="NumPy's dtype of the elements.")

    def size(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Return the shape, or the length of one axis."""
        if dim is None:
            return self.array.shape
        return self.array.shape[from_front(dim, self.ndim)]

    def numel(self) -> int:
        """Return the number of elements."""
        return self.array.size

    def is_floating_point(self) -> bool:
        """Return whether the elements are floats."""
        return self.array.dtype.kind == "f"

    def item(self) -> float | int | bool:
        """Return the only element as a Python number."""
        wanted = "only one element tensors can be converted to Python scalars"
        expect(self.array.size == 1, wanted, self, error=ValueError)
        return self.array.item()

    def tolist(self):
        """Return the elements in nested lists."""
        return self.array.tolist()

    def numpy(self) -> np.ndarray:
        """Return the array itself. Raises RuntimeError if the tensor requires grad."""
        why = "Can't call numpy() on Tensor that requires grad. "
        expect(not self.requires_grad, f"{why}Use tensor.detach().numpy() instead.")
        return self.array

    # Gradients

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.grad_fn is not None and not value:
            raise errors.no_leaf(self.grad_fn.name())
        if value and not self.is_floating_point():
            raise errors.no_floats(self.dtype)
        if value != self.requires_grad:
            self.edge = AccumulateGrad(self) if value else None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, or None for a leaf."""
        return None if isinstance(self.edge, AccumulateGrad) else self.edge

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.grad_fn is None

    @property
    def grad(self) -> "Tensor | None":
        """The sum of the gradients from backward() so far, in the tensor's shape."""
        if self._grad is None and not (self.is_leaf or self.retains_grad):
            warnings.warn(errors.NOT_A_LEAF, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None and (value.shape, value.dtype) != (self.shape, self.dtype):
            raise RuntimeError(f"grad is {value.dtype}{value.shape}, unlike the tensor")
        self._grad = value

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Set `requires_grad`, and return the tensor."""
        self.requires_grad = requires_grad
        return self

    def detach(self) -> "Tensor":
        """Return a tensor that shares the memory, but passes no gradient back."""
        return Tensor(self.array)

    @property
    def data(self) -> "Tensor":
        """A tensor that shares the memory but not the graph, as detach() returns it."""
        return self.detach()

    @data.setter
    def data(self, value: "Tensor") -> None:
        if self.requires_grad and not value.is_floating_point():
            raise errors.no_floats(value.dtype)
        self.array = value.array
        if self.is_leaf and self.requires_grad:
            self.edge.shape = self.shape

    def backward(
        self, gradient=None, retain_graph=None, create_graph=False, inputs=None
    ) -> None:
        """Add d(self)/d(leaf) to the grad of each leaf, or only of `inputs`.

        `gradient` is v in vJ, the gradient of this tensor.
        Raises RuntimeError if this doesn't require grad, or if the graph was freed.
        """
        inputs = [inputs] if isinstance(inputs, Tensor) else inputs
        collect([self], [gradient], inputs, retain_graph, create_graph)

    def retain_grad(self) -> None:
        """Keep the gradient of a result in its `grad`, as if the result were a leaf."""
        if self.edge is None:
            raise RuntimeError("can't retain_grad on Tensor with requires_grad=False")
        if self.is_leaf or self.retains_grad:
            return
        me = weakref.ref(self)

        def keep(g):
            if me() is not None:
                accumulate(me(), g)
            return g

        self.edge.hooks += (keep,)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this result."""
        hooks = self.grad_fn.hooks if self.grad_fn else ()
        return any(hook.__name__ == "keep" for hook in hooks)

    def register_hook(self, hook: Callable) -> SimpleNamespace:
        """Call hook(gradient) once the whole gradient of this tensor is known.

        If the hook returns a Tensor instead of None, it replaces the gradient. The
        handle's remove() removes the hook. A second remove() does nothing.
        """
        why = "cannot register a hook on a tensor that doesn't require gradient"
        expect(self.edge is not None, why, self)

        def run(g):
            result = hook(g if isinstance(g, Tensor) else Tensor(g))
            if result is None:
                return g
            fits = isinstance(result, Tensor) and short(result) == short(g)
            wanted = "hook has changed the gradient's shape or type: expected a Tensor "
            expect(fits, f"{wanted}{short(g)}", result)
            return result if isinstance(g, Tensor) else result.array

        # retain_grad() keeps the gradient that all other hooks have returned
        kept = [each for each in self.edge.hooks if each.__name__ == "keep"]
        others = [each for each in self.edge.hooks if each not in kept]
        self.edge.hooks = (*others, run, *kept)
        node = weakref.ref(self.edge)

        def remove():
            if node() is not None:
                node().hooks = tuple(each for each in node().hooks if each is not run)

        return SimpleNamespace(remove=remove)

    # Memory that is shared and written to

    @property
    def _version(self) -> int:
        return saved_values.version(self.array)

    @property
    def _base(self) -> "Tensor | None":
        """The tensor whose memory this view shows, or None if it isn't a view."""
        return None if self.source is None else self.source[0]

    def note_base(self, source: "Tensor") -> None:
        """If this is a view of `source`, store its base and when it was made."""
        if saved_values.storage(self.array) is saved_values.storage(source.array):
            base = source if source._base is None else source._base
            self.source = base, next(saved_values.numbers)

    def check_view(self) -> None:
        """Raise RuntimeError if a recorded write to the base came after this view."""
        if self.source is not None and self.source[0].rewritten > self.source[1]:
            raise errors.stale_view()

    # Each operator calls the method of that name, which a file in rules/ defines

    __add__ = __radd__ = operator("add")
    __sub__, __rsub__ = operator("sub"), operator("_rsub")
    __mul__ = __rmul__ = operator("mul")
    __truediv__, __rtruediv__ = operator("div"), operator("_rdiv")
    __pow__, __rpow__ = operator("pow"), operator("_rpow")
    __matmul__ = operator("matmul")
    __eq__, __ne__ = operator("eq"), operator("ne")
    __lt__, __le__ = operator("lt"), operator("le")
    __gt__, __ge__ = operator("gt"), operator("ge")
    __and__ = __rand__ = operator("bitwise_and")
    __or__ = __ror__ = operator("bitwise_or")
    __iadd__, __isub__ = operator("add_"), operator("sub_")
    __imul__, __itruediv__ = operator("mul_"), operator("div_")

    def __ipow__(self, other):
        raise TypeError("powers and bits have no in-place form: x = x**2, x = x & y")

    __iand__ = __ior__ = __ipow__

    # The protocols of Python and NumPy

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.numpy(), dtype, copy=copy)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method == "__call__" and not kwargs and ufunc in ufuncs:
            return ufuncs[ufunc](*inputs)
        written = inputs[:1] if method == "at" else kwargs.get("out", ())
        if any(isinstance(each, Tensor) for each in written):
            return NotImplemented  # no version would record this write
        return getattr(ufunc, method)(*as_bare(inputs), **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        if function in functions:
            return functions[function](*args, **kwargs)
        return function(*as_bare(args), **kwargs)

    def __len__(self) -> int:
        expect(self.ndim, "len() of a 0-d tensor", error=TypeError)
        return len(self.array)

    def __iter__(self):
        why = "iteration over a 0-d tensor, which is one number: use item()"
        expect(self.ndim, why, error=TypeError)
        return iter(self.unbind(0))

    def __contains__(self, item) -> bool:
        found = self == item
        expect(found is not False, "a Tensor contains only Tensors and numbers", item)
        return bool(found.any())

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return int(index(self.item()))

    __hash__ = object.__hash__

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        raise errors.no_attribute("a Tensor", name)

    def __repr__(self) -> str:
        return printed(self)

    def __format__(self, spec: str) -> str:
        return format(str(self) if self.ndim else self.item(), spec)

    def __reduce_ex__(self, protocol):
        why = "a Tensor that learns has no pickle: save(model.state_dict(), path)"
        expect(not self.requires_grad, why, error=TypeError)  # edge: a weak reference
        return super().__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict) -> "Tensor":
        expect(self.is_leaf, "Only graph leaves support deepcopy: detach() this one")
        twin = memo[id(self)] = type(self)(self.array.copy())
        twin.requires_grad = self.requires_grad
        twin._grad = copy.deepcopy(self._grad, memo)
        return twin


OPERANDS = Tensor, float, int, np.generic, Array


def methods(names: list[str], module: dict, **others: Callable) -> None:
    """Turn functions of a module into methods of Tensor, under their own names.

    The functions in `others` become methods under the names of the keywords.
    """
    for name, rule in ({name: module[name] for name in names} | others).items():
        setattr(Tensor, name, rule)


def to_array(data) -> np.ndarray:
    """Return `data` as a Tensor's array. Raises TypeError for numbers and lists."""
    if type(data) in (list, tuple, bool, int, float):
        raise TypeError("Tensor(...) takes an array: use minigrad.tensor() for numbers")
    return as_array(data)


def as_bare(value):
    """Return the array of a tensor, or of each tensor in a list or tuple.

    Raises RuntimeError if a tensor requires grad, as its gradient would be lost.
    """
    if isinstance(value, list | tuple):
        return type(value)(map(as_bare, value))
    return value.numpy() if isinstance(value, Tensor) else value


def walk_back(outputs, gradients, inputs=None, retain_graph=None, create_graph=False):
    """Carry gradients back from `outputs`, and return {node: gradient} at the ends."""
    ends = {x.edge for x in inputs or ()}
    if None in ends or (inputs is not None and not inputs):
        raise RuntimeError("inputs: each has to require grad, and there must be one")
    roots: dict = {}
    retain_graph = create_graph if retain_graph is None else retain_graph
    mode = enable_grad() if create_graph else no_grad()
    with mode, np.errstate(all="ignore"):
        for output, gradient in zip(outputs, gradients, strict=True):
            g = first_gradient(output, gradient)
            g = g if create_graph else g.array
            roots[output.edge] = roots[output.edge] + g if output.edge in roots else g
        return walk(roots, ends, retain_graph)


def first_gradient(output: Tensor, gradient: Tensor | None) -> Tensor:
    """Return the gradient with which a walk back from `output` starts."""
    output.check_view()
    if output.edge is None:
        raise errors.no_graph()
    if gradient is None:
        if output.array.size != 1:
            raise errors.no_scalar(output.shape)
        return Tensor(np.ones_like(output.array))
    if not isinstance(gradient, Tensor):
        raise errors.not_a_tensor("gradient", gradient)
    if gradient.shape != output.shape:
        raise errors.mismatch(gradient, output)
    return gradient.type_as(output)


def collect(outputs, gradients, inputs, retain_graph, create_graph) -> None:
    """Walk back, and add the gradients to the grad of the leaves, or of `inputs`."""
    for x in inputs or ():
        x.retain_grad()  # does nothing for a leaf
    reached = walk_back(outputs, gradients, inputs, retain_graph, create_graph)
    for node, g in reached.items():
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf.requires_grad:
            accumulate(leaf, g)


def accumulate(leaf: Tensor, g: Tensor | np.ndarray) -> None:
    """Add g to the leaf's grad. Record this if one of the two is part of a graph."""
    if isinstance(g, Tensor) or (leaf._grad is not None and leaf._grad.requires_grad):
        leaf._grad = g.clone() if leaf._grad is None else leaf._grad + g
        return
    if leaf._grad is None:
        leaf._grad = Tensor(g.astype(leaf.dtype))  # a copy, as g may be shared
    else:
        saved_values.record_write(leaf._grad.array)
        leaf._grad.array += g
