"""minigrad.optim: Optimizers and learning rate schedules, as in torch.optim."""

from minigrad import errors
from minigrad.optim import lr_scheduler
from minigrad.optim.lr_scheduler import CosineAnnealingLR, LambdaLR
from minigrad.optim.optimizer import SGD, Adam, AdamW, Optimizer


def __getattr__(name):
    raise errors.no_attribute("minigrad.optim", name)
