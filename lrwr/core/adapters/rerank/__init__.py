"""Rerankers, which score the top results of a search again: one local, and Cohere."""
