"""minigrad: torch.autograd, small enough to read in a weekend."""
