"""Op: an operation with its derivatives, one formula for each argument."""

from itertools import cycle
from types import MethodType
from typing import Any

from minigrad import errors
from minigrad.array.dtypes import ARRAYS
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules.arguments import bare, computed, flat, named, on_arrays, operands
from minigrad.rules.parameters import parameters_of


class Op:
    """An operation: how to compute it, and what each argument's gradient is.

    `name` is that of PyTorch's node, less "Backward0". `forward` gets arrays and
    returns one. A formula gets the result's gradient `g` and what its further
    parameters name: `y` is the result, `shape` the shape of the formula's own argument,
    anything else an argument of `forward`, or an extra (a forward may return a pair:
    the result, and a dict of extras), or `i`, where one formula serves a list of
    arguments: which of them. Only what is named is kept until backward. A formula uses
    nothing but what arrays and Tensors share, so that it can be recorded itself.
    """

    def __init__(self, name, forward, **formulas):
        self.name, self.forward = name, forward
        self.parameters = parameters_of(forward)
        if strange := formulas.keys() - self.parameters:
            raise errors.no_argument(name, self.parameters, strange)
        self.formulas = {n: formulas[n] for n in self.parameters if n in formulas}
        self.wants = {n: [*parameters_of(f)][1:] for n, f in self.formulas.items()}
        self.settings = self.parameters.keys() - formulas

    def __repr__(self):
        return f"<Op {self.name}>"

    def __get__(self, tensor, owner=None):
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, *args, **kwargs):
        """Compute the result; record a node, if an argument requires grad."""
        values = operands(self, args, kwargs)
        tensors = [x for x in flat(values.values()) if isinstance(x, Tensor)]
        if not tensors:  # a formula calls, and wants an array
            return on_arrays(self, values)
        arrays = {name: bare(value) for name, value in values.items()}
        y, extras = computed(self, arrays)
        result, known = Tensor(y), arrays | extras | {"y": y}
        targets = [edge(x) for x in flat(values[name] for name in self.formulas)]
        if any(targets) and recording.on and result.is_floating_point():
            result.edge = self.record(targets, known)
        result.note_base(tensors[0])
        return result

    def record(self, targets: list, known: dict[str, Any]) -> Node:
        """Return the node of a result, with what the formulas want of what is known."""
        pairs = zip(targets, cycle(self.wants.values()))
        names = [name for target, wants in pairs if target for name in wants]
        return Node(self, targets, named(self, names, known), known["y"].shape)

    def shares(self, node: Node, g: Any, wanted: set | None):
        """Yield each target of `node`, and its share of the gradient of the result.

        If g is a Tensor, the formulas get Tensors, too, and are recorded.
        """
        rules = cycle(self.formulas.items())  # the tensors of a list share one
        for i, (target, (name, formula)) in enumerate(zip(node.targets, rules)):
            if target and (wanted is None or target in wanted):
                values = [value_of(node, want, i, g) for want in self.wants[name]]
                yield target, formula(g, *values)


def value_of(node: Node, name: str, i: int, g: Any) -> Any:
    """Return what a formula wants, for argument i, by its name.

    Beside a gradient that is a Tensor, an array is one, too, and leads to its node.
    """
    if name == "shape":
        return node.targets[i].shape
    if name == "i":
        return i
    value = node.saved[name]
    if not isinstance(g, Tensor) or not isinstance(value, ARRAYS):
        return value
    sources = dict(zip(node.op.formulas, node.targets)) | {"y": True}
    return linked(value, sources[name], node) if name in sources else value


def linked(array: Any, source: Any, node: Node) -> Tensor | None:
    """Return a saved array as its leaf, or a Tensor that leads to its source.

    That is an edge, True for what the node itself has made, or False for nothing.
    """
    if array is None:
        return None
    source = node if source is True else source or None
    leaf = getattr(source, "variable", None)
    if leaf is not None and leaf.array is array:
        return leaf
    return Tensor(array, source)


def edge(value: Any) -> Any:
    """Return where the gradient of an argument goes; None if it is no tensor."""
    if not isinstance(value, Tensor):
        return None
    value.check_view()
    return value.edge
