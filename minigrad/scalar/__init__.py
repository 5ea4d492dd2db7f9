"""Single numbers that record where they came from, without NumPy."""
