"""Value: one number that remembers where it came from and shares out the blame."""

import itertools
import math
from numbers import Real
from operator import attrgetter

births = itertools.count()


def unary(op, f, slope):
    """Make the method that computes f(a) and records d f(a) / da = slope(a, f(a))."""

    def method(self):
        y = f(self.data)
        return record(op, y, self, slope(self.data, y))

    return method


class Value:
    """A number that knows which operation made it, from what, and with which slopes.

    A leaf is made by hand; a result is made by an operation and holds one or two
    parents, each with its local slope: how far the result moves when that parent
    moves by one. `grad` is d(root)/d(self), filled in by `root.backward()`.
    """

    __slots__ = "data grad op birth left left_slope right right_slope".split()

    def __init__(self, data: float, op: str = ""):
        if not isinstance(data, Real):
            raise TypeError(f"a Value holds one number, got {type(data).__name__}")
        self.data, self.grad, self.op, self.birth = float(data), 0.0, op, next(births)
        self.left, self.left_slope, self.right, self.right_slope = None, 0.0, None, 0.0

    def __repr__(self):
        return f"Value({self.data:.6g}, grad={self.grad:.6g})"

    @property
    def edges(self) -> list[tuple["Value", float]]:
        """The (parent, local slope) pairs: `x + x` has one parent but two edges."""
        pairs = (self.left, self.left_slope), (self.right, self.right_slope)
        return [(parent, slope) for parent, slope in pairs if parent is not None]

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        return record("Add", self.data + other.data, self, 1.0, other, 1.0)

    def __sub__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        return record("Sub", self.data - other.data, self, 1.0, other, -1.0)

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        a, b = self.data, other.data
        return record("Mul", a * b, self, b, other, a)

    def __truediv__(self, other):
        other = other if isinstance(other, Value) else Value(other, "constant")
        a, b = self.data, other.data
        return record("Div", a / b, self, 1 / b, other, -a / b**2)

    def __pow__(self, n: float):
        slope = n * self.data ** (n - 1) if n else 0.0
        return record("Pow", self.data**n, self, slope)

    __radd__, __rmul__ = __add__, __mul__
    __rsub__ = lambda self, other: Value(other, "constant") - self
    __rtruediv__ = lambda self, other: Value(other, "constant") / self

    __neg__ = unary("Neg", lambda a: -a, lambda a, y: -1.0)
    exp = unary("Exp", math.exp, lambda a, y: y)
    log = unary("Log", math.log, lambda a, y: 1 / a)
    sin = unary("Sin", math.sin, lambda a, y: math.cos(a))
    tanh = unary("Tanh", math.tanh, lambda a, y: 1 - y * y)
    relu = unary("Relu", lambda a: max(a, 0.0), lambda a, y: float(a > 0))

    def backward(self) -> None:
        """Add d(self)/d(leaf) to the grad of every leaf; visit each node once."""
        order = topological_order(self)
        for node in order:
            node.grad = 0.0
        self.grad += 1.0
        for node in order:
            node.left.grad += node.left_slope * node.grad
            if node.right is not None:
                node.right.grad += node.right_slope * node.grad


def record(op, data, left, left_slope, right=None, right_slope=0.0) -> Value:
    """Make the result of an operation; `Value(...)` itself makes leaves."""
    result = Value.__new__(Value)
    result.data, result.grad, result.op, result.birth = data, 0.0, op, next(births)
    result.left, result.left_slope = left, left_slope
    result.right, result.right_slope = right, right_slope
    return result


def topological_order(root: Value) -> list[Value]:
    """List every result that root depends on, each before its parents.

    A result is younger than its parents, so sorting by birth is enough.
    """
    order, found, to_visit = [], {root}, [root]
    while to_visit:
        node = to_visit.pop()
        if node.left is not None:
            order.append(node)
            for parent in (node.left, node.right):
                if parent is not None and parent not in found:
                    found.add(parent)
                    to_visit.append(parent)
    return sorted(order, key=attrgetter("birth"), reverse=True)
