"""What a picture tells of a graph, whichever engine the graph comes from.

To draw a further kind of value, register how to `describe` it and, if the graph does
not link to the value itself, its `identity`. Nothing else here looks into a value.
"""

import functools
import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from minigrad.scalar.value import Value

READABLE = 80  # values in one picture
COUNTABLE = 100_000  # values that are counted at once
PARTS = "Draw a part: one neuron, one data point's loss, a value on the way."
FOLDS = "Draw a part, or draw(model, x), which makes one box of each module."


@dataclass(eq=False)
class Node:
    """What a picture tells of one value."""

    value: str  # 6, or of a tensor [1, 2] or its shape, (5, 3)
    grad: float | str | None  # what a tensor has got, in the same form
    op: str  # what made it; "constant", "placeholder", or "" for a leaf
    edges: list[tuple[Any, float | None]]  # a (parent, local slope) pair for each use
    label: str = ""
    place: int = 0  # in the list of the graph's nodes
    about: str = ""  # what else is to be said of what made it
    learns: bool | None = None  # whether a module does; None if it has no parameters
    idle: bool = False  # nothing that it was made from learns: no gradient comes here
    inline: bool = False  # what made it shows its shape, too: it has no box of its own
    of: Any = None  # the value; while this holds it, no other takes its id

    @property
    def kind(self) -> str:
        """Whether it is a leaf, a constant (or fed, which looks alike) or a result."""
        kinds = {"": "leaf", "constant": "constant", "placeholder": "constant"}
        return kinds.get(self.op, "result")

    @property
    def is_named(self) -> bool:
        """Whether it has a name: a constant need not."""
        return self.kind != "constant" or self.label != self.value

    def rows(self, grad: float | str | None) -> list[str]:
        """Return the rows of the node's box when its grad is `grad`."""
        equals = " " if self.value.startswith("(") else " = "
        first = f"{self.label}{equals}{self.value}" if self.is_named else self.label
        if self.kind == "constant" or grad is None:
            return [first]
        return [first, f"grad {grad if isinstance(grad, str) else number(grad)}"]

    def line(self) -> str:
        """Return the node as text: `c = Mul(a, b) = 6, grad 1`, `c (3,) = Exp(a)`."""
        first, *rest = self.rows(self.grad)
        if self.kind == "constant":
            rest = [self.op] * self.is_named
            rest += [f"cut off from {parent.label}" for parent, _ in self.edges]
        elif self.kind == "result":
            made = f"{self.op}({', '.join(parent.label for parent, _ in self.edges)})"
            name = first.removesuffix(f" = {self.value}")
            first = f"{name} = {made}{first.removeprefix(name)}"
            rest = [self.about] * bool(self.about) + ["no grad"] * self.idle + rest
        return ", ".join([first, *rest])


@functools.singledispatch
def describe(value: Any) -> Node:
    """Return the Node of `value`; each kind that can be drawn registers a version."""
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    way = "; `import minigrad.drawing.pytorch` first" if kind == "torch.Tensor" else ""
    raise TypeError(
        f"draw shows a Value or a Tensor and all that it was made from; got {kind}{way}"
    )


@describe.register
def _(value: Value) -> Node:
    return Node(number(value.data), value.grad, value.op, value.edges)


NOTHING = object()  # where a node has a None among its next functions


def describe_node(node: Any) -> Node:
    """Return the Node of a `grad_fn` by itself; PyTorch's have the same two methods."""
    if node is NOTHING:
        return Node("None", None, "constant", [])
    name = node.name().rpartition("::")[2]  # in PyTorch a leaf's has its namespace
    targets = [NOTHING if x is None else x for x, _ in node.next_functions]
    op = name if targets else ""
    return Node(name, None, op, [(x, None) for x in targets], about=name)


@functools.singledispatch
def identity(value: Any) -> Any:
    """Return the object that a graph links to where it means `value`."""
    return value


@functools.singledispatch
def memory(value: Any) -> Any:
    """Return what `value` has in common with its views."""
    return value


@functools.singledispatch
def members(value: Any) -> Iterable[tuple[str, Any]]:
    """Return what a variable names: its value, and under longer names the parts."""
    return [("", value)]


@members.register(list)
@members.register(tuple)
def _(values: list | tuple) -> Iterable[tuple[str, Any]]:
    return [("", values), *((f"[{i}]", x) for i, x in enumerate(values))]


