"""Training in the manner of Keras: fit(), its progress bar, history and checkpoints."""

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.drawing.plots import axes
from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor, kind
from minigrad.nn import Module
from minigrad.optim import Optimizer
from minigrad.tensors import creation
from minigrad.training import saving


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
        if not self.loss:
            raise ValueError("no epoch is complete, so none is the best")
        return int(np.argmin(np.nan_to_num(self.validation or self.loss, nan=np.inf)))

    def plot(self, ax: Any = None) -> Any:
        """Plot both losses over the epochs, with a mark at the best one."""
        ax = ax or axes("epoch", "loss")[1]
        epochs = range(1, self.epochs + 1)
        ax.plot(epochs, self.loss, label="training")
        if self.validation:
            ax.plot(epochs, self.validation, "--", label="validation")
        if self.loss:
            ax.plot(self.best + 1, (self.validation or self.loss)[self.best], "ko")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return ax


def fit(
    model: Module,
    loss: Callable[[Tensor, Tensor], Tensor],
    optimizer: Optimizer,
    data: Iterable,
    epochs: int,
    validation: Iterable | None = None,
    patience: int | None = None,
    checkpoint: str | PathLike | None = None,
) -> History:
    """Train for some epochs: loss(model(x), y) for every batch (x, y) of `data`.

    With `validation`, batches not learned from, the model ends with the weights of its
    best epoch; `patience` ends it after so many epochs without a better one. Ctrl-C
    leaves the best weights, too. With `checkpoint`, a file that is written after each
    epoch, a second call goes on as if nothing had been between, to the same numbers.
    """
    run = Run(model, optimizer, data, validation, patience, checkpoint)
    try:
        while not run.finished(epochs):
            trained = train(model, loss, optimizer, data, run.label(epochs))
            tested = None if validation is None else evaluate(model, loss, validation)
            run.finish_epoch(trained, tested)
    except KeyboardInterrupt:
        run.interrupt(epochs)
    return run.end()


