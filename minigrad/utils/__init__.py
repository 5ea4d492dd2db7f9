"""minigrad.utils: where PyTorch has what loads data."""

from minigrad.utils import data
