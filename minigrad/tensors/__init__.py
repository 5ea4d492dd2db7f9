"""What is done with tensors: making them, their methods, and writing over them."""

from minigrad.tensors import methods  # whoever makes a tensor gets its methods
