"""minigrad.value: Chapter 3's Value, and the order in which its graph is walked."""

from minigrad.scalar.value import Value, topological_order
