"""Keepers of the vector index port."""
