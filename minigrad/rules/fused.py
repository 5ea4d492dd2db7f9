"""Fused: several operations in one, with formulas that are fast, on arrays alone."""

from collections.abc import Callable
from typing import Any

from minigrad.array.dtypes import ARRAYS, zeros
from minigrad.graph.node import Node
from minigrad.graph.tensor import Tensor
from minigrad.graph.walk import walk
from minigrad.rules.casting import alias
from minigrad.rules.op import Op


class Fused(Op):
    """An operation that is known twice: fast, and composed of others by `plain`.

    Its formulas need not be such that they can be recorded: where a walk back is, its
    shares come by way of the composition.
    """

    def __init__(self, name: str, forward: Callable, plain: Callable, **formulas):
        super().__init__(name, forward, **formulas)
        self.plain = plain

    def record(self, targets: list, known: dict[str, Any]) -> Node:
        """Return the node, which keeps the arguments, too."""
        node = super().record(targets, known)
        node.saved |= {name: known[name] for name in self.parameters}
        return node

    def shares(self, node: Node, g: Any, wanted: set | None):
        """Yield each target of `node`, and its share of the gradient of the result."""
        if not isinstance(g, Tensor):
            yield from super().shares(node, g, wanted)
            return
        inputs = {name: node.saved[name] for name in self.parameters}
        doors = {}
        for name, target in zip(self.formulas, node.targets):
            if isinstance(inputs[name], ARRAYS):
                inputs[name] = alias(Tensor(inputs[name], target))
                if target and (wanted is None or target in wanted):
                    doors[inputs[name].edge] = target
        y = self.plain(**inputs)
        ends = walk({y.edge: g}, set(doors), True) if y.edge else {}
        for door, target in doors.items():
            nothing = Tensor(zeros(door.shape, g.array))
            yield target, ends.get(door, nothing)
