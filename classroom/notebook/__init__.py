"""Read, name, merge and write notebooks."""
