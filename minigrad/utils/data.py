"""minigrad.utils.data, as in PyTorch. See minigrad/training/data.py."""

from minigrad.data import DataLoader, Dataset, Subset, TensorDataset, random_split
