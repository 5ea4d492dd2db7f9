"""Value: One number that remembers where it came from and shares out the blame."""

import math
from numbers import Real


def unary(op, f, slope):
    """Make a method of Value from a function of one number and its slope."""

    def method(self):
        y = f(self.data)
        return Value(y, op, self, slope(self.data, y))

    return method


class Value:
    """A number that knows the operation, the parents and the slopes that made it.

    A leaf has no parents. A result has one or two, each with a local slope. If a parent
    moves by a tiny h, the result moves by h times this slope.
    `root.backward()` fills in `grad`.
    """

    __slots__ = ["data", "grad", "op", "left", "left_slope", "right", "right_slope"]

    def __init__(self, data, op="", left=None, left_slope=0, right=None, right_slope=0):
        if type(data) is not float and not isinstance(data, Real):
            raise TypeError(f"a Value holds one number, got {type(data).__name__}")
        self.data, self.grad, self.op = float(data), 0.0, op
        self.left, self.left_slope = left, left_slope
        self.right, self.right_slope = right, right_slope

    def __repr__(self):
        return f"Value({self.data:.6g}, grad={self.grad:.6g})"

    @property
    def edges(self) -> list[tuple["Value", float]]:
        """The (parent, local slope) pairs, with the left parent first."""
        pairs = (self.left, self.left_slope), (self.right, self.right_slope)
        return [(parent, slope) for parent, slope in pairs if parent is not None]

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        return Value(self.data + other.data, "Add", self, 1.0, other, 1.0)

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        return Value(self.data * other.data, "Mul", self, other.data, other, self.data)

    def __sub__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        return Value(self.data - other.data, "Sub", self, 1.0, other, -1.0)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return Value(other, "constant") - self

    def __truediv__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        y = self.data / other.data
        return Value(y, "Div", self, 1 / other.data, other, -y / other.data)

    def __rtruediv__(self, other):
        return Value(other, "constant") / self

    def __pow__(self, n: float):
        slope = n * self.data ** (n - 1) if n else 0.0
        return Value(self.data**n, "Pow", self, slope)

    __neg__ = unary("Neg", lambda a: -a, lambda a, y: -1.0)
    exp = unary("Exp", math.exp, lambda a, y: y)
    log = unary("Log", math.log, lambda a, y: 1 / a)
    sin = unary("Sin", math.sin, lambda a, y: math.cos(a))
    tanh = unary("Tanh", math.tanh, lambda a, y: 1 - y * y)
    relu = unary("Relu", lambda a: max(a, 0.0), lambda a, y: float(a > 0))

    def backward(self) -> None:
        """Add d(self)/d(leaf) to the grad of every leaf. Visit each node once."""
        order = topological_order(self)
        for node in order:
            node.grad = 0.0
        self.grad += 1.0
        for node in order:
            node.left.grad += node.left_slope * node.grad
            if node.right is not None:
                node.right.grad += node.right_slope * node.grad


def topological_order(root: Value) -> list[Value]:
    """List the results that root depends on, root first, each before its parents."""
    order, placed, to_visit = [], set(), [(root, False)]
    while to_visit:
        node, parents_placed = to_visit.pop()
        if node is None or node.left is None or node in placed:
            continue
        if parents_placed:
            placed.add(node)
            order.append(node)
        else:
            to_visit += (node, True), (node.left, False), (node.right, False)
    return order[::-1]
