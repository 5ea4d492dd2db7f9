"""minigrad.utils: its data, in the place where PyTorch has it."""

from minigrad import data  # noqa: F401
