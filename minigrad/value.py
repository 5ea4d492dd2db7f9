"""minigrad.value: Chapter 3's Value, and the order of the walk through its graph."""

from minigrad.scalar.value import Value, topological_order
