"""What NumPy lacks; nothing here knows of gradients."""
