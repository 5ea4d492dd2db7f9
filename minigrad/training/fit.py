"""Training in the manner of Keras: fit(), its progress bar and its history."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.graph.recording import no_grad
from minigrad.nn import Module


@dataclass
class History:
    """What `fit` saw: the mean loss of each epoch, in training and on other data."""

    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch, from 0, with the lowest loss: of validation if there was any."""
        return int(np.argmin(np.nan_to_num(self.validation or self.loss, nan=np.inf)))


def fit(model: Module, loss, optimizer, data, epochs: int, validation=None) -> History:
    """Train for some epochs: loss(model(x), y) for every batch (x, y) of `data`.

    With `validation` the model then has the weights of its best epoch.
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
    """Learn from every batch once; return the mean of their losses.

    A part in eval mode stays in it, unless the whole model is.
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
            total, count = total + value.item() * len(x), count + len(x)
            bar.set_postfix_str(f"loss {total / count:.4f}", refresh=False)
    return mean_of(total, count)


def mean_of(total: float, count: int) -> float:
    """Return total / count; raise ValueError if there was nothing to count."""
    if not count:
        raise ValueError("no batch: data is empty, or used up as a generator is")
    return total / count


@no_grad()
def evaluate(model: Module, loss: Callable, data: Iterable) -> float:
    """Return the mean loss over batches that are not learned from, in eval mode."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    total = count = 0
    try:
        for x, y in data:
            total, count = total + loss(model(x), y).item() * len(x), count + len(x)
    finally:
        for module, mode in modes:
            module.training = mode
    return mean_of(total, count)


def progress_bar(data: Iterable, label: str) -> Any:
    """Return `data` with a progress bar: in a terminal and in Jupyter, else without."""
    from tqdm import tqdm

    # Jupyter's server names the session; where nobody looks, as in tests, none does
    shown = sys.stdout.isatty() or "JPY_SESSION_NAME" in os.environ
    return tqdm(data, desc=label, leave=False, disable=not shown, file=sys.stdout)
