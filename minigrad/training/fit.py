"""Training in the manner of Keras: fit(), its progress bar and its history."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor
from minigrad.nn import Module


@dataclass
class History:
    """What `fit` saw: the mean loss of each epoch, in training and on other data."""

    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    interrupted: bool = False

    @property
    def epochs(self) -> int:
        """How many epochs are complete."""
        return len(self.loss)

    @property
    def best(self) -> int:
        """The epoch, from 0, with the lowest loss: of validation if there was any."""
        return int(np.argmin(np.nan_to_num(self.validation or self.loss, nan=np.inf)))

    def add(self, trained: float, tested: float | None) -> bool:
        """Note the losses of an epoch; return whether it is the best so far."""
        self.loss.append(trained)
        if tested is not None:
            self.validation.append(tested)
        return self.best == self.epochs - 1

    def plot(self, ax: Any) -> Any:
        """Plot both losses over the epochs, with a mark at the best one."""
        epochs = range(1, self.epochs + 1)
        ax.plot(epochs, self.loss, label="training")
        if self.validation:
            ax.plot(epochs, self.validation, "--", label="validation")
        if self.epochs:
            ax.plot(self.best + 1, (self.validation or self.loss)[self.best], "ko")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return ax


def fit(
    model: Module, loss, optimizer, data: Iterable, epochs: int, validation=None
) -> History:
    """Train for some epochs: loss(model(x), y) for every batch (x, y) of `data`.

    With `validation`, or after Ctrl-C, the model has the weights of its best epoch.
    """
    history, best = History(), {}
    try:
        for epoch in range(1, epochs + 1):
            trained = train(model, loss, optimizer, data, f"epoch {epoch} of {epochs}")
            tested = None if validation is None else evaluate(model, loss, validation)
            if history.add(trained, tested):
                best = {k: x.clone() for k, x in model.state_dict().items()}
    except KeyboardInterrupt:
        history.interrupted = True
        print(f"Stopped after {history.epochs} of {epochs} epochs.")
    if best and (history.validation or history.interrupted):
        model.load_state_dict(best)
    return history


def train(model, loss, optimizer, data: Iterable, label: str = "") -> float:
    """Learn from every batch once; return the mean of their losses.

    A part in eval mode stays in it, unless the whole model is.
    """
    if not any(module.training for module in model.modules()):
        model.train()
    total = Mean()
    with progress_bar(data, label) as bar:
        for x, y in bar:
            value = loss(model(x), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total.add(value.item(), batch_size(x, y))
            bar.set_postfix_str(f"loss {total.mean:.4f}", refresh=False)
    return total.mean


@no_grad()
def evaluate(model: Module, loss: Callable, data: Iterable) -> float:
    """Return the mean loss over batches that are not learned from, in eval mode."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    total = Mean()
    try:
        for x, y in data:
            total.add(loss(model(x), y).item(), batch_size(x, y))
    finally:
        for module, mode in modes:
            module.training = mode
    return total.mean


class Mean:
    """A mean that grows, of batches of different sizes."""

    def __init__(self):
        self.sum, self.count = 0.0, 0

    def add(self, value: float, count: int) -> None:
        """Add the mean of `count` more numbers."""
        self.sum, self.count = self.sum + value * count, self.count + count

    @property
    def mean(self) -> float:
        if not self.count:
            raise ValueError("no batch: data is empty, or used up as a generator is")
        return self.sum / self.count


def batch_size(x: Any, y: Any) -> int:
    """Return how many examples a batch has; x and y are tensors, or hold some."""
    sizes = {len(array) for array in arrays_in((x, y))}
    if len(sizes) != 1:
        raise ValueError(
            "the arrays of a batch have an entry for each example, so one length; "
            f"these have {sorted(sizes)}"
        )
    return sizes.pop()


def arrays_in(values: Any) -> Iterator[Any]:
    """Yield the tensors and arrays in a nest of tuples, lists and dicts."""
    if isinstance(values, tuple | list | dict):
        for value in values.values() if isinstance(values, dict) else values:
            yield from arrays_in(value)
    elif isinstance(values, Tensor | np.ndarray):
        yield values


def progress_bar(data: Iterable, label: str) -> Any:
    """Return `data` with a progress bar: in a terminal and in Jupyter, else without."""
    from tqdm import tqdm

    # Jupyter's server names the session; where nobody looks, as in tests, none does
    shown = sys.stdout.isatty() or "JPY_SESSION_NAME" in os.environ
    return tqdm(data, desc=label, leave=False, disable=not shown, file=sys.stdout)
