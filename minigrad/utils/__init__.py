"""minigrad.utils: The place where PyTorch has its data loaders."""

from minigrad.utils import data
