"""What a picture says about a graph: a list of Boxes, the same for every engine.

To draw another kind of value, register a function that can `describe` it. If the graph
refers to a value by another object, register a function that returns this object as
its `identity`. Nothing else looks into a value.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np
from numpy import ndarray

from minigrad.graph.node import AccumulateGrad
from minigrad.graph.node import Node as GraphNode
from minigrad.graph.saved_values import storage
from minigrad.graph.tensor import Tensor
from minigrad.scalar.value import Value
from minigrad.static.steps import Step

READABLE = 80  # values in one picture
FEW = 4  # numbers of a tensor that are shown; a larger one shows its shape
SIDE = 16  # rows and columns of the largest heat map in a box
# Letters that mean colors, one for each number: no color, the color of 0, the end
NO_HEAT, HEAT, LAST_HEAT = "\ue000", "\ue080", "\ue100"
TOO_LARGE = f"""This graph has more than {READABLE} values. Draw a part, such as
one neuron, or call draw(model, x), which draws a box for each module."""
KINDS = {"": "leaf", "variable": "leaf"}
KINDS |= {"constant": "constant", "placeholder": "constant"}


@dataclass(eq=False)
class Box:
    """What a picture says about one value, and about the operation that made it."""

    value: str  # such as 6, or for a tensor [1, 2] or its shape, (5, 3)
    grad: float | str | None = None  # a number, or text for a tensor's
    op: str = ""  # what made it, or "constant", "placeholder", or "" for a leaf
    # A (parent, local slope) pair for each use; graphs of Tensors have no slopes
    edges: list[tuple] = field(default_factory=list)
    label: str = ""
    note: str = ""  # what else to say about the operation
    passed: bool | None = None  # whether it passed its gradient on; None: no arrow back
    frozen: bool = False  # its operation has parameters, but none of them learns
    idle: bool = False  # nothing that made it learns, so no gradient comes here
    turn: bool = False  # it passes on its gradient in this frame
    heat: list[str] = field(default_factory=list)  # of its grad, a line for each row
    # What to say about a mistake: about the box (None), or the edge with that number
    mistakes: dict[int | None, str] = field(default_factory=dict)

    # Whether it is drawn as a leaf, a constant (like what is fed) or a result
    kind = property(lambda self: KINDS.get(self.op, "result"))

    @property
    def rows(self) -> list[str]:
        """The rows of the box."""
        equals = " " if self.value.startswith("(") else " = "
        first = f"{self.label}{equals}{self.value}" if self.label else self.value
        grad = [] if self.grad is None else [f"grad {number(self.grad)}"]
        return [first, *grad, *filter(None, [self.mistakes.get(None)])]

    @property
    def fields(self) -> list[str]:
        """The rows of the box in a picture, with the heat map below them."""
        *others, last = self.rows
        return [*others, "\n".join([last, *self.heat])]

    def line(self) -> str:
        """Return the node as text: `c = Mul(a, b) = 6, grad 1`, `c (3,) = Exp(a)`."""
        first, *rest = self.rows
        parents = [parent.label or parent.value for parent, _ in self.edges]
        if self.kind == "constant" and (self.label or parents):
            rest = [self.op, *(f"cut off from {parent}" for parent in parents)]
        elif self.kind == "result":
            name, equals, value = first.partition(" = ")
            first = f"{name} = {self.op}({', '.join(parents)}){equals}{value}"
            rest = [self.note] * bool(self.note) + ["no grad"] * self.idle + rest
        wrong = [(parents[k], w) for k, w in self.mistakes.items() if k is not None]
        rest += [f"on the edge from {parent} {words}" for parent, words in wrong]
        return ", ".join([first, *rest])


def constant(value: str) -> Box:
    """Return the Box of a constant."""
    return Box(value, op="constant")


@singledispatch
def describe(value) -> Box:
    """Return the Box of `value`. Each kind of value registers a version of its own."""
    raise TypeError(f"draw shows a Value or a Tensor, not {type(value)}")


describe.register(Box, lambda node: node)
describe.register(Value, lambda v: Box(number(v.data), v.grad, v.op, v.edges))
identity = singledispatch(lambda value: value)


@singledispatch
def saved_by(node) -> list[tuple] | None:
    """Return the arrays that a node saves, each with a name, or None after freeing."""
    saved = getattr(node, "saved", {})
    named = [(k, v if isinstance(v, list) else [v]) for k, v in (saved or {}).items()]
    arrays = [(k, x) for k, some in named for x in some if isinstance(x, ndarray)]
    return None if saved is None else arrays


@singledispatch
def memory_of(array) -> tuple[int, int]:
    """Return an id of the memory that an array shows, and its size in bytes."""
    return id(storage(array)), storage(array).nbytes


def number(x) -> str:
    """Return a number, or lists of numbers, with four digits on every machine."""
    if isinstance(x, list):
        return f"[{', '.join(map(number, x))}]"
    return f"{x + 0.0:.4g}" if isinstance(x, float) else str(x)  # -0.0 + 0.0 is 0.0


def shown(array) -> str:
    """Return a few numbers as they are, or the shape if there are more."""
    few = 0 < math.prod(array.shape) <= FEW
    return number(array.tolist()) if few else str(tuple(array.shape))


def heat_of(array) -> list[str]:
    """Return an array's heat map, with a letter for each number, and its scale.

    Return None for few numbers, which are shown as they are, and for very many.
    """
    rows = np.reshape(array, (-1, (array.shape or (1,))[-1] or 1))
    if array.size <= FEW or max(rows.shape) > SIDE:
        return []
    top = np.abs(rows).max()
    with np.errstate(all="ignore"):  # what is not finite is white
        shades = np.nan_to_num(rows / (top or 1) * 100).round().astype(int) + ord(HEAT)
    scale = f"\N{PLUS-MINUS SIGN} {top:.2g}"
    return [scale, *("".join(map(chr, row)) for row in shades)]


def with_numbers(node: Box, tensor) -> Box:
    """Return the node with the numbers and the gradient of our tensor or PyTorch's."""
    keeps_grad = tensor.is_leaf or tensor.retains_grad  # others would warn
    grad = tensor.grad if keeps_grad else None
    node.value, node.grad = shown(tensor), None if grad is None else shown(grad)
    return node


