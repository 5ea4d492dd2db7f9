"""Training in the manner of Keras, with fit(), its progress bar and its history."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from minigrad.graph.recording import no_grad
from minigrad.nn import Module


@dataclass
class History:
    """The mean loss of each epoch of `fit`, in training and in validation."""

    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch, from 0, with the lowest loss, in validation if there was any."""
        return int(np.argmin(np.nan_to_num(self.validation or self.loss, nan=np.inf)))


def fit(model: Module, loss, optimizer, data, epochs: int, validation=None) -> History:
    """Train for some epochs, with loss(model(x), y) for every batch (x, y) of `data`.

    With `validation`, the model ends with the weights of its best epoch.
    """
    history, best = History(), {}
    try:
        for epoch in range(1, epochs + 1):
            label = f"epoch {epoch} of {epochs}"
            history.loss.append(train(model, loss, optimizer, data, label))
            if validation is not None:
                history.validation.append(evaluate(model, loss, validation))
            if history.best == epoch - 1:
                best = {k: x.clone() for k, x in model.state_dict().items()}
    except KeyboardInterrupt:
        print(f"Stopped after {len(history.loss)} of {epochs} epochs.")
    if history.validation:
        model.load_state_dict(best)
    return history


def train(model, loss, optimizer, data: Iterable, label: str = "") -> float:
    """Learn from every batch once. Return the mean of their losses.

    Parts in eval mode stay in eval mode, unless the whole model is in eval mode.
    """
    if not any(module.training for module in model.modules()):
        model.train()
    total = count = 0
    with progress_bar(data, label) as bar:
        for x, y in bar:
            value = loss(model(x), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            n = examples_in(x, y)
            total, count = total + value.item() * n, count + n
            bar.set_postfix_str(f"loss {total / count:.4f}", refresh=False)
    return mean_of(total, count)


def examples_in(*batch) -> int:
    """Return the length of the first tensor with axes. Tensors in dicts come last."""
    parts = list(batch)
    for part in parts:
        if isinstance(part, dict | list | tuple):
            parts += part.values() if isinstance(part, dict) else part
        elif getattr(part, "shape", ()):
            return len(part)
    return 1


def mean_of(total: float, count: int) -> float:
    """Return total / count, or raise ValueError if there was nothing to count."""
    if not count:
        raise ValueError("no batch: the data is empty, or a generator that is used up")
    return total / count


@no_grad()
def evaluate(model: Module, loss: Callable, data: Iterable) -> float:
    """Return the mean loss over batches that are not learned from, in eval mode."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    total = count = 0
    try:
        for x, y in data:
            n = examples_in(x, y)
            total, count = total + loss(model(x), y).item() * n, count + n
    finally:
        for module, mode in modes:
            module.training = mode
    return mean_of(total, count)


def progress_bar(data: Iterable, label: str):
    """Return `data`, with a progress bar in a terminal and in Jupyter."""
    from tqdm import tqdm

    # Jupyter's server sets this name; in tests, there is neither
    shown = sys.stdout.isatty() or "JPY_SESSION_NAME" in os.environ
    return tqdm(data, desc=label, leave=False, disable=not shown, file=sys.stdout)