def number(x: float) -> str:
    """Return x with four significant digits, as many as are the same everywhere."""
    return f"{x + 0.0:.4g}"  # -0.0 + 0.0 is 0.0


def cuts_among(variables: Mapping[str, Any]) -> Callable:
    """Return a `describe` that links a constant to the variable it was cut off from.

    That is a recorded value in the same memory, as `x` is for `x.detach()`.
    """
    items = [x for variable in variables.values() for _, x in members(variable)]
    recorded = {
        id(memory(x)): x
        for x in reversed(items)
        if memory(x) is not x and describe(x).kind != "constant"
    }

    def described(value: Any) -> Node:
        node = describe(value)
        origin = recorded.get(id(memory(value)))
        if node.kind == "constant" and origin is not None:
            node.edges = [(origin, None)]
        return node

    return described


def size(root: Any, describe: Callable) -> int:
    """Count the values that `root` depends on, itself too, as far as COUNTABLE."""
    seen, to_visit = {id(identity(root)): root}, [root]
    while to_visit and len(seen) < COUNTABLE:
        for parent, _ in describe(to_visit.pop()).edges:
            if id(identity(parent)) not in seen:
                seen[id(identity(parent))] = parent
                to_visit.append(parent)
    return len(seen)


def walk(root: Any, describe: Callable) -> dict[int, Node]:
    """Return the node of everything that `root` depends on, by id, parents first."""
    found: dict[int, Node] = {}
    seen, to_visit = set(), [(root, None)]
    while to_visit:
        value, node = to_visit.pop()
        key = id(identity(value))
        if node:  # by now its parents are found, but for a cut that leads in a circle
            keyed = [(id(identity(parent)), slope) for parent, slope in node.edges]
            node.edges = [(found[k], slope) for k, slope in keyed if k in found]
            node.place = len(found)
            found[key] = node
        elif key not in seen:
            seen.add(key)
            node = describe(value)
            node.of = value
            to_visit.append((value, node))
            to_visit += [(parent, None) for parent, _ in reversed(node.edges)]
    return found


def put_labels(found: dict[int, Node], variables: Mapping[str, Any]) -> None:
    """Label nodes with their first variable, a list's items as w[0], the rest as #1."""
    items = [(k + more, x) for k, v in variables.items() for more, x in members(v)]
    for label, item in items:
        node = found.get(id(identity(item)))
        if node and not node.label:
            put_label(node, label, item)
    owners = {id(memory(x)): k for k, x in reversed(items) if memory(x) is not x}
    unnamed = itertools.count(1)
    for node in found.values():
        if node.kind == "constant" and not node.label:
            owner = owners.get(id(memory(node.of)))
            node.label = f"view of {owner}" if owner else node.value
        node.label = node.label or f"#{next(unnamed)}"


def put_label(node: Node, label: str, item: Any) -> None:
    """Label a node with the variable of `item`, and tell what only that knows."""
    if identity(item) is not item:
        known = describe(item)
        node.label, node.value, node.grad = label, known.value, known.grad
    elif node.kind != "constant":  # the constants among Values are bare numbers
        node.label = label


def one_number_each(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes, with a box of its own for each use of an unnamed number."""
    used, apart = set(), []
    for node in nodes:
        for i, (parent, slope) in enumerate(node.edges):
            lone = not parent.is_named and parent.value[0] not in "(["
            if lone and parent in used:
                parent = replace(parent)
                node.edges[i] = parent, slope
                apart.append(parent)
            used.add(parent)
        apart.append(node)
    for place, node in enumerate(apart):
        node.place = place
    return apart


def graph_of(
    root: Any, variables: Mapping[str, Any], describe: Callable = describe
) -> list[Node]:
    """Return root's nodes, labelled; of too large a graph, one that says what to do."""
    if (count := size(root, describe)) > READABLE:
        more = " or more" if count >= COUNTABLE else ""
        edges = describe(root).edges
        advice = textwrap.fill(
            f"This graph has {count:,}{more} values; no more than {READABLE} can be "
            f"read. {FOLDS if edges[0][1] is None else PARTS}",
            60,
        )
        return [Node(advice, 0.0, "constant", [], advice)]
    found = walk(root, describe)
    put_labels(found, variables)
    return one_number_each(found.values())
