"""The authors' tools: read chapters, build their notebooks, test everything."""
