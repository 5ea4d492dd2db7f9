"""What is done with tensors: making them, their methods, and writing over them."""
