"""minigrad.autograd: Gradients as values, and what can be computed with them."""

from minigrad import errors
from minigrad.autograd.checkpointing import Checkpoint, checkpoint
from minigrad.autograd.function import Function
from minigrad.autograd.functional import hessian, hvp, jacobian, jvp, vjp
from minigrad.autograd.gradient_checks import gradcheck, gradgradcheck
from minigrad.autograd.gradients import backward, grad
from minigrad.scalar.finite_differences import GradcheckError


def __getattr__(name):
    raise errors.no_attribute("minigrad.autograd", name)
