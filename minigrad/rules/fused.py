"""Fused operations: several in one, with fast formulas that take only arrays."""

from collections.abc import Callable

from minigrad.array.dtypes import ARRAYS, zeros
from minigrad.graph.node import Node
from minigrad.graph.tensor import Tensor
from minigrad.graph.walk import walk
from minigrad.rules.casting import alias
from minigrad.rules.op import Op


class Fused(Op):
    """An operation with a fast form, and a form `plain` made of other operations.

    The fast form's formulas cannot be recorded. If a walk back is recorded, it takes
    its shares from `plain`.
    """

    def __init__(self, name: str, forward: Callable, plain: Callable, **formulas):
        super().__init__(name, forward, **formulas)
        self.plain = plain

    def record(self, parents: list, known: dict) -> Node:
        """Return the node, which also keeps the arguments."""
        node = super().record(parents, known)
        node.saved |= {name: known[name] for name in self.parameters}
        return node

    def input_gradients(self, node: Node, g, wanted: set | None):
        """Yield each parent of `node`, and its share of the gradient of the result."""
        if not isinstance(g, Tensor):
            yield from super().input_gradients(node, g, wanted)
            return
        inputs = {name: node.saved[name] for name in self.parameters}
        doors = {}
        for name, parent in zip(self.formulas, node.parents):
            if isinstance(inputs[name], ARRAYS):
                inputs[name] = alias(Tensor(inputs[name], parent))
                if parent and (wanted is None or parent in wanted):
                    doors[inputs[name].edge] = parent
        y = self.plain(**inputs)
        reached = walk({y.edge: g}, set(doors), True) if y.edge else {}
        for door, parent in doors.items():
            nothing = Tensor(zeros(door.shape, g.array))
            yield parent, reached.get(door, nothing)