def operation(node) -> str:
    """Return what a node computes, such as Mul for MulBackward0."""
    return re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])


@describe.register
def _(tensor: Tensor) -> Box:
    if not isinstance(tensor.array, ndarray):
        return describe(tensor.array.step)
    node = constant("") if tensor.edge is None else describe(tensor.edge)
    return with_numbers(node, tensor)


@describe.register
def _(end: AccumulateGrad) -> Box:
    node = Box(str(end.shape))
    return node if end.variable is None else with_numbers(node, end.variable)


@describe.register
def _(node: GraphNode) -> Box:
    return Box(str(node.shape), op=operation(node), edges=arguments(node))


@describe.register
def _(step: Step) -> Box:
    if step.call == "constant":
        array = isinstance(step.value, ndarray)
        words = getattr(step.value, "__name__", str(step.value))  # of a function
        return constant(shown(step.value) if array else words)
    shape = "" if step.shape is None else str(step.shape)
    op, edges = step.call.removeprefix("ndarray."), [(x, None) for x in step.arguments]
    return Box(shape, op=op, edges=edges, label=step.name)


def arguments(node: GraphNode) -> list[tuple]:
    """Return edges to the arguments: nodes, and constants that a formula has saved."""
    names = getattr(node.op, "formulas", ())
    if len(names) != len(node.parents):  # a list of tensors is one argument
        return [(parent, None) for parent in node.parents if parent is not None]
    saved = map((node.saved or {}).get, names)
    return known(zip(node.parents, map(constant_of, saved)))


def constant_of(x) -> Tensor | None:
    """Return an array or a number as a Tensor, and None for anything else."""
    known = isinstance(x, ndarray | float | int)
    return Tensor(np.asarray(x, np.result_type(x))) if known else None


