"""Single numbers that record where they came from; no NumPy is loaded here."""
