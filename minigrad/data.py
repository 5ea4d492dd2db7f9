"""minigrad.data: data in batches; see minigrad/training/data.py."""

from minigrad.training.data import (
    SIGNS,
    DataLoader,
    Dataset,
    Subset,
    TensorDataset,
    default_collate,
    load_additions,
    load_digits,
    make_moons,
    random_split,
)
