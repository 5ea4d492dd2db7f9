"""Functions on arrays that NumPy lacks, without gradients."""
