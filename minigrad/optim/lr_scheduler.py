"""Learning rate schedules, with the formulas of torch.optim.lr_scheduler."""

import math
from collections.abc import Callable

from minigrad.graph.tensor import kind
from minigrad.optim.optimizer import Optimizer


def above_zero(**options: float) -> None:
    """Raise ValueError for an option that is 0 or negative."""
    for name, value in options.items():
        if value <= 0:
            raise ValueError(f"Invalid {name} value: {value}; it has to be above 0")


def check_optimizer(optimizer: Optimizer) -> None:
    """Raise TypeError for what has no learning rates."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{kind(optimizer)} is not an Optimizer")


class LRScheduler:
    """Sets each group's lr to what get_lr() says, which every schedule writes.

    last_epoch is -1, or after how many steps less one to go on, with an optimizer that
    has loaded its state from there: else KeyError.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        check_optimizer(optimizer)
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            if last_epoch < 0:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in a group: to go on from "
                    "last_epoch, give the optimizer its old state_dict() first"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def step(self) -> None:
        """Go on to the next learning rate; call it after optimizer.step()."""
        self.last_epoch += 1
        self.last_lrs = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self.last_lrs):
            group["lr"] = lr

    def get_last_lr(self) -> list[float]:
        """Return the learning rate of each group, as it was set last."""
        return self.last_lrs

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group after last_epoch steps."""
        raise NotImplementedError("a schedule has to have get_lr(self)")

    def state_dict(self) -> dict:
        """Return how far the schedule has come, and its options, but no function."""
        others = "optimizer", "factor", "factors"
        return {name: x for name, x in vars(self).items() if name not in others}

    def load_state_dict(self, state_dict: dict) -> None:
        """Go on from where state_dict() was called; the optimizer's own has the lr."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """Sets each group's lr to its first value times lr_lambda(number of steps).

    lr_lambda is one function, or a list with one for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable | list[Callable],
        last_epoch: int = -1,
    ):
        check_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        several = isinstance(lr_lambda, list | tuple)
        self.factors = list(lr_lambda) if several else [lr_lambda] * groups
        if len(self.factors) != groups:
            raise ValueError(
                f"Expected {groups} lr_lambdas, one for each parameter group, but got "
                f"{len(self.factors)}"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        pairs = zip(self.base_lrs, self.factors)
        return [lr * factor(self.last_epoch) for lr, factor in pairs]


class Chained(LRScheduler):
    """A schedule that goes on from the lr that is there, whoever has set it."""

    lowest = 0.0  # where the way ends: the lr's height above it is scaled

    def get_lr(self):
        if self.last_epoch and not hasattr(self, "last_lrs"):  # goes on: it is there
            return [group["lr"] for group in self.optimizer.param_groups]
        return list(map(self.next_lr, self.optimizer.param_groups))

    def next_lr(self, group: dict) -> float:
        """Return the learning rate of one group, scaled from the one it has."""
        base_lr = group.setdefault("initial_lr", group["lr"])
        now, before = self.rate(base_lr, self.last_epoch), base_lr
        if self.last_epoch:
            before = self.rate(base_lr, self.last_epoch - 1)
        now, before = now - self.lowest, before - self.lowest
        if abs(before) <= 1e-12 * base_lr:  # up again, from the very ground
            return group["lr"] + now
        return self.lowest + (group["lr"] - self.lowest) * (now / before)

    def rate(self, base_lr: float, epoch: int) -> float:
        """Return what becomes of base_lr after so many steps."""
        return base_lr * self.factor(epoch)


class StepLR(Chained):
    """Multiplies the learning rate by gamma every step_size steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma=0.1, last_epoch=-1):
        above_zero(step_size=step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        """Return by what the first rate is multiplied after so many steps."""
        return self.gamma ** (epoch // self.step_size)


class LinearLR(Chained):
    """Warms up from start_factor to end_factor of the rate in total_iters steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        above_zero(start_factor=start_factor, total_iters=total_iters)
        for name, value in ("start", start_factor), ("end", end_factor):
            if not 0 <= value <= 1:
                raise ValueError(f"{name}_factor has to be from 0 to 1, not {value}")

        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        """Return by what the first rate is multiplied after so many steps."""
        done = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * done


class CosineAnnealingLR(Chained):
    """Lowers the learning rate to eta_min along half a cosine, in T_max steps.

    Source: I. Loshchilov, F. Hutter, "SGDR", 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min=0.0, last_epoch=-1):
        above_zero(T_max=T_max)
        self.T_max = T_max
        self.eta_min = self.lowest = eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base_lr, epoch):
        wave = (1 + math.cos(math.pi * epoch / self.T_max)) / 2
        return self.eta_min + (base_lr - self.eta_min) * wave
