"""minigrad.data: data in batches; see minigrad/training/data.py."""
# ruff: noqa: I001
# fmt: off

from minigrad.training.data import (
    SIGNS, DataLoader, Dataset, Subset, TensorDataset, load_additions, load_digits,
    random_split,
)