def train(model, loss, optimizer, data: Iterable, label: str = "") -> float:
    """Learn from every batch once; return the mean of their losses."""
    model.train()
    total = Mean()
    with progress_bar(data, label) as bar:
        for x, y in bar:
            value = loss(model(x), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total.add(value.item(), len(x))
            bar.set_postfix_str(f"loss {total.mean:.4f}", refresh=False)
    return total.mean


@no_grad()
def evaluate(model: Module, loss: Callable, data: Iterable) -> float:
    """Return the mean loss over batches that are not learned from, in eval mode."""
    was_training = model.training
    model.eval()
    total = Mean()
    try:
        for x, y in data:
            total.add(loss(model(x), y).item(), len(x))
    finally:
        model.train(was_training)
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
            raise ValueError(
                "there is no batch, so there is no loss: the data is empty, or "
                "drop_last leaves out all of it"
            )
        return self.sum / self.count


def progress_bar(data: Iterable, label: str) -> Any:
    """Return `data` with a progress bar: in a terminal and in Jupyter, else without."""
    from tqdm import tqdm

    # Jupyter's server names the session; where nobody looks, as in tests, none does
    shown = sys.stdout.isatty() or "JPY_SESSION_NAME" in os.environ
    return tqdm(data, desc=label, leave=False, disable=not shown, file=sys.stdout)


def check_batches(name: str, data: Any) -> None:
    """Raise TypeError for numbers without batches, and for what lasts one epoch."""
    first = data[0] if isinstance(data, tuple | list) and data else data
    if isinstance(first, Tensor | np.ndarray):
        raise TypeError(
            f"{name} has to be batches (x, y), not a {kind(data)} of numbers: give "
            "DataLoader(TensorDataset(X, y), batch_size=32), say"
        )
    if isinstance(data, Iterator):
        raise TypeError(
            f"{name} is a {kind(data)}, which is used up after one epoch: "
            "give a DataLoader, or a list of batches"
        )


class Run:
    """What has to be saved after an epoch to go on from there."""

    def __init__(self, model, optimizer, data, validation, patience, checkpoint):
        if patience is not None and validation is None:
            raise ValueError(
                "patience waits for a better validation loss: give validation"
            )
        if not isinstance(model, Module) or not isinstance(optimizer, Optimizer):
            raise TypeError(
                "fit(model, loss, optimizer, ...) wants a Module and an Optimizer, but "
                f"got a {kind(model)} and a {kind(optimizer)}"
            )
        for name, batches in ("data", data), ("validation", validation):
            check_batches(name, batches)
        self.model, self.optimizer, self.patience = model, optimizer, patience
        self.loader = getattr(data, "_generator", None)
        self.history, self.best_weights = History(), None
        self.path = Path(checkpoint) if checkpoint else None
        if self.path and self.path.exists():
            self.resume()

    def finished(self, epochs: int) -> bool:
        """Return whether all is done, or the best epoch was too long ago."""
        history = self.history
        waited = history.epochs - 1 - history.best if history.epochs else -1
        tired = self.patience is not None and waited >= self.patience
        return tired or history.epochs >= epochs

    def label(self, epochs: int) -> str:
        """Say which epoch it is that begins."""
        return f"epoch {self.history.epochs + 1} of {epochs}"

    def finish_epoch(self, trained: float, tested: float | None) -> None:
        """Note the losses of an epoch, and save all."""
        history = self.history
        history.loss.append(trained)
        if tested is not None or history.validation:  # as many as epochs, nan if none
            unknown = [math.nan] * (history.epochs - len(history.validation) - 1)
            history.validation += [*unknown, math.nan if tested is None else tested]
        if history.best == history.epochs - 1:
            self.best_weights = copies(self.model.state_dict())
        if self.path:
            self.save()

    def interrupt(self, epochs: int) -> None:
        """Say what Ctrl-C leaves."""
        self.history.interrupted = True
        best = "The model has the weights of its best epoch."
        left = best if self.history.epochs else "No epoch was complete."
        print(f"Stopped in {self.label(epochs)}. {left}")

    def end(self) -> History:
        """Give the model the weights of its best epoch, or leave it the last ones."""
        history = self.history
        if self.best_weights and (history.validation or history.interrupted):
            self.model.load_state_dict(self.best_weights)
        return history

    def generators(self) -> list:
        """Return the sources of random numbers: all of minigrad's, and the loader's."""
        return [creation.generator(), *([self.loader] if self.loader else [])]

    def save(self) -> None:
        """Write the file anew; the older one stays until the new one is complete."""
        everything = {
            "model": self.model.state_dict(),
            "best": self.best_weights,
            "optimizer": self.optimizer.state_dict(),
            "history": asdict(self.history),
            "random": [each.bit_generator.state for each in self.generators()],
        }
        unfinished = self.path.with_name(self.path.name + ".unfinished")
        saving.save(everything, unfinished)
        os.replace(unfinished, self.path)

    def resume(self) -> None:
        """Take over what an earlier call has saved."""
        found = read(self.path)
        self.model.load_state_dict(found["model"])
        self.best_weights = found["best"]
        self.optimizer.load_state_dict(found["optimizer"])
        for generator, state in zip(self.generators(), found["random"]):
            generator.bit_generator.state = state
        self.history = History(**found["history"])


def read(path: Path) -> dict:
    """Return what a checkpoint holds; ValueError if it is none."""
    try:
        found = saving.load(path)
    except (RuntimeError, ValueError):
        found = None
    parts = {"model", "best", "optimizer", "history", "random"}
    if not isinstance(found, dict) or found.keys() != parts:
        raise ValueError(
            f"{path} is no checkpoint of fit(): give another path, or delete the file"
        )
    return found


def copies(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a state_dict with memory of its own."""
    return {name: Tensor(tensor.array.copy()) for name, tensor in state.items()}
