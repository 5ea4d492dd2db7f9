"""Learning rate schedules, with the formulas of torch.optim.lr_scheduler."""

import math
from collections.abc import Callable

from minigrad.errors import expect
from minigrad.optim.optimizer import NUMBERS, Optimizer


class LRScheduler:
    """Sets each group's lr to rate(its first lr, number of steps).

    Each schedule has its formula in its method rate(base_lr, epoch).
    """

    def __init__(self, optimizer: Optimizer):
        expect(isinstance(optimizer, Optimizer), f"{optimizer} is not an Optimizer")
        self.optimizer, self.last_epoch = optimizer, -1
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.step()

    def step(self) -> None:
        """Set the next learning rate. Call it after optimizer.step()."""
        self.last_epoch += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(group["initial_lr"], self.last_epoch)

    def get_last_lr(self) -> list[float]:
        """Return the learning rate of each group, as it was last set."""
        return [group["lr"] for group in self.optimizer.param_groups]


class LambdaLR(LRScheduler):
    """Multiplies the first learning rate by lr_lambda(number of steps)."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float]):
        expect(callable(lr_lambda), "expected one function", lr_lambda, error=TypeError)
        self.factor = lr_lambda
        super().__init__(optimizer)

    def rate(self, base_lr, epoch):
        return base_lr * self.factor(epoch)


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rate to eta_min along half a cosine, in T_max steps.

    Source: I. Loshchilov, F. Hutter, "SGDR", 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0):
        fits = isinstance(T_max, NUMBERS) and T_max >= 1
        expect(fits, "T_max should be at least 1", T_max, error=ValueError)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base_lr, epoch):
        wave = (1 + math.cos(math.pi * epoch / self.T_max)) / 2
        return self.eta_min + (base_lr - self.eta_min) * wave