def known(arguments: Iterable[tuple]) -> list[tuple]:
    """Return edges to the arguments of an operation on Tensors, as far as known.

    Each argument is given as a pair: the node that it came from, and its numbers, if a
    formula has saved them. Either may be None. If one of two arguments is unknown, it
    is shown as a constant. If there are more, such as a layer's weight and bias, it is
    left out, because it may not have been given.
    """
    found = [saved if node is None else node for node, saved in arguments]
    if len(found) <= 2:
        found = [constant("constant") if x is None else x for x in found]
    return [(x, None) for x in found if x is not None]


@identity.register
def _(tensor: Tensor):
    if not isinstance(tensor.array, ndarray):
        return tensor.array.step
    return tensor.array if tensor.edge is None else tensor.edge


def members(variable) -> Iterable[tuple]:
    """Return (ending of the name, value) for a variable, or for each part of it.

    Only the types of variables are inspected, since any of them may be hostile.
    """
    if type(variable) in (list, tuple):  # of a long list, only the first
        return [(f"[{i}]", item) for i, item in enumerate(variable[:1000])]
    if hasattr(type(variable), "named_parameters"):  # a module, ours or PyTorch's
        with suppress(Exception):  # of a module that did not call super().__init__()
            tensors = [*variable.named_parameters(), *variable.named_buffers()]
            return [(f".{name}", tensor) for name, tensor in tensors]
    return [("", variable)]


def named(variables: dict) -> dict[int, tuple]:
    """Return (label, value) of everything drawable, by id(identity(value))."""
    found: dict[int, tuple] = {}
    for name, variable in variables.items():
        for more, item in members(variable):
            if describe.dispatch(type(item)) is not describe.dispatch(object):
                found.setdefault(id(identity(item)), (name + more, item))
    return found


def cut_off_from(constant, names: dict[int, tuple]) -> list:
    """Return an edge to the variable that a constant was cut off from, or None.

    This variable is a recorded tensor with the same memory, as `x` is for `x.detach()`.
    """
    if not isinstance(constant, Tensor):
        return []
    tensors = [x for _, x in names.values() if isinstance(x, Tensor) and x.edge]
    shared = storage(constant.array)
    return [(x, None) for x in tensors if storage(x.array) is shared][:1]


def labelled(value, names: dict[int, tuple], tell: Callable) -> Box:
    """Return the Box of `value`, with label and numbers of a variable that holds it.

    A constant among Values is a bare number, even if a variable holds it.
    """
    node = value if isinstance(value, Box) else tell(value)
    label, item = names.get(id(identity(value)), ("", value))
    if label and (node.kind != "constant" or identity(item) is not item):
        told = describe(item)
        node.label, node.value, node.grad = label, told.value, told.grad
    if node.op == "constant":
        node.grad, node.edges = None, cut_off_from(value, names)
    return node


def graph_of(root, variables: dict, tell=describe, found: dict | None = None) -> list:
    """Return the Box of all that `root` depends on, parents first, with their labels.

    Nodes without a name are labelled #1, #2, ... If the graph is too large, return one
    Box that says so. `found`, if given, gets each Box by the id of the object that it
    shows.
    """
    names, nodes, held = named(variables), [], []
    found = {} if found is None else found
    unnamed = itertools.count(1)

    def visit(value) -> Box | None:
        key = id(identity(value))
        if key in found or len(held) > READABLE:
            return found.get(key)
        held.append(value)  # so that no other object takes its id
        found[key] = None  # until its parents are found, as a cut may lead in a circle
        node = labelled(value, names, tell)
        edges = [(visit(parent), slope) for parent, slope in node.edges]
        node.edges = [(parent, slope) for parent, slope in edges if parent]
        found[key] = node
        nodes.append(node)
        if node.kind == "constant" and not node.label and node.value[0] not in "([":
            del found[key]  # each use of a bare number has a box of its own
        elif node.kind != "constant":
            node.label = node.label or f"#{next(unnamed)}"
        return node

    visit(root)
    return nodes if len(held) <= READABLE else [constant(TOO_LARGE)]
