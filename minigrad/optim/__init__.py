"""minigrad.optim: what changes the parameters, and how fast, as torch.optim does."""

from minigrad.optim import lr_scheduler
from minigrad.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, StepLR
from minigrad.optim.optimizer import SGD, Adam, AdamW, Optimizer
