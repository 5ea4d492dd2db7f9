"""Data in batches: torch.utils.data's Dataset and DataLoader, and two small sets."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.graph.tensor import Tensor, kind
from minigrad.rules.joining import stack
from minigrad.tensors import creation


class Dataset:
    """Examples by number: write __getitem__ and __len__."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("a Dataset needs __getitem__(self, index)")

    def __len__(self) -> int:
        raise NotImplementedError("a Dataset needs __len__(self)")


class TensorDataset(Dataset):
    """Tensors of one length, taken apart along their first axis."""

    def __init__(self, *tensors: Tensor):
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"TensorDataset holds Tensors, not a {kind(tensor)}: make it one "
                    "with minigrad.tensor()"
                )
        if len({len(t) for t in tensors}) != 1:
            raise ValueError(
                f"Size mismatch between tensors: {[len(t) for t in tensors]}"
            )
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


def random_split(
    dataset: Dataset, lengths: Sequence, seed: int | None = None
) -> list[Subset]:
    """Split at random into parts of the given lengths, or fractions that sum to 1."""
    n = len(dataset)
    if math.isclose(sum(lengths), 1):
        parts = [int(n * part) for part in lengths]
        for i in range(n - sum(parts)):
            parts[i % len(parts)] += 1
        lengths = parts
    if sum(lengths) != n:
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset: "
            f"{list(lengths)} has to sum to {n}, or to 1 for fractions"
        )
    generator = creation.generator() if seed is None else np.random.default_rng(seed)
    order, ends = generator.permutation(n).tolist(), np.cumsum([0, *lengths])
    return [Subset(dataset, order[a:b]) for a, b in zip(ends[:-1], ends[1:])]


def default_collate(examples: list) -> Any:
    """Make one batch of examples: of tensors, numbers, tuples or dicts of them.

    As in PyTorch, of tuples comes a list, and Python's floats become float64.
    """
    first = examples[0]
    if isinstance(first, tuple | list):
        if any(len(example) != len(first) for example in examples):
            raise RuntimeError(
                "each element in list of batch should be of equal size, not "
                f"{sorted({len(example) for example in examples})}"
            )
        columns = [default_collate(list(column)) for column in zip(*examples)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    if isinstance(first, dict):
        batch = copy.copy(first)
        batch.update((k, default_collate([e[k] for e in examples])) for k in first)
        return batch
    if isinstance(first, Tensor):
        return stack(examples)
    if isinstance(first, str):
        return examples
    numbers = np.asarray(examples)
    if numbers.dtype.kind not in "biuf":
        raise TypeError(
            "default_collate: batch must contain tensors, arrays, numbers, dicts or "
            f"lists; found {kind(first)}. Does the dataset return its example?"
        )
    return Tensor(numbers)


class DataLoader:
    """Batches of a dataset; each pass over it is one epoch.

    With `seed` the order is the same in every run, and another in every epoch; without
    it comes from manual_seed. drop_last leaves out a last batch that is smaller.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        drop_last: bool = False,
        collate_fn: Callable | None = None,
        seed: int | None = None,
        num_workers: int = 0,
    ):
        if num_workers:
            raise ValueError("DataLoader works in this process alone: num_workers=0")
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(
                "batch_size should be a positive integer value, but got batch_size="
                f"{batch_size!r}"
            )
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.drop_last, self.collate_fn = drop_last, collate_fn
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

    def batch(self, indices: np.ndarray) -> Any:
        """Return the examples with these numbers as one batch."""
        data = self.dataset
        while type(data) is Subset:
            data, indices = data.dataset, np.asarray(data.indices)[indices]
        if self.collate_fn is None and type(data) is TensorDataset:
            return list(data[indices])  # all at once
        examples = [data[i] for i in indices.tolist()]
        return (self.collate_fn or default_collate)(examples)


def load_digits() -> TensorDataset:
    """Return 1,797 handwritten digits: images (1, 8, 8) from 0 to 1, and classes.

    Source: scikit-learn's copy of E. Alpaydin and C. Kaynak's set (UCI, 1998).
    """
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return TensorDataset(Tensor(images), Tensor(classes.astype(np.int64)))


def make_moons(n: int = 200, noise: float = 0.1, seed: int = 0) -> TensorDataset:
    """Return n points (2,) on two blurred half circles, and their classes 0 and 1."""
    from sklearn.datasets import make_moons

    points, classes = make_moons(n, noise=noise, random_state=seed)
    return TensorDataset(
        Tensor(points.astype(np.float32)), Tensor(classes.astype(np.int64))
    )


SIGNS = "0123456789+="


def load_additions() -> TensorDataset:
    """Return all sums of two numbers below 100, as 9 tokens each: (10000, 9).

    12 + 34 is "12+34=640": the sum's lowest digit comes first, as one adds on paper.
    A token is the place of its sign in `SIGNS`.
    """
    pairs = [(a, b) for a in range(100) for b in range(100)]
    texts = [f"{a:02}+{b:02}=" + f"{a + b:03}"[::-1] for a, b in pairs]
    return TensorDataset(Tensor(np.array([list(map(SIGNS.index, t)) for t in texts])))
