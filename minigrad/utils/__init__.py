"""minigrad.utils: where PyTorch has data loading and checkpoint()."""

from minigrad.utils import checkpoint, data
