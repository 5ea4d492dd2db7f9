"""What authors do: read chapters, build notebooks of them, test all of it."""
