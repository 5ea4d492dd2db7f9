"""minigrad.linalg: norms, in the place where PyTorch has them."""

from minigrad.norms import vector_norm  # noqa: F401
