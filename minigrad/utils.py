"""minigrad.utils, and other places where PyTorch has what is elsewhere here."""

import sys

from minigrad import autograd, data

checkpoint = autograd.functional = autograd
sys.modules |= {  # so that `from minigrad.utils.data import DataLoader` finds them
    "minigrad.utils.data": data,
    "minigrad.utils.checkpoint": autograd,
    "minigrad.autograd.functional": autograd,
}
