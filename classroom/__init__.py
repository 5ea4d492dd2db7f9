"""What surrounds the course: build the notebooks, run them, check the answers."""
