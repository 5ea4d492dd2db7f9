"""Data in batches: torch.utils.data's Dataset and DataLoader, and two small sets."""

from collections.abc import Iterator, Sequence

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.rules.joining import stack
from minigrad.tensors import creation


class Dataset:
    """Examples by number. A dataset defines __getitem__ and __len__."""


class TensorDataset(Dataset):
    """Tensors of the same length, split into examples along their first axis."""

    def __init__(self, *tensors: Tensor):
        if len({len(tensor) for tensor in tensors}) != 1:
            raise ValueError(f"Size mismatch between tensors: {[*map(len, tensors)]}")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class Subset(Dataset):
    """Some of the examples of a dataset."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[int], seed=None) -> list[Subset]:
    """Split at random into parts of the given lengths."""
    if sum(lengths) != len(dataset):
        raise ValueError(f"Sum of input lengths: {lengths} is not {len(dataset)}")
    generator = creation.generator() if seed is None else np.random.default_rng(seed)
    order = generator.permutation(len(dataset)).tolist()
    ends = np.cumsum([0, *lengths])
    return [Subset(dataset, order[a:b]) for a, b in zip(ends[:-1], ends[1:])]


def default_collate(examples: list):
    """Make one batch of examples: tensors, numbers, or tuples or dicts of them.

    As in PyTorch, tuples give a list, and Python's floats become float64.
    """
    first = examples[0]
    if isinstance(first, Tensor):
        return stack(examples)
    if isinstance(first, dict):
        return {k: default_collate([each[k] for each in examples]) for k in first}
    if isinstance(first, tuple | list):
        return [default_collate(column) for column in zip(*examples, strict=True)]
    return creation.tensor(np.asarray(examples))


class DataLoader:
    """Batches of a dataset. Each pass over it is one epoch.

    With `seed`, each epoch has an order of its own, and every run has the same orders.
    Without `seed`, the order comes from manual_seed. drop_last drops an incomplete last
    batch.
    """

    def __init__(
        self, dataset, batch_size=1, shuffle=False, *, drop_last=False, seed=None
    ):
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size must be a positive integer, not {batch_size}")
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.drop_last = drop_last
        self._generator = None if seed is None else np.random.default_rng(seed)

    def __len__(self) -> int:
        full, rest = divmod(len(self.dataset), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            order = (self._generator or creation.generator()).permutation(len(order))
        for i in range(len(self)):
            yield self.batch(order[i * self.batch_size : (i + 1) * self.batch_size])

    def batch(self, indices: np.ndarray):
        """Return the examples with these numbers as one batch."""
        data = self.dataset
        while type(data) is Subset:
            data, indices = data.dataset, np.asarray(data.indices)[indices]
        if type(data) is TensorDataset:
            return list(data[indices])  # all at once
        return default_collate([data[i] for i in indices.tolist()])


def load_digits() -> TensorDataset:
    """Return 1,797 handwritten digits: images (1, 8, 8) from 0 to 1, and classes.

    Source: scikit-learn's copy of E. Alpaydin and C. Kaynak's set (UCI, 1998).
    """
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return TensorDataset(Tensor(images), Tensor(classes.astype(np.int64)))


SIGNS = "0123456789+="


def load_additions() -> TensorDataset:
    """Return all sums of two numbers below 100, as 9 tokens each: (10000, 9).

    12 + 34 is "12+34=640". The sum's lowest digit comes first, as in addition on paper.
    A token is the position of a character in `SIGNS`.
    """
    pairs = [(a, b) for a in range(100) for b in range(100)]
    texts = [f"{a:02}+{b:02}=" + f"{a + b:03}"[::-1] for a, b in pairs]
    return TensorDataset(Tensor(np.array([list(map(SIGNS.index, t)) for t in texts])))
