"""minigrad.linalg: what torch.linalg has, as far as minigrad has it."""

from minigrad.reductions import vector_norm

__all__ = ["vector_norm"]
