"""Keepers of the reranker port."""
