"""Keepers of the embedder port."""
