"""minigrad.data: Data in batches. See minigrad/training/data.py."""
# ruff: noqa: I001

from minigrad.training.data import SIGNS, DataLoader, Dataset, Subset, TensorDataset
from minigrad.training.data import load_additions, load_digits, random_split
