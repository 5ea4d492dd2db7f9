"""Data in batches, fit(), and tensors in files."""
