"""Pictures of graphs, and plots."""
