"""minigrad.utils.checkpoint, as in PyTorch; see minigrad/autograd/checkpointing.py."""

from minigrad.autograd.checkpointing import checkpoint
