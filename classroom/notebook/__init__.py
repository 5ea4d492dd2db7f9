"""Read, name, graft and write notebooks."""
