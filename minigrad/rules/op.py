"""Op is an operation with its derivatives, one formula for each argument."""

import copy
from collections.abc import Callable, Iterable
from functools import lru_cache
from inspect import Parameter, Signature, signature
from itertools import cycle
from types import MethodType

import numpy as np

from minigrad import errors
from minigrad.array.dtypes import ARRAYS, Array, default, float64, promoted
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import OPERANDS, Tensor

ALIASES = {"input": "a", "other": "b", "axis": "dim", "keepdims": "keepdim"}
ONLY_FLOATS = "Softmax", "LogSoftmax", "Mean", "Var", "Std", "LinalgVectorNorm", "Gelu"
NO_BOOLS = "Sub", "RsubBackward1", "Neg", "Abs", "Relu", "Sigmoid", "Sign"
NO_BOOLS += "Argmax", "Argmin"
REFUSED = dict.fromkeys(ONLY_FLOATS, "bi") | dict.fromkeys(NO_BOOLS, "b")  # kinds


class Op:
    """An operation, with its forward function and a formula for each gradient.

    `name` is the name of PyTorch's node without "Backward0". `forward` takes arrays and
    returns an array. A formula takes the result's gradient `g` and the values that its
    other parameters name. `y` is the result, and `shape` is the shape of the formula's
    own argument. If this argument is in a list, `i` is its position there. Other names
    are arguments of `forward`. Only named values are kept until backward. A formula
    uses only features that arrays and Tensors share, so that it can be recorded itself.
    """

    def __init__(self, name, forward, **formulas):
        self.name, self.forward = name, forward
        self.signature = signature_of(forward)
        self.parameters = [*self.signature.parameters]
        self.formulas = {n: formulas[n] for n in self.parameters if n in formulas}
        self.names = {n: names_after_g(f) for n, f in self.formulas.items()}
        named = [*formulas, *sum(self.names.values(), [])]
        if strange := {*named} - {*self.parameters, "y", "shape", "i"}:
            raise errors.no_argument(name, self.parameters, strange)
        self.options = {*self.parameters} - formulas.keys()

    def __repr__(self):
        return f"<Op {self.name}>"

    def __get__(self, tensor, owner=None):
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, *args, **kwargs):
        """Compute the result, and record a node if it needs one."""
        values = self.bind(args, kwargs)
        tensors = [x for x in flat(values.values()) if isinstance(x, Tensor)]
        if not tensors:  # a formula has called this, with arrays
            return self.on_arrays(values)
        known = self.compute(values)
        result = Tensor(known["y"])
        parents = [edge(x) for x in flat(map(values.get, self.formulas))]
        if self.is_recorded(parents, result):
            result.edge = self.record(parents, known)
        if known["y"].base is not None:
            result.note_base(tensors[0])
        return result

    def is_recorded(self, parents: list, result: Tensor) -> bool:
        """Return whether a result needs a node."""
        return any(parents) and recording.on and result.is_floating_point()

    def record(self, parents: list, known: dict) -> Node:
        """Return the node of a result. It keeps the values that the formulas want."""
        saved = {name: known[name] for name in self.kept(parents) if name in known}
        return Node(self, parents, saved, known["y"].shape)

    def kept(self, parents: list) -> list[str]:
        """Return the names of the values that a node has to keep until backward."""
        rules = self.rules(parents)
        return [name for parent, names, _ in rules if parent for name in names]

    def input_gradients(self, node: Node, g, wanted: set | None):
        """Yield a pair for each parent that gets a share: the parent, and its share.

        If g is a Tensor, the formulas also get Tensors, and are recorded.
        """
        for i, (parent, names, formula) in enumerate(self.rules(node.parents)):
            if parent and (wanted is None or parent in wanted):
                values = [value_of(node, want, i, g) for want in names]
                yield parent, formula(g, *values)

    def rules(self, parents: list):
        """Return triples: a parent, the names that its formula wants, and the formula.

        The tensors of a list share one formula.
        """
        return zip(parents, cycle(self.names.values()), cycle(self.formulas.values()))

    # Before it computes

    def bind(self, args: tuple, kwargs: dict) -> dict:
        """Return the arguments of a call by name, as the operation takes them.

        Raises TypeError unless each parameter without a default is given, and none
        twice. Raises RuntimeError for a dtype that the operation does not take.
        """
        if kwargs:
            known = self.parameters
            kwargs = {k if k in known else ALIASES.get(k, k): kwargs[k] for k in kwargs}
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            takes = f"{self.name.lower()} takes {', '.join(self.parameters)}"
            raise TypeError(f"{takes}: {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        if self.name in REFUSED:
            refuse_dtypes(self.name, values)
        if [*values] == ["a", "b"]:
            values["a"], values["b"] = alike(*values.values())
        if values.get("dim") is not None:
            values["dim"] = axes_of(values)
        return values

    def compute(self, values: dict) -> dict:
        """Map names to the arrays and the result y that formulas may need."""
        known = {name: bare(value) for name, value in values.items()}
        try:
            with np.errstate(all="ignore"):  # log(0) is -inf, without a warning
                y = array_of(self.forward(*known.values()))
        except (IndexError, TypeError, ValueError) as error:
            raise errors.unfit(self.name, known, error) from error
        if y.dtype == float64 and not has_floats(known.values()):
            y = y.astype(default)  # exp(2) of an integer is a float32
        return known | {"y": y}

    def on_arrays(self, values: dict):
        """Return the bare result for bare arrays. Raises TypeError without an array."""
        if not any(isinstance(x, Array | np.generic) for x in flat(values.values())):
            raise errors.not_a_tensor(self.name.lower(), next(iter(values.values())))
        return array_of(self.forward(*values.values()))


def value_of(node: Node, name: str, i: int, g):
    """Return the value that the formula for argument i needs, by its name.

    If g is a Tensor, a saved array becomes a Tensor that leads to where it came from.
    """
    if name == "shape":
        return node.parents[i].shape
    if name == "i":
        return i
    value = node.saved[name]
    if not isinstance(g, Tensor) or not isinstance(value, ARRAYS):
        return value
    sources = dict(zip(node.op.formulas, node.parents)) | {"y": True}
    return linked(value, sources[name], node) if name in sources else value


def linked(array, source, node: Node) -> Tensor | None:
    """Return the leaf of a saved array, or a Tensor that leads to the array's source.

    The source is an edge, or True for `node` itself, or False if there is none.
    """
    if array is None:
        return None
    source = node if source is True else source or None
    leaf = getattr(source, "variable", None)
    if leaf is not None and leaf.array is array:
        return leaf
    return Tensor(array, source)


def edge(value):
    """Return where an argument's gradient goes, or None if it is not a tensor."""
    if not isinstance(value, Tensor):
        return None
    value.check_view()
    return value.edge


# Arguments


def signature_of(forward: Callable) -> Signature:
    """Return how an operation is called: with what its function takes by position."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    if isinstance(forward, np.ufunc):  # it takes a, or a and b
        return Signature([Parameter(name, kind) for name in "ab"[: forward.nin]])
    taken = signature(forward).parameters.values()
    return Signature([each for each in taken if each.kind != Parameter.KEYWORD_ONLY])


def names_after_g(formula: Callable) -> list[str]:
    """Return the names of a formula's parameters, without the first, which is `g`."""
    return [*signature(formula).parameters][1:]


def flat(values: Iterable) -> list:
    """Return the values, with the items of a list in place of the list."""
    lists = (value if isinstance(value, list) else [value] for value in values)
    return [x for each in lists for x in each]


def bare(value):
    """Return a tensor's array, and a NumPy number as a Python number."""
    if isinstance(value, list):
        return [bare(each) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    return value.array if isinstance(value, Tensor) else value


def array_of(y):
    """Return an array, and a NumPy number as an array without axes."""
    return np.asarray(y) if isinstance(y, np.generic) else y


def has_floats(values: Iterable) -> bool:
    """Return whether an array of floats is among the values, or in lists of them."""
    return "f" in {x.dtype.kind for x in flat(values) if isinstance(x, Array)}


def alike(a, b) -> tuple:
    """Return two operands. Two tensors are converted to their common dtype.

    Raises TypeError for other types, such as lists, which NumPy would convert.
    """
    for x in a, b:
        if not isinstance(x, OPERANDS):
            raise errors.not_a_tensor("operand", x)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        dtype = promoted(a.array, b.array)
        a, b = a.to(dtype), b.to(dtype)
    return a, b


def axes_of(values: dict):
    """Return `dim` as NumPy takes it. As in PyTorch, a number also has an axis 0."""
    dim, first = values["dim"], next(iter(values.values()))
    dim = tuple(dim) if isinstance(dim, list) else dim
    number = getattr(first, "shape", None) == ()
    return None if number and {*np.atleast_1d(dim)} <= {0, -1} else dim


def refuse_dtypes(name: str, values: dict) -> None:
    """Raise RuntimeError for bools or integers if the operation does not take them."""
    for x in values.get("a"), values.get("b"):
        if getattr(x, "dtype", default).kind in REFUSED[name]:
            this = f"{name.lower()} with a {x.dtype} tensor is not supported"
            raise RuntimeError(f"{this}: use float() first, or ~mask for not mask")


# Names


@lru_cache  # keeps the 128 used last
def renamed(op: Op, name: str) -> Op:
    """Return the same operation under another name."""
    op = copy.copy(op)
    op.name = name
    return op


def called(name: str, tensor: Tensor) -> Tensor:
    """Name the result of several operations after PyTorch's single operation."""
    if tensor.grad_fn is not None:
        tensor.edge.op = renamed(tensor.edge.op, name)
    return tensor
